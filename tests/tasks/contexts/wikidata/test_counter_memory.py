from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

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
from tests.data.sources.servers.wiki_world.server import serving_world
from tests.data.sources.servers.wiki_world.world import World
from tests.tasks.contexts.wikidata.live import clients, embedder, never

PAINTER, ARTIST, HUMAN, TRADE, TOWN = map(WikidataId, ("Q10", "Q11", "Q5", "Q6", "Q7"))
OCCUPATION = WikidataId("P106")


def known_item(
    item_id: str, label: str | None, *aliases: str, kinds: Iterable[str] = (TRADE,), **changes: Any
) -> KnownItem:
    ids = frozenset(map(WikidataId, kinds))
    fields: dict[str, Any] = {
        "description": None,
        "wikipedia": None,
        "kinds": ids,
        "wider": ids,
        "values": (),
        "values_with_deprecated": (),
        "retrieved_at": datetime(2026, 1, 1, tzinfo=UTC),
        **changes,
    }
    return KnownItem(WikidataId(item_id), label, aliases, **fields)


ADA = known_item("Q1", "Ada Example", "A. Example", kinds=[HUMAN])
A_PAINTER = known_item(PAINTER, "painter", "portraitist")


def fact_of(
    answer: KnownItem, *, ids: Iterable[str] = (), names: Iterable[str] = (), implied: Iterable[str] = ()
) -> AnsweredFact:
    """Return a fact about Ada with this answer; `ids` and `names` are those of further right answers."""
    name_lists = (answer.names, *((name,) for name in names))
    right = frozenset(map(WikidataId, (answer.item_id, *ids)))
    return AnsweredFact(ADA, answer, right, name_lists, frozenset(map(WikidataId, implied)))


PRAGUE = known_item("Q50", "Prague", kinds=[TOWN])
BURMA = known_item("Q51", "Burma", "BUR", "Mm", kinds=[TOWN])
MYANMAR = WikidataId("Q52")
PAINTING = fact_of(A_PAINTER, ids=["Q21"], names=["chemist"], implied=[ARTIST])
"""A fact on Ada's occupations: she is a painter and a chemist, Q21."""
FILM_ACTOR = fact_of(known_item("Q30", "film actor"))
TOWNS = AnsweredFact(
    known_item("Q1", "Ada Example", values_with_deprecated=(PRAGUE.item_id, BURMA.item_id)),
    PRAGUE,
    frozenset((PRAGUE.item_id, BURMA.item_id)),
    (PRAGUE.names, BURMA.names),
    frozenset(),
)


@pytest.mark.parametrize(
    ("fact", "candidate", "fits"),
    [
        (PAINTING, known_item("Q20", "sculptor", kinds=[TRADE, HUMAN]), True),  # one common kind is enough
        (PAINTING, known_item("Q20", "sculptor", kinds=[]), False),
        (PAINTING, known_item("Q20", None), False),
        (PAINTING, A_PAINTER, False),
        (PAINTING, known_item("Q21", "druggist"), False),  # her other occupation, by its id
        (PAINTING, known_item("Q20", "Chemist of old"), False),  # her other occupation, more narrowly
        (PAINTING, known_item("Q20", "CHEMIST"), False),  # her other occupation, by its name
        (PAINTING, known_item("Q20", "alchemist", "chemist"), False),  # her other occupation, by an alias
        (PAINTING, known_item("Q20", "Portraitist"), False),
        (PAINTING, known_item("Q20", "portrait painter"), False),  # a portrait painter is a painter
        (PAINTING, known_item("Q20", "painters' guild"), True),
        (PAINTING, known_item("Q20", "sculptor", wider=frozenset([PAINTER])), False),  # every sculptor is a painter
        # Every sculptor has her other occupation.
        (PAINTING, known_item("Q20", "sculptor", wider=frozenset(["Q21"])), False),
        (PAINTING, known_item("Q20", "S"), False),
        (PAINTING, known_item("Q20", "painter (trade)"), False),
        (PAINTING, known_item(ARTIST, "artist"), False),  # every painter is an artist
        (PAINTING, known_item("Q1", "Ada the Younger"), False),
        (PAINTING, known_item("Q20", "ada  example"), False),
        (PAINTING, known_item("Q20", "Ada Example (sculptor)"), False),
        (FILM_ACTOR, known_item("Q31", "actor"), False),  # a word of the answer
        (FILM_ACTOR, known_item("Q32", "act"), True),
        (fact_of(A_PAINTER, names=["chemist of old"]), known_item("Q20", "Chemist"), False),
        (TOWNS, known_item(MYANMAR, "Myanmar", kinds=[TOWN]), True),  # nothing says that Burma and Myanmar are the same
        (TOWNS, known_item(MYANMAR, "Myanmar", kinds=[TOWN], wider=frozenset([BURMA.item_id])), False),
        (TOWNS, known_item(MYANMAR, "union of burma", kinds=[TOWN]), False),
        (TOWNS, known_item(MYANMAR, "Burmah", kinds=[TOWN]), True),
        (TOWNS, known_item("Q53", "Mm Island", kinds=[TOWN]), True),  # the code Mm is no name
        (TOWNS, known_item("Q53", "Greater Prague", kinds=[TOWN]), False),
    ],
)
def test_only_wrong_answers_may_replace_the_object(fact: AnsweredFact, candidate: KnownItem, fits: bool) -> None:
    assert may_replace_object(candidate, fact) is fits


@contextmanager
def items_of_world(tmp_path: Path, fill: Callable[[World], None]) -> Iterator[Items]:
    wiki = World()
    wiki.property(OCCUPATION, "occupation")
    fill(wiki)
    with serving_world(wiki) as served, clients(served.addresses, tmp_path) as services:
        yield Items(services.wikidata, OCCUPATION)


def small_world(wiki: World) -> None:
    wiki.item(TRADE, "trade")
    wiki.item(ARTIST, "artist", values={"P31": TRADE})
    wiki.item(PAINTER, "painter", values={"P31": TRADE, "P279": ARTIST})
    wiki.item("Q12", "Chemist", aliases=["Analyst"], values={"P31": TRADE})
    wiki.item("Q13", "baker", values={"P31": TRADE})
    wiki.wikidata.redirects["Q14"] = "Q13"
    wiki.item("Q15", "wheelwright", values={"P31": TRADE})
    wiki.item("Q16", "smith", values={"P31": TRADE})
    trades_by_statement = {"a": PAINTER, "b": "Q12 deprecated", "c": "Q14", "d": "?"}
    wiki.item("Q1", "Ada Example", values={OCCUPATION: trades_by_statement})


def learned_items(items: Items, *ids: str) -> list[KnownItem]:
    items.learn(map(WikidataId, ids))
    return [item for item_id in ids if (item := items.get(WikidataId(item_id)))]


def similar(*ids: str) -> list[SimilarItem]:
    return [SimilarItem(WikidataId(item_id), 0.9 - rank / 10) for rank, item_id in enumerate(ids)]


def test_all_values_of_the_item_are_right(tmp_path: Path) -> None:
    with items_of_world(tmp_path, small_world) as items:
        ada, painter = learned_items(items, "Q1", PAINTER)
        items.learn(ada.values_with_deprecated)
        fact = answered_fact(ada, painter, items, further_names=["Dauber"])
    assert fact.ids == {PAINTER, "Q12", "Q13", "Q14"}  # also a deprecated value, and a merged item by both ids
    assert fact.name_lists == (("painter", "Dauber"), ("Chemist", "Analyst"), ("baker",))
    assert fact.names == {"painter", "chemist", "analyst", "baker", "dauber"}
    assert fact.implied == {TRADE, ARTIST}


def test_most_similar_wrong_answer_is_chosen(tmp_path: Path) -> None:
    with items_of_world(tmp_path, small_world) as items:
        ada, painter = learned_items(items, "Q1", PAINTER)
        items.learn(ada.values_with_deprecated)
        fact = answered_fact(ada, painter, items)
        listed = similar("Q99", ARTIST, "Q12", "Q14", "Q13", "Q15", "Q16")
        items.learn(item.item_id for item in listed)
        assert wembedder_answer(listed, items, fact) == CounterMemory(WikidataId("Q15"), "wheelwright", WEMBEDDER, 0.4)
        assert wembedder_answer(listed[:5], items, fact) is None
        assert wembedder_answer([], items, fact) is None
        equals = [SimilarItem(WikidataId("Q16"), 0.5), SimilarItem(WikidataId("Q15"), 0.5)]
        for tied_items in (equals, equals[::-1]):  # the lower number decides
            chosen = wembedder_answer(tied_items, items, fact)
            assert chosen is not None
            assert chosen.item_id == "Q15"


def test_embeddings_choose_by_label_and_description() -> None:
    answer = known_item("Q41", "aa", description="tall tower by the sea", kinds=[TOWN])
    near = known_item("Q42", "bb", description="tall tower by the lake", kinds=[TOWN])
    far = known_item("Q43", "cc", description="small hut", kinds=[TOWN])
    nearest_of_other_kind = known_item("Q44", "dd", description="tall tower by the sea", kinds=[TRADE])
    chosen = embeddings_answer([far, nearest_of_other_kind, answer, near, near], fact_of(answer), embedder())
    assert chosen is not None
    assert (chosen.item_id, chosen.name, chosen.by) == ("Q42", "bb", EMBEDDINGS)
    assert chosen.quality == pytest.approx(4 / 6)  # of six words, "aa:" and "bb:" as well as sea and lake differ


def test_only_candidates_are_embedded() -> None:
    embed = Mock(side_effect=embedder())
    embeddings_answer([known_item("Q42", "bb")], fact_of(known_item("Q41", "aa", description="x")), embed)
    assert [text for call in embed.call_args_list for text in call.args[0]] == ["aa: x", "bb"]
    assert embeddings_answer([A_PAINTER, known_item("Q50", None)], fact_of(A_PAINTER), never) is None
    assert embeddings_answer([known_item("Q50", "town", kinds=[TOWN])], fact_of(A_PAINTER), embedder()) is None


def test_each_text_is_embedded_once() -> None:
    uncached = Mock(side_effect=embedder())
    embed = cached_embeddings(uncached)
    first = embed(["one two", "two"])
    second = embed(["two", "three", "one two", "two"])
    assert [text for call in uncached.call_args_list for text in call.args[0]] == ["one two", "two", "three"]
    assert second.shape == (4, first.shape[1])
    np.testing.assert_array_equal(second[[2, 0]], first)


def test_names_have_one_line(tmp_path: Path) -> None:
    def fill(wiki: World) -> None:
        wiki.item("Q1", " Two\nlines \u2028and\tmore\x00 ", aliases=["\n", "an\r\nalias"], description="a\nb")
        wiki.item("Q2", " \n ")
        wiki.item("Q3", "\u200b \u2060", aliases=["\u200e"])

    with items_of_world(tmp_path, fill) as items:
        first, second, invisible = learned_items(items, "Q1", "Q2", "Q3")
    assert (first.label, first.aliases, first.description) == ("Two lines and more", ("an alias",), "a b")
    assert (second.label, second.name, second.names) == (None, "Q2", ())
    assert (invisible.label, invisible.name, invisible.names) == (None, "Q3", ())
