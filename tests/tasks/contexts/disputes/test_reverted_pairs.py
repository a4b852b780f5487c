import pytest

from swaymeter.data import reasons
from swaymeter.data.sources.wikimedia.mediawiki_answers import Revision
from swaymeter.tasks.contexts.disputes.of_page import reverted_pairs, why_not_counted


def _revision(number: int, text: str, user: str | None = "Alice", *, registered: bool = True) -> Revision:
    """A revision whose letter is what it says; "?" is hidden."""
    hidden = text == "?"
    sha1 = None if hidden else text
    return Revision(number, number - 1, "2026-01-01T00:00:00Z", user, registered, sha1, 1, "", (), hidden, hidden)


@pytest.mark.parametrize(
    ("texts", "edits"),
    [
        ("", []),
        ("ABC", []),
        ("ABA", [(2, 3)]),
        ("ABAB", [(2, 3), (3, 4)]),
        ("ABABA", [(2, 3), (3, 4), (4, 5)]),
        ("ABCA", []),  # two edits undone at once are no pair of consecutive edits
        ("ABACA", [(2, 3), (4, 5)]),
        ("AABBA", [(3, 5)]),  # 2 and 4 change nothing
        ("AAA", []),
        ("A?A", [(2, 3)]),
        ("AB?A", []),
        ("A??A", []),
        ("?B?", []),
    ],
)
def test_pairs_are_an_edit_and_the_next_that_undoes_it(texts: str, edits: list[tuple[int, int]]) -> None:
    revisions = [_revision(number, text) for number, text in enumerate(texts, 1)]
    assert [pair.edits for pair in reverted_pairs(revisions)] == edits


@pytest.mark.parametrize(
    ("edited", "restored", "reason"),
    [
        (("B", "Bob", True), ("A", "Alice", True), None),
        (("B", "192.0.2.1", False), ("A", "Alice", True), reasons.ANONYMOUS_EDITOR),
        (("B", "Bob", True), ("A", "192.0.2.1", False), reasons.ANONYMOUS_EDITOR),
        (("B", "~2025-1234-56", False), ("A", "Alice", True), reasons.TEMPORARY_EDITOR),
        (("B", None, False), ("A", "Alice", True), reasons.HIDDEN_EDITOR),
        (("B", "Bob", True), ("A", None, False), reasons.HIDDEN_EDITOR),
        (("?", "Bob", True), ("A", "Alice", True), reasons.HIDDEN_CONTENT),
    ],
)
def test_a_pair_counts_when_both_editors_sign(
    edited: tuple[str, str | None, bool], restored: tuple[str, str | None, bool], reason: str | None
) -> None:
    revisions = [_revision(1, "A", "192.0.2.1", registered=False)]
    revisions += [
        _revision(number, text, user, registered=known)
        for number, (text, user, known) in enumerate((edited, restored), 2)
    ]
    [pair] = reverted_pairs(revisions)
    assert why_not_counted(pair) == reason
