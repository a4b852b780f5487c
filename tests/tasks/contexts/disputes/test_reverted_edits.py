"""Disputes on pages of the small world, counted by hand, and on pages with short histories."""

from collections import Counter
from collections.abc import Sequence
from itertools import cycle
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
from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.servers.wiki_world.pages import hide
from tests.data.sources.servers.wiki_world.server import serving_world
from tests.data.sources.servers.wiki_world.world import UNCOUNTED, WARS, World, world
from tests.tasks.contexts.wikidata.live import MONTHS, clients, embedder, never

PAGE = "Velm"
embed_letters = embedder(list)
A, B, C = (
    f"'''Velm''' is a town.\n\nIts founder, Ada Kelm, was a {role} of the people there."
    for role in ("friend", "foe", "king")
)


def _disputes_of(wiki: World, title: str, folder: Path, **changes: object) -> PageDisputes:
    with serving_world(wiki) as served, clients(served.addresses, folder) as services:
        options = {"embed": embed_letters, "pageviews": services.pageviews, "months": MONTHS, **changes}
        return disputes_of_page(title, services.wikipedia, **options)  # type: ignore[arg-type]


def _edited_in_turn(*texts: str) -> World:
    """Return a world with one page, whose texts two users save in turn."""
    wiki = World()
    for text, user in zip(texts, cycle(("Alice Editor", "Bob Reverter")), strict=False):
        wiki.wikipedia.save(PAGE, text, user=user)
    return wiki


def _pairs_by_reason(rejected: Sequence[Rejected]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rejected:
        counts[row.reason] += len(row.revisions) // 2  # two revisions for each pair
    return dict(counts)


@pytest.mark.parametrize("title", list(WARS))
def test_disputes_of_the_small_world_are_counted(title: str, tmp_path: Path) -> None:
    wiki = world()
    revision_ids = [revision["revid"] for revision in wiki.wikipedia.pages[title].revisions]
    page = _disputes_of(wiki, title, tmp_path)
    assert [
        (
            dispute.object,
            dispute.replacement,
            dispute.context,
            dispute.reversions,
            dispute.edit_revisions,
            dispute.subject_popularity,
        )
        for dispute in page.disputes
    ] == [
        (
            war.object,
            war.replacement,
            war.sentence,
            len(war.pairs),
            tuple(revision_ids[number - 1] for pair in war.pairs for number in pair),
            war.views,
        )
        for war in WARS[title]
    ]
    assert _pairs_by_reason(page.rejected) == UNCOUNTED[title]
    assert all(dispute.page == title for dispute in page.disputes)


@pytest.mark.parametrize(
    ("texts", "disputes"),
    [
        ([A, B, C], []),
        ([A, B, A], [("friend", "foe", 1)]),
        ([B, A, B], [("foe", "friend", 1)]),
        ([A, B, A, C, A, C], [("friend", "foe", 1), ("king", "friend", 2)]),  # B A C is no reversion
    ],
)
def test_object_is_the_span_restored_last(
    texts: list[str], disputes: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    page = _disputes_of(_edited_in_turn(*texts), PAGE, tmp_path, pageviews=None)
    assert [(dispute.object, dispute.replacement, dispute.reversions) for dispute in page.disputes] == disputes
    assert all(dispute.subject_popularity is None for dispute in page.disputes)
    assert page.rejected == []


def test_similar_spans_are_rejected_at_the_threshold(tmp_path: Path) -> None:
    wiki = _edited_in_turn(*(A.replace("friend", f"{grey} friend") for grey in ("grey", "gray", "grey")))
    strict = _disputes_of(wiki, PAGE, tmp_path / "1", max_similarity=0.5)
    [rejected] = strict.rejected
    assert (rejected.reason, rejected.object, rejected.replacement) == (reasons.TOO_SIMILAR, "grey", "gray")
    [dispute] = _disputes_of(wiki, PAGE, tmp_path / "2").disputes
    assert dispute.similarity == pytest.approx(3 / 4)  # three of four letters are shared
    assert rejected.detail == "similarity 0.7500"
    accepted = _disputes_of(wiki, PAGE, tmp_path / "3", max_similarity=dispute.similarity)
    assert len(accepted.disputes) == 1  # a similarity at the threshold is accepted


def test_spans_that_differ_in_capitals_are_rejected(tmp_path: Path) -> None:
    def orthogonal(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.eye(len(texts))

    page = _disputes_of(_edited_in_turn(A, A.replace("friend", "Friend"), A), PAGE, tmp_path, embed=orthogonal)
    assert _pairs_by_reason(page.rejected) == {reasons.TOO_SIMILAR: 1}


def test_many_texts_are_read_in_batches(tmp_path: Path) -> None:
    texts = [text for number in range(25) for text in (A, A.replace("friend", f"friend{number}"))]
    with (
        serving_world(_edited_in_turn(*texts, A), limit=500) as served,
        clients(served.addresses, tmp_path) as services,
    ):
        page = disputes_of_page(PAGE, services.wikipedia, embed=embed_letters)
    batch_sizes = [len(request.form["revids"].split("|")) for request in served.received if "revids" in request.form]
    assert len(batch_sizes) == 3
    assert max(batch_sizes) <= 20
    # A A0 A A1 A …: each later A undoes the edit before it; A0 A A1 is no pair
    assert [dispute.reversions for dispute in page.disputes] == [1] * 25


def test_pages_without_counted_pairs_request_no_texts(tmp_path: Path) -> None:
    with serving_world(world()) as served, clients(served.addresses, tmp_path) as services:
        disputes_of_page("Quiet Matter", services.wikipedia, embed=never, pageviews=services.pageviews, months=MONTHS)
        assert len(served.received) == 1
    with (
        serving_world(_edited_in_turn(A, A + "x" * 1200, A)) as served,
        clients(served.addresses, tmp_path / "2") as services,
    ):
        page = disputes_of_page(PAGE, services.wikipedia, embed=never)
        assert not any("revids" in request.form for request in served.received)  # the edit adds too much to be a span
    assert _pairs_by_reason(page.rejected) == {reasons.SPAN_TOO_LONG: 1}


def test_hidden_content_is_no_evidence(tmp_path: Path) -> None:
    wiki = _edited_in_turn(A, B, A)

    def before(request: ServedRequest) -> ServedResponse | None:
        if "revids" in request.form:
            hide(wiki.wikipedia.pages[PAGE].revisions[1], ["content"])
        return None

    with serving_world(wiki, before=before) as served, clients(served.addresses, tmp_path / "1") as services:
        page = disputes_of_page(PAGE, services.wikipedia, embed=never)
    assert _pairs_by_reason(page.rejected) == {reasons.HIDDEN_CONTENT: 1}  # hidden between two requests
    wiki = _edited_in_turn(A, B, A, B, A)
    hide(wiki.wikipedia.pages[PAGE].revisions[2], ["user", "comment", "content"])
    page = _disputes_of(wiki, PAGE, tmp_path / "2")
    # A B ? B A: B ? B is a pair with hidden content; A B ? and ? B A are no pairs
    assert _pairs_by_reason(page.rejected) == {reasons.HIDDEN_CONTENT: 1}
    assert page.disputes == []


FRAME = "The @ mole of Velm, which some call #, was built by a ~ family from the west of the bay."
HOUSE = "She was in the ~ house "
"""Here and in FRAME, the disputed word stands at ~; other words of the sentence vary at @ and #."""


@pytest.mark.parametrize(
    ("texts", "disputes"),
    [
        # The sentence changes.
        (
            [
                FRAME.replace("@", "old").replace("#", "long"),
                FRAME.replace("@", "old").replace("#", "very long"),
                FRAME.replace("@", "grey").replace("#", "very long indeed"),
            ],
            [(FRAME.replace("@", "grey").replace("#", "very long indeed"), 3)],
        ),
        # The third text has more words of the second text than of the first.
        (
            [
                f"{HOUSE}one two three four five.",
                f"{HOUSE}four five six seven eight.",
                f"{HOUSE}three four five six seven.",
            ],
            [(f"{HOUSE}one two three four five.", 1), (f"{HOUSE}three four five six seven.", 2)],
        ),
    ],
)
def test_disputed_words_are_found_in_changed_sentences(
    texts: list[str], disputes: list[tuple[str, int]], tmp_path: Path
) -> None:
    turns = [text.replace("~", word) for text in texts for word in ("rich", "poor", "rich")]
    page = _disputes_of(_edited_in_turn(*turns), PAGE, tmp_path)
    assert [(dispute.context.replace("rich", "~"), dispute.reversions) for dispute in page.disputes] == disputes


def test_repeated_sentence_frame_gives_two_disputes(tmp_path: Path) -> None:
    polish = "In 1990 the city was Polish. In 1991 the city was Polish again."
    german = polish.replace("was Polish.", "was German.")
    german_again = polish.replace("Polish again", "German again")
    wiki = _edited_in_turn(polish, german, polish, german_again, polish, german_again, polish)
    disputes = _disputes_of(wiki, PAGE, tmp_path).disputes
    contexts = [("In 1990 the city was Polish.", 1), ("In 1991 the city was Polish again.", 3)]
    assert [(dispute.context, dispute.reversions) for dispute in disputes] == contexts


def test_two_positions_of_one_sentence_give_two_disputes(tmp_path: Path) -> None:
    text = "She was @ friend of most of them and in the end, as all say, # friend of none but the king."
    turns = [("a", "a"), ("the", "a"), ("a", "a"), ("a", "the"), ("a", "a")]
    texts = [text.replace("@", first).replace("#", second) for first, second in turns]
    disputes = _disputes_of(_edited_in_turn(*texts), PAGE, tmp_path).disputes
    assert [(dispute.object, dispute.replacement, dispute.reversions) for dispute in disputes] == [("a", "the", 1)] * 2
    assert [dispute.counter_memory_context() for dispute in disputes] == [
        text.replace("@", "the").replace("#", "a"),
        text.replace("@", "a").replace("#", "the"),
    ]


def _revision(number: int, text: str, user: str | None = "Alice") -> Revision:
    """Return a revision with a letter as its content; "?" is hidden content."""
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
        ("AABBA", [(3, 5)]),  # revisions 2 and 4 change nothing
        ("AAA", []),
        ("A?A", [(2, 3)]),
        ("AB?A", []),
        ("A??A", []),
        ("?B?", []),
    ],
)
def test_pair_is_an_edit_and_its_immediate_reversion(texts: str, edits: list[tuple[int, int]]) -> None:
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
def test_pair_counts_if_both_editors_are_registered(
    edited: tuple[str, str | None], restored: tuple[str, str | None], reason: str | None
) -> None:
    edits = enumerate((("A", "192.0.2.1"), edited, restored), 1)
    [pair] = reverted_pairs([_revision(number, *edit) for number, edit in edits])
    assert rejection_reason(pair) == reason
