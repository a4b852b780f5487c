"""Counts by the API of an index, compared with counts word by word."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from swaymeter.data.records import CountedPair, ShardCount
from swaymeter.data.sources.infini_gram import InfiniGramApi
from swaymeter.tasks.frequency.infini_gram import IndexCounts
from tests.data.sources.sessions import session_at
from tests.data.sources.word_index import WordIndex
from tests.tasks.frequency.slow_counts import slow_counts

WINDOW = 5
"""The largest distance of an answer from its entity, in words."""
FETCH = 60
"""The largest number of occurrences of a rare name; DOCUMENTS have more occurrences of "It" and "word"."""
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


def random_documents() -> list[str]:
    """Return documents shorter than a passage, a little longer, and much longer. Rare names often occur in pairs."""
    rng = random.Random(0)
    texts = []
    for length in [3, 3, 20, 60, 150, 150, 150, 800, 800]:
        words = ["x"]
        while len(words) < length:
            is_rare = rng.random() < 20 / max(length, 200)  # about 20 rare names in a long document
            words += [rng.choice(RARE if is_rare else COMMON) for _ in range(2)]
        texts.append(" ".join(words))
    window_edges = ["x Zürich " + "word " * 4 + "It It", "x It" + " word" * 5 + " Zürich"]
    return [*texts, "New York", "Hudson River x\nKing (New York City)\n\nHudson", *window_edges, "x it it kit"]


DOCUMENTS = random_documents()
OpenIndex = Callable[..., InfiniGramApi]


@cache
def slow_rows() -> list[tuple[int, int, int, int]]:
    return [slow_counts(DOCUMENTS, pair, WINDOW) for pair in PAIRS]


@pytest.fixture(scope="module")
def open_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    """Return a function that opens the index; `has_offset` as in `WordIndex.served`."""
    folder, index = tmp_path_factory.mktemp("index"), WordIndex(DOCUMENTS, parts=2)
    with ExitStack() as stack:

        def api(has_offset: bool) -> InfiniGramApi:
            server = stack.enter_context(index.served(has_offset=has_offset))
            session = stack.enter_context(session_at(server.address, folder / str(has_offset)))
            return InfiniGramApi(session, "pieces", index)

        yield api


@pytest.mark.parametrize("has_offset", [True, False])
def test_index_counts_equal_counts_word_by_word(has_offset: bool, open_index: OpenIndex) -> None:
    index = open_index(has_offset=has_offset)
    rows = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS)
    in_words = [row.entity_counted == "words" for row in rows]
    assert in_words == [pair.entity != "It" for pair in PAIRS]
    # Only the pair of "It" and "word" has no rare name.
    assert [row.pair_counted for row in rows].count("approximate") == 1
    for row, (entities, capitals, lower_case, pairs) in zip(rows, slow_rows(), strict=True):
        if row.pair_counted == "words":
            assert row.pair_count == pairs, row
        if row.entity_counted == "words":
            assert row.entity_count == entities, row
        else:
            assert (row.entity_count, row.capitals_count, row.lower_case_count) == (entities, capitals, lower_case), row
            assert lower_case == 2  # "it" stands only in the last document
    assert sum(row.pair_count > 0 for row in rows if row.pair_counted == "words") == 5


def counting_methods(rows: list[ShardCount]) -> list[tuple[str, str]]:
    return [(row.entity_counted, row.pair_counted) for row in rows]


def test_unread_occurrences_give_approximate_counts(open_index: OpenIndex) -> None:
    index = open_index(has_offset=True)
    assert set(counting_methods(IndexCounts(index, WINDOW, 0).count_pairs(PAIRS[:2]))) == {("tokens", "approximate")}
    index.can_decode = False
    (row,) = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[:1])
    assert (row.entity_counted, row.pair_counted) == ("tokens", "approximate")
    assert 0 < row.pair_count <= row.entity_count
    (absent,) = IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[-1:])
    assert (absent.entity_count, absent.pair_count, absent.entity_counted) == (0, 0, "tokens")


def test_occurrences_that_contradict_count_are_not_read(open_index: OpenIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    index = open_index(has_offset=True)
    occurrences = index.occurrences
    monkeypatch.setattr(index, "occurrences", lambda ids: occurrences(ids)[1:])
    assert counting_methods(IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[:1])) == [("tokens", "approximate")]


def test_too_short_passage_is_not_trusted(open_index: OpenIndex) -> None:
    index = open_index(has_offset=True)
    index.max_passage_tokens = 20
    assert ("tokens", "approximate") in counting_methods(IndexCounts(index, WINDOW, FETCH).count_pairs(PAIRS[1:2]))
