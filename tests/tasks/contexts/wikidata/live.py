"""Clients of the services of an invented world, each with its own session, and embedders for tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import RelationName, Triple, WikidataId
from swaymeter.data.sources.http.session import Session
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import Clients, questions_of_property
from tests.data.sources.servers.wiki_world import World, serving_world
from tests.data.sources.sessions import session_at

MONTHS = ("2025-01", "2025-12")


@contextmanager
def clients(addresses: Mapping[str, str], cache: Path, *, wembedder: bool = True) -> Iterator[Clients]:
    with ExitStack() as stack:

        def session(name: str) -> Session:
            return stack.enter_context(session_at(addresses[name], cache, name=name))

        yield Clients(
            Wikidata(Wiki(session("wikidata_api"))),
            Wikipedia(Wiki(session("wikipedia"))),
            PageViews(session("pageviews")),
            Wembedder(session("wembedder")) if wembedder else None,
        )


def by_words(*, embedded: list[str] | None = None) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return an embedder that counts words. The list `embedded` gets every text of its calls."""
    columns: dict[str, int] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if embedded is not None:
            embedded.extend(texts)
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.casefold().split():
                vectors[row, columns.setdefault(word, len(columns))] += 1
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    return embed


def by_letters(texts: Sequence[str]) -> NDArray[np.float64]:
    """Embed texts by their counts of each letter, without case."""
    rows = np.zeros((len(texts), 89))  # the column of a letter is its code modulo 89
    for row, text in zip(rows, texts, strict=True):
        for letter in text.casefold():
            row[ord(letter) % 89] += 1
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def never(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"the embedder was called with {texts}")


def triple(subject: str, property_id: str, answer: str, **changes: object) -> Triple:
    relations = {"P106": "occupation", "P19": "birthPlace", "P57": "director"}
    fields: dict[str, object] = {"source": "a list", "licence": "CC0 1.0", **changes}
    ids = map(WikidataId, (subject, property_id, answer))
    return Triple(RelationName(relations.get(property_id, property_id)), *ids, **fields)  # type: ignore[arg-type]


def small_world() -> World:
    """Return a world with a painter, her page, and an occupation similar to hers."""
    wiki = World()
    wiki.property("P106", "occupation")
    wiki.property("P4000", "has a liking for")
    for trade, name in (("Q10", "painter"), ("Q11", "chemist")):
        wiki.item(trade, name, description="trade", values={"P31": "Q6"})
    wiki.item("Q1", "Ada Example", article="Ada Example", values={"P106": "Q10", "P4000": "Q10"})
    wiki.article("Ada Example", "Ada Example was a painter. She was old.", item_id="Q1", views=[7])
    wiki.similar_items["Q10"] = ("Q11",)
    return wiki


Building = Callable[..., BuiltQuestions]


def building(folder: Path) -> Building:
    """Return a function that builds the questions of triples in a world, and caches responses in a folder."""

    def build(wiki: World, *triples: Triple, wembedder: bool = True, **options: Any) -> BuiltQuestions:
        with serving_world(wiki) as (addresses, _), clients(addresses, folder, wembedder=wembedder) as services:
            return questions_of_property(triples, services, **{"months": MONTHS, "embed": never, **options})

    return build
