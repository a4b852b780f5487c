"""Edits that the next edit reverted: revisions T0, T1, … of a page, compared by the SHA-1 of their content.

An edit and the edit after it are a reverted pair when the text before the first equals the text after the second. An
edit war A B A B A is three pairs: each edit but the first reverts the one before it. A revision with the content of the
one before it (the page was moved or protected) is not an edit and splits no pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from data import reasons
from data.sources.wikimedia.mediawiki import Revision


@dataclass(frozen=True, slots=True)
class RevertedPair:
    """The revisions before an edit, after it, and after the edit that reverted it."""

    before: Revision
    edited: Revision
    restored: Revision

    @property
    def edits(self) -> tuple[int, int]:
        """The ids of the two edits."""
        return self.edited.revision_id, self.restored.revision_id

    @property
    def texts(self) -> frozenset[str | None]:
        """The SHA-1 of its two texts."""
        return frozenset({self.edited.sha1, self.restored.sha1})


def reverted_pairs(revisions: Sequence[Revision]) -> list[RevertedPair]:
    """The reverted pairs of a page, oldest first, from its revisions, oldest first.

    A pair whose edited text is hidden is among them; where the text before or after is hidden, no pair is detected.
    """
    edits = [*revisions[:1]]
    edits += [later for earlier, later in pairwise(revisions) if later.sha1 is None or later.sha1 != earlier.sha1]
    return [
        RevertedPair(before, edited, restored)
        for before, edited, restored in zip(edits, edits[1:], edits[2:], strict=False)
        if before.sha1 is not None and before.sha1 == restored.sha1
    ]


def why_not_counted(pair: RevertedPair) -> str | None:
    """The reason why a pair is not evidence of a dispute between registered editors; None where it is."""
    if pair.edited.sha1 is None or any(
        revision.content_hidden for revision in (pair.before, pair.edited, pair.restored)
    ):
        return reasons.HIDDEN_CONTENT
    for edit in (pair.edited, pair.restored):
        if edit.user is None:
            return reasons.HIDDEN_EDITOR
        if not edit.registered:
            return reasons.TEMPORARY_EDITOR if edit.user.startswith("~") else reasons.ANONYMOUS_EDITOR
    return None
