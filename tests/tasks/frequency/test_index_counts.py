"""Counts in an index by the API, against a slow count."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from swaymeter.data.records import CountedPair, ShardCount
from swaymeter.data.sources.infini_gram import InfiniGramApi
from swaymeter.tasks.frequency.infini_gram import IndexCounts
from tests.data.sources.pieces import Pieces
from tests.data.sources.sessions import asking
from tests.tasks.frequency.slow_counts import slow_counts

WINDOW, FETCH = 5, 60
PAIRS = [
    CountedPair("New York City", "Hudson River", ("New York City", "New York", "York City Hall"), ("Hudson River",)),
    CountedPair("New York", "Hudson", ("New York",), ("Hudson", "King")),
    CountedPair("Zürich", "It", ("Zürich", "Zurich"), ("It",)),
    CountedPair("It", "Zürich", ("It",), ("Zürich",)),
    CountedPair("It", "word", ("It",), ("word",)),
    CountedPair("King", "King of It", ("King",), ("King of It",)),
    CountedPair("DO OR DIE", "King", ("DO OR DIE",), ("King",)),
    CountedPair("Nowhere", "King", ("Nowhere",), ("King",)),
    CountedPair("It", "Nowhere", ("It",), ("Nowhere",)),
    CountedPair("!!!", "King", ("!!!",), ("King",)),
]
RARE = [
    "New York",
    "New York City",
    "York City Hall",
    "Hudson River",
    "Hudson",
    "Zürich",
    "Zurich",
    "King",
    "King of It",
    "DO OR DIE",
]
COMMON = ["word", "It", "another", "word.", "word,"]


def made_up() -> list[str]:
    """Documents within a passage, a little longer and much longer; rare names often stand near each other."""
    drawn = random.Random(0)
    texts = []
    for length in [3, 3, 20, 60, 150, 150, 150, 800, 800]:
        words = ["x"]
        while len(words) < length:
            rare = drawn.random() < 20 / max(length, 200)
            words += [drawn.choice(RARE if rare else COMMON) for _ in range(2)]
        texts.append(" ".join(words))
    edges = ["x Zürich " + "word " * 4 + "It It", "x It" + " word" * 5 + " Zürich", "x it it kit"]
    return [*texts, "New York", "Hudson River x\nKing (New York City)\n\nHudson", *edges]


DOCUMENTS = made_up()
Opened = Callable[[bool], InfiniGramApi]


@cache
def slowly() -> list[tuple[int, int, int, int]]:
    return [slow_counts(DOCUMENTS, pair, WINDOW) for pair in PAIRS]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    folder, pieces = tmp_path_factory.mktemp("index"), Pieces(DOCUMENTS, parts=2)
    with ExitStack() as stack:

        def api(says_where: bool) -> InfiniGramApi:
            server = stack.enter_context(pieces.served(says_where=says_where))
            session = stack.enter_context(asking(server.address, folder / str(says_where)))
            return InfiniGramApi(session, "pieces", pieces)

        yield api


@pytest.mark.parametrize("says_where", [True, False])
def test_ten_counts_are_those_word_by_word(says_where: bool, opened: Opened) -> None:
    index = opened(says_where)
    rows = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS)
    slow = slowly()
    in_words = [row.entity_counted == "words" for row in rows]
    assert in_words == [pair.entity != "It" for pair in PAIRS]
    assert [row.pair_counted for row in rows].count("approximate") == 1
    for row, (entities, capitals, small, pairs) in zip(rows, slow, strict=True):
        if row.pair_counted == "words":
            assert row.pair_count == pairs, row
        if row.entity_counted == "words":
            assert row.entity_count == entities, row
        else:
            assert (row.entity_count, row.capitals_count, row.lower_case_count) == (entities, capitals, small), row
            assert small == 2
    assert sum(row.pair_count > 0 for row in rows if row.pair_counted == "words") == 5


def frequent(rows: list[ShardCount]) -> list[tuple[str, str]]:
    return [(row.entity_counted, row.pair_counted) for row in rows]


def test_what_is_not_read_is_approximate(opened: Opened) -> None:
    index = opened(True)
    assert set(frequent(IndexCounts(index, WINDOW, 0).count_pairs(PAIRS[:2]))) == {("tokens", "approximate")}
    index.can_decode = False
    (row,) = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[:1])
    assert (row.entity_counted, row.pair_counted) == ("tokens", "approximate")
    assert 0 < row.pair_count <= row.entity_count
    (none,) = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[-1:])
    assert (none.entity_count, none.pair_count, none.entity_counted) == (0, 0, "tokens")


def test_other_places_than_counted_are_not_read(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(True)
    occurrences = index.occurrences
    monkeypatch.setattr(index, "occurrences", lambda ids: occurrences(ids)[1:])
    assert frequent(IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[:1])) == [("tokens", "approximate")]


def test_passage_that_is_too_short_is_not_trusted(opened: Opened) -> None:
    index = opened(True)
    index.max_passage_tokens = 20
    assert ("tokens", "approximate") in frequent(IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[1:2]))
