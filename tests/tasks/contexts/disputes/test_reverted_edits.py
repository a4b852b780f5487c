"""Disputes of pages: those of the small world, counted by hand beside its edits; and of short histories."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from swaymeter.data import reasons
from swaymeter.data.records import Rejected
from swaymeter.data.sources.wikimedia.mediawiki import Revision
from swaymeter.tasks.contexts.disputes.reverted_edits import (
    PageDisputes,
    disputes_of_page,
    rejection_reason,
    reverted_pairs,
)
from tests.data.sources.servers.faults import Say, ServedRequest
from tests.data.sources.servers.wiki_world import WARS, Limits, World, serving_world, world
from tests.data.sources.servers.wiki_world.wars import ALICE, BOB, QUIET
from tests.tasks.contexts.wikidata.live import MONTHS, clients, never
from tests.tasks.contexts.wikidata.live import by_letters as embed

PAGE = "Velm"
WHOLE = Limits(revisions=500, contents=50)
A, B, C = (
    f"'''Velm''' is a town.\n\nIts founder, Ada Kelm, was a {who} of the people there."
    for who in ("friend", "foe", "king")
)


def _found(made: World, title: str, folder: Path, **other: object) -> PageDisputes:
    with serving_world(made) as served, clients(served.addresses, folder) as known:
        given = {"embed": embed, "pageviews": known.pageviews, "months": MONTHS, **other}
        return disputes_of_page(title, known.wikipedia, **given)  # type: ignore[arg-type]


def _history(*revisions: tuple[str, str]) -> World:
    """A world with one page: what it said, and who wrote that."""
    made = World()
    for text, user in revisions:
        made.wikipedia.save(PAGE, text, user=user)
    return made


def _turns(*texts: str, users: Sequence[str] = (ALICE, BOB)) -> World:
    return _history(*((text, users[number % len(users)]) for number, text in enumerate(texts)))


def _counts(rejected: Sequence[Rejected]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in rejected:
        counts[one.reason] += len(one.revisions) // 2
    return dict(counts)


@pytest.mark.parametrize("title", list(WARS))
def test_disputes_of_the_small_world_are_counted(title: str, tmp_path: Path) -> None:
    made = world()
    numbers = [revision.revision_id for revision in made.wikipedia.pages[title].revisions]
    found = _found(made, title, tmp_path)
    assert [
        (one.object, one.replacement, one.context, one.reversions, one.edit_revisions, one.subject_popularity)
        for one in found.disputes
    ] == [
        (
            war.object,
            war.replacement,
            war.sentence,
            len(war.pairs),
            tuple(numbers[place - 1] for pair in war.pairs for place in pair),
            war.views,
        )
        for war in WARS[title].wars
    ]
    assert _counts(found.rejected) == WARS[title].uncounted
    assert all(one.page == title for one in found.disputes)


@pytest.mark.parametrize(
    ("texts", "disputes"),
    [
        ([A, B, C], []),
        ([A, B, A], [("friend", "foe", 1)]),
        ([B, A, B], [("foe", "friend", 1)]),
        ([A, B, A, C, A, C], [("friend", "foe", 1), ("king", "friend", 2)]),  # B A C restored nothing
    ],
)
def test_the_object_is_the_span_restored_last(
    texts: list[str], disputes: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    found = _found(_turns(*texts), PAGE, tmp_path, pageviews=None)
    assert [(one.object, one.replacement, one.reversions) for one in found.disputes] == disputes
    assert all(one.subject_popularity is None for one in found.disputes)
    assert found.rejected == []


def test_similar_spans_are_rejected_at_the_threshold(tmp_path: Path) -> None:
    made = _turns(*(A.replace("friend", f"{grey} friend") for grey in ("grey", "gray", "grey")))
    alike = _found(made, PAGE, tmp_path / "1", max_similarity=0.5)
    [rejected] = alike.rejected
    assert (rejected.reason, rejected.object, rejected.replacement) == (reasons.TOO_SIMILAR, "grey", "gray")
    [dispute] = _found(made, PAGE, tmp_path / "2").disputes
    assert dispute.similarity == pytest.approx(3 / 4)  # of four letters each, three are shared
    assert rejected.detail == "similarity 0.7500"
    kept = _found(made, PAGE, tmp_path / "3", max_similarity=dispute.similarity)
    assert len(kept.disputes) == 1  # as alike as that is still kept


def test_spans_that_differ_in_capitals_are_rejected(tmp_path: Path) -> None:
    def apart(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.eye(len(texts))

    found = _found(_turns(A, A.replace("friend", "Friend"), A), PAGE, tmp_path, embed=apart)
    assert _counts(found.rejected) == {reasons.TOO_SIMILAR: 1}


def test_many_texts_are_read_in_batches(tmp_path: Path) -> None:
    texts = [text for number in range(25) for text in (A, A.replace("friend", f"friend{number}"))]
    with serving_world(_turns(*texts, A), limits=WHOLE) as served, clients(served.addresses, tmp_path) as known:
        found = disputes_of_page(PAGE, known.wikipedia, embed=embed)
    asked = [len(one.form["revids"].split("|")) for one in served.received if "revids" in one.form]
    assert len(asked) == 3
    assert max(asked) <= 20
    # A A0 A A1 A …: each A undoes the edit before it; A0 A A1 is no pair
    assert [one.reversions for one in found.disputes] == [1] * 25


def test_a_page_without_counted_pairs_costs_one_request(tmp_path: Path) -> None:
    with serving_world(world()) as served, clients(served.addresses, tmp_path) as known:
        disputes_of_page(QUIET, known.wikipedia, embed=never, pageviews=known.pageviews, months=MONTHS)
        assert len(served.received) == 1
    with serving_world(_turns(A, A + "x" * 1200, A)) as served, clients(served.addresses, tmp_path / "2") as known:
        found = disputes_of_page(PAGE, known.wikipedia, embed=never)
        assert not any("revids" in asked.form for asked in served.received)  # the edit adds too much to be a span
    assert _counts(found.rejected) == {reasons.SPAN_TOO_LONG: 1}


def test_hidden_content_is_no_evidence(tmp_path: Path) -> None:
    made = _turns(A, B, A)

    def hides(asked: ServedRequest) -> Say | None:
        if "revids" in asked.form:
            made.wikipedia.pages[PAGE].revisions[1].hidden = frozenset({"content"})
        return None

    with serving_world(made, before=hides) as served, clients(served.addresses, tmp_path / "1") as known:
        found = disputes_of_page(PAGE, known.wikipedia, embed=never)
    assert _counts(found.rejected) == {reasons.HIDDEN_CONTENT: 1}  # gone between two requests
    made = _turns(A, B, A, B, A)
    made.wikipedia.pages[PAGE].revisions[2].hidden = frozenset({"user", "comment", "content"})
    found = _found(made, PAGE, tmp_path / "2")
    # A B ? B A: of B ? B nobody knows what was between; A B ? and ? B A are no pairs that can be seen
    assert _counts(found.rejected) == {reasons.HIDDEN_CONTENT: 1}
    assert found.disputes == []


FRAME = "The @ mole of Velm, which some call #, was built by a ~ family from the west of the bay."
POLISH = "In 1990 the city was Polish. In 1991 the city was Polish again."
GERMAN, AGAIN = POLISH.replace("was Polish.", "was German."), POLISH.replace("Polish again", "German again")
HOUSE = "She was in the ~ house "


@pytest.mark.parametrize(
    ("texts", "disputes"),
    [
        (
            [
                FRAME.replace("@", "old").replace("#", "long"),
                FRAME.replace("@", "old").replace("#", "very long"),
                FRAME.replace("@", "grey").replace("#", "very long indeed"),
            ],
            [(FRAME.replace("@", "grey").replace("#", "very long indeed"), 3)],
        ),  # its sentence changes
        (
            [
                f"{HOUSE}one two three four five.",
                f"{HOUSE}four five six seven eight.",
                f"{HOUSE}three four five six seven.",
            ],
            [(f"{HOUSE}one two three four five.", 1), (f"{HOUSE}three four five six seven.", 2)],
        ),  # it is the nearer of two
    ],
)
def test_a_place_is_tracked_while_its_words_change(
    texts: list[str], disputes: list[tuple[str, int]], tmp_path: Path
) -> None:
    turns = [text.replace("~", word) for text in texts for word in ("rich", "poor", "rich")]
    found = _found(_turns(*turns), PAGE, tmp_path).disputes
    assert [(one.context.replace("rich", "~"), one.reversions) for one in found] == disputes


def test_one_frame_said_twice_is_two_disputes(tmp_path: Path) -> None:
    found = _found(_turns(POLISH, GERMAN, POLISH, AGAIN, POLISH, AGAIN, POLISH), PAGE, tmp_path).disputes
    contexts = [("In 1990 the city was Polish.", 1), ("In 1991 the city was Polish again.", 3)]
    assert [(one.context, one.reversions) for one in found] == contexts


def test_two_places_of_one_sentence_are_two_disputes(tmp_path: Path) -> None:
    text = "She was @ friend of most of them and in the end, as all say, # friend of none but the king."
    turns = [("a", "a"), ("the", "a"), ("a", "a"), ("a", "the"), ("a", "a")]
    texts = [text.replace("@", one).replace("#", other) for one, other in turns]
    found = _found(_turns(*texts), PAGE, tmp_path).disputes
    assert [(one.object, one.replacement, one.reversions) for one in found] == [("a", "the", 1)] * 2
    assert [one.counter_memory_context() for one in found] == [
        text.replace("@", "the").replace("#", "a"),
        text.replace("@", "a").replace("#", "the"),
    ]


def _revision(number: int, text: str, user: str | None = "Alice") -> Revision:
    """A revision whose letter is what it says; "?" is hidden."""
    hidden, registered = text == "?", user in ("Alice", "Bob")
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
def test_pairs_are_edit_and_next_that_undoes_it(texts: str, edits: list[tuple[int, int]]) -> None:
    revisions = [_revision(number, text) for number, text in enumerate(texts, 1)]
    assert [pair.edits for pair in reverted_pairs(revisions)] == edits


@pytest.mark.parametrize(
    ("edited", "restored", "reason"),
    [
        (("B", "Bob"), ("A", "Alice"), None),
        (("B", "192.0.2.1"), ("A", "Alice"), reasons.ANONYMOUS_EDITOR),
        (("B", "Bob"), ("A", "192.0.2.1"), reasons.ANONYMOUS_EDITOR),
        (("B", "~2025-1234-56"), ("A", "Alice"), reasons.TEMPORARY_EDITOR),
        (("B", None), ("A", "Alice"), reasons.HIDDEN_EDITOR),
        (("B", "Bob"), ("A", None), reasons.HIDDEN_EDITOR),
        (("?", "Bob"), ("A", "Alice"), reasons.HIDDEN_CONTENT),
    ],
)
def test_a_pair_counts_when_both_editors_sign(
    edited: tuple[str, str | None], restored: tuple[str, str | None], reason: str | None
) -> None:
    edits = enumerate((("A", "192.0.2.1"), edited, restored), 1)
    [pair] = reverted_pairs([_revision(number, *edit) for number, edit in edits])
    assert rejection_reason(pair) == reason
