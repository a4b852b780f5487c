"""Which names are mostly not names: their counts say nothing of an entity.

    n      = occurrences in the corpus of the entity's names of one word, with their capitals or in small letters
    share  = of these, the ones in small letters
    these names are a common word where n > 50 and share > 0.75 (both are settings of a study)

Whether an occurrence is a name is told by its capitals, and by nothing else. A name of several words, or of a script
without capitals, is never a common word; one without capitals in a script that has them, such as apple, always where it
is frequent. An alias of one word that is a common word leaves its entity out, whatever its other names are, as its
occurrences count as the entity's: Who for The Who. So does one of a single letter, such as X for Twitter; a name of
punctuation alone is left out, too.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F, where a tagger labels 30,000
documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from swaymeter.tasks.frequency.words import words


@dataclass(frozen=True)
class CommonWords:
    """From which count, and from which share of small letters on, a name is a common word."""

    count: int
    share: float

    def excluded(self, names: Sequence[str], capitals: int, lower_case: int) -> str | None:
        """Why the counts of an entity say nothing of it; None where they do.

        Args:
            names: its name, and its aliases.
            capitals: occurrences of those of one word that have capitals.
            lower_case: occurrences of those of one word in small letters.
        """
        cleaned = [words(name.encode()).decode() for name in names]
        if not any(cleaned):
            return "a name without letters or digits"
        if any(len(one) == 1 for one in cleaned):
            return "a single letter or digit, signs removed"
        total = capitals + lower_case
        is_common = total > self.count and lower_case > self.share * total
        return "mostly written in small letters" if is_common else None
