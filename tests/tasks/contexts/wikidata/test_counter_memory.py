from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.wikidata import SimilarItem
from swaymeter.tasks.contexts.wikidata.counter_memory import (
    EMBEDDINGS,
    WEMBEDDER,
    AnsweredFact,
    CounterMemory,
    answered_fact,
    cached_embeddings,
    embeddings_answer,
    may_replace_object,
    wembedder_answer,
)
from swaymeter.tasks.contexts.wikidata.facts import Items, KnownItem
from tests.data.sources.servers.wiki_world import World, serving_world
from tests.tasks.contexts.wikidata.live import by_words, clients, never

PAINTER, ARTIST, HUMAN, TRADE, TOWN = map(WikidataId, ("Q10", "Q11", "Q5", "Q6", "Q7"))
OCCUPATION = WikidataId("P106")


def known(item_id: str, label: str | None, *aliases: str, kinds: Iterable[str] = (TRADE,), **other: Any) -> KnownItem:
    ids = frozenset(map(WikidataId, kinds))
    rest: dict[str, Any] = {
        "description": None,
        "wikipedia": None,
        "kinds": ids,
        "wider": ids,
        "values": (),
        "values_with_deprecated": (),
        "retrieved_at": datetime(2026, 1, 1, tzinfo=UTC),
        **other,
    }
    return KnownItem(WikidataId(item_id), label, aliases, **rest)


ADA = known("Q1", "Ada Example", "A. Example", kinds=[HUMAN])
A_PAINTER = known(PAINTER, "painter", "portraitist")


def of(
    answer: KnownItem, *, ids: Iterable[str] = (), names: Iterable[str] = (), implied: Iterable[str] = ()
) -> AnsweredFact:
    called = (answer.names, *((name,) for name in names))
    right = frozenset(map(WikidataId, (answer.item_id, *ids)))
    return AnsweredFact(ADA, answer, right, called, frozenset(map(WikidataId, implied)))


PRAGUE, BURMA, MYANMAR = (
    known("Q50", "Prague", kinds=[TOWN]),
    known("Q51", "Burma", "BUR", "Mm", kinds=[TOWN]),
    WikidataId("Q52"),
)
PAINTING = of(A_PAINTER, ids=["Q21"], names=["chemist"], implied=[ARTIST])
FILM_ACTOR = of(known("Q30", "film actor"))
TOWNS = AnsweredFact(
    known("Q1", "Ada Example", values_with_deprecated=(PRAGUE.item_id, BURMA.item_id)),
    PRAGUE,
    frozenset((PRAGUE.item_id, BURMA.item_id)),
    (PRAGUE.names, BURMA.names),
    frozenset(),
)


@pytest.mark.parametrize(
    ("fact", "candidate", "fits"),
    [
        (PAINTING, known("Q20", "sculptor", kinds=[TRADE, HUMAN]), True),  # one kind is enough
        (PAINTING, known("Q20", "sculptor", kinds=[]), False),
        (PAINTING, known("Q20", None), False),
        (PAINTING, A_PAINTER, False),
        (PAINTING, known("Q21", "druggist"), False),  # her other trade, by its id
        (PAINTING, known("Q20", "Chemist of old"), False),  # a chemist, too
        (PAINTING, known("Q20", "CHEMIST"), False),  # by its name
        (PAINTING, known("Q20", "alchemist", "chemist"), False),  # by an alias
        (PAINTING, known("Q20", "Portraitist"), False),
        (PAINTING, known("Q20", "portrait painter"), False),  # one who paints, too
        (PAINTING, known("Q20", "painters' guild"), True),
        (PAINTING, known("Q20", "sculptor", wider=frozenset([PAINTER])), False),  # every one of them is a painter
        (PAINTING, known("Q20", "sculptor", wider=frozenset(["Q21"])), False),  # or has her other trade
        (PAINTING, known("Q20", "S"), False),
        (PAINTING, known("Q20", "painter (trade)"), False),
        (PAINTING, known(ARTIST, "artist"), False),  # every painter is one
        (PAINTING, known("Q1", "Ada the Younger"), False),
        (PAINTING, known("Q20", "ada  example"), False),
        (PAINTING, known("Q20", "Ada Example (sculptor)"), False),
        (FILM_ACTOR, known("Q31", "actor"), False),  # a word of the answer
        (FILM_ACTOR, known("Q32", "act"), True),
        (of(A_PAINTER, names=["chemist of old"]), known("Q20", "Chemist"), False),
        (TOWNS, known(MYANMAR, "Myanmar", kinds=[TOWN]), True),  # as long as nothing says that they are the same
        (TOWNS, known(MYANMAR, "Myanmar", kinds=[TOWN], wider=frozenset([BURMA.item_id])), False),
        (TOWNS, known(MYANMAR, "union of burma", kinds=[TOWN]), False),
        (TOWNS, known(MYANMAR, "Burmah", kinds=[TOWN]), True),
        (TOWNS, known("Q53", "Mm Island", kinds=[TOWN]), True),  # a code is no name that another could contain
        (TOWNS, known("Q53", "Greater Prague", kinds=[TOWN]), False),
    ],
)
def test_what_may_stand_in_the_answers_place(fact: AnsweredFact, candidate: KnownItem, fits: bool) -> None:
    assert may_replace_object(candidate, fact) is fits


@contextmanager
def looking_up(tmp_path: Path, make: Callable[[World], None]) -> Iterator[Items]:
    made = World()
    made.property(OCCUPATION, "occupation")
    make(made)
    with serving_world(made) as served, clients(served.addresses, tmp_path) as asked:
        yield Items(asked.wikidata, OCCUPATION)


def small_world(made: World) -> None:
    made.item(TRADE, "trade")
    made.item(ARTIST, "artist", claims=[("P31", TRADE)])
    made.item(PAINTER, "painter", claims=[("P31", TRADE), ("P279", ARTIST)])
    made.item("Q12", "Chemist", aliases=["Analyst"], claims=[("P31", TRADE)])
    made.item("Q13", "baker", claims=[("P31", TRADE)])
    made.item("Q14", "old baker", claims=[("P31", TRADE)]).merges_into(made.items["Q13"])
    made.item("Q15", "wheelwright", claims=[("P31", TRADE)])
    made.item("Q16", "smith", claims=[("P31", TRADE)])
    ada = made.item("Q1", "Ada Example", claims=[(OCCUPATION, PAINTER), (OCCUPATION, "Q12"), (OCCUPATION, "Q14")])
    ada.adds(OCCUPATION, "somevalue")
    ada.ranks(OCCUPATION, "Q12", "deprecated")


def learnt(items: Items, *ids: str) -> list[KnownItem]:
    items.learn(map(WikidataId, ids))
    return [item for one in ids if (item := items.get(WikidataId(one)))]


def similar(*ids: str) -> list[SimilarItem]:
    return [SimilarItem(WikidataId(one), 0.9 - place / 10) for place, one in enumerate(ids)]


def test_everything_that_the_item_states_is_right(tmp_path: Path) -> None:
    with looking_up(tmp_path, small_world) as items:
        ada, painter = learnt(items, "Q1", PAINTER)
        items.learn(ada.values_with_deprecated)
        fact = answered_fact(ada, painter, items, answers=["Dauber"])
    assert fact.ids == {PAINTER, "Q12", "Q13", "Q14"}  # the deprecated, and the merged one by both its ids
    assert fact.name_lists == (("painter", "Dauber"), ("Chemist", "Analyst"), ("baker",))
    assert fact.names == {"painter", "chemist", "analyst", "baker", "dauber"}
    assert fact.implied == {TRADE, ARTIST}


def test_most_similar_that_is_not_right_is_chosen(tmp_path: Path) -> None:
    with looking_up(tmp_path, small_world) as items:
        ada, painter = learnt(items, "Q1", PAINTER)
        items.learn(ada.values_with_deprecated)
        fact = answered_fact(ada, painter, items)
        listed = similar("Q99", ARTIST, "Q12", "Q14", "Q13", "Q15", "Q16")
        items.learn(one.item_id for one in listed)
        assert wembedder_answer(listed, items, fact) == CounterMemory(WikidataId("Q15"), "wheelwright", WEMBEDDER, 0.4)
        assert wembedder_answer(listed[:5], items, fact) is None
        assert wembedder_answer([], items, fact) is None
        equals = [SimilarItem(WikidataId("Q16"), 0.5), SimilarItem(WikidataId("Q15"), 0.5)]
        for in_any_order in (equals, equals[::-1]):  # the lower number
            found = wembedder_answer(in_any_order, items, fact)
            assert found is not None
            assert found.item_id == "Q15"


def test_embeddings_choose_by_label_and_description() -> None:
    tall = known("Q41", "aa", description="tall tower by the sea", kinds=[TOWN])
    near = known("Q42", "bb", description="tall tower by the lake", kinds=[TOWN])
    far = known("Q43", "cc", description="small hut", kinds=[TOWN])
    nearest_of_other_kind = known("Q44", "dd", description="tall tower by the sea", kinds=[TRADE])
    found = embeddings_answer([far, nearest_of_other_kind, tall, near, near], of(tall), by_words())
    assert found is not None
    assert (found.item_id, found.name, found.by) == ("Q42", "bb", EMBEDDINGS)
    assert found.quality == pytest.approx(4 / 6)  # of six words, "aa:" and "bb:" as well as sea and lake differ


def test_only_candidates_are_embedded() -> None:
    asked: list[str] = []
    embeddings_answer([known("Q42", "bb")], of(known("Q41", "aa", description="x")), by_words(asked=asked))
    assert asked == ["aa: x", "bb"]
    assert embeddings_answer([A_PAINTER, known("Q50", None)], of(A_PAINTER), never) is None
    assert embeddings_answer([known("Q50", "town", kinds=[TOWN])], of(A_PAINTER), by_words()) is None


def test_each_text_is_embedded_once() -> None:
    asked: list[str] = []
    embed = cached_embeddings(by_words(asked=asked))
    first = embed(["one two", "two"])
    again = embed(["two", "three", "one two", "two"])
    assert asked == ["one two", "two", "three"]
    assert again.shape == (4, first.shape[1])
    np.testing.assert_array_equal(again[[2, 0]], first)


def test_names_are_on_one_line_each(tmp_path: Path) -> None:
    def hostile(made: World) -> None:
        made.item("Q1", " Two\nlines \u2028and\tmore\x00 ", aliases=["\n", "an\r\nalias"], description="a\nb")
        made.item("Q2", " \n ")
        made.item("Q3", "\u200b \u2060", aliases=["\u200e"])

    with looking_up(tmp_path, hostile) as items:
        first, second, unseen = learnt(items, "Q1", "Q2", "Q3")
    assert (first.label, first.aliases, first.description) == ("Two lines and more", ("an alias",), "a b")
    assert (second.label, second.name, second.names) == (None, "Q2", ())
    assert (unseen.label, unseen.name, unseen.names) == (None, "Q3", ())
