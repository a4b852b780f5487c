"""What a campaign found: a row for each kind of fault, printed after its part, and all of them as Markdown."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

LONGEST_SECONDS = 120.0
"""What takes longer counts as hung."""
NOT_HIT, NEVER_HIT = "not hit", "NEVER HIT"
"""What says nothing of a guarantee, and a row of which no try says anything."""


@dataclass(frozen=True)
class Outcome:
    """What came of one fault.

    row: the row of the table that counts it. verdict: in capitals where a guarantee is broken. seconds: how long the
    program took. detail: what to look at.
    """

    row: str
    verdict: str
    seconds: float = 0.0
    detail: str = ""


@dataclass
class Row:
    """The outcomes of one kind of fault."""

    verdicts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def cells(self) -> tuple[str, str, str]:
        """How many were tried, how often each verdict was given, and the longest time."""
        verdicts = ", ".join(f"{verdict} {count:,}" for verdict, count in sorted(self.outcomes.items()))
        return f"{self.verdicts.total():,}", verdicts, f"{self.seconds:.1f} s" if self.seconds >= 0.05 else "< 0.1 s"

    @property
    def outcomes(self) -> Counter[str]:
        """How often each verdict was given; a row whose fault met nobody in any try has seen nothing at all."""
        is_hit = set(self.verdicts) != {NOT_HIT}
        return self.verdicts if is_hit else Counter({NEVER_HIT: self.verdicts.total()})


class Record:
    """The rows of each part of a campaign."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Row]] = {}

    def add(self, part: str, outcomes: Iterable[Outcome]) -> None:
        """Counts outcomes; prints a broken guarantee at once, and the rows at the end, whatever ends it."""
        rows = self.parts[part] = defaultdict(Row)
        print(f"\n{part}", flush=True)
        try:
            for outcome in outcomes:
                verdict = "HUNG" if outcome.seconds > LONGEST_SECONDS else outcome.verdict
                row = rows[outcome.row]
                row.verdicts[verdict] += 1
                row.seconds = max(row.seconds, outcome.seconds)
                if verdict.isupper():
                    print(f"  {verdict}: {outcome.row}: {outcome.detail}", file=sys.stderr, flush=True)
        finally:
            for name, row in rows.items():
                tried, verdicts, seconds = row.cells()
                print(f"  {name:44} {tried:>7}  {verdicts:44} {seconds:>8}", flush=True)

    @property
    def broken(self) -> int:
        """How many faults broke a guarantee."""
        rows = (row for rows in self.parts.values() for row in rows.values())
        return sum(count for row in rows for verdict, count in row.outcomes.items() if verdict.isupper())

    def markdown(self) -> Iterator[str]:
        """The lines of the table of every part."""
        yield from ("| fault | tried | outcome | longest |", "| --- | ---: | --- | ---: |")
        for part, rows in self.parts.items():
            yield f"| **{part}** | **{sum(row.verdicts.total() for row in rows.values()):,}** | | |"
            yield from (f"| {name} | {' | '.join(row.cells())} |" for name, row in rows.items())
