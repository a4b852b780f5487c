"""The services of the small invented world, each asked through a session of its own, and a stand-in for an embedder."""

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
from tests.data.sources.sessions import asking

MONTHS = ("2025-01", "2025-12")


@contextmanager
def clients(addresses: Mapping[str, str], cache: Path, *, wembedder: bool = True) -> Iterator[Clients]:
    with ExitStack() as stack:

        def session(name: str) -> Session:
            return stack.enter_context(asking(addresses[name], cache, name=name))

        yield Clients(
            Wikidata(Wiki(session("wikidata_api"))),
            Wikipedia(Wiki(session("wikipedia"))),
            PageViews(session("pageviews")),
            Wembedder(session("wembedder")) if wembedder else None,
        )


def by_words(*, asked: list[str] | None = None) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Embeds texts by the words they have: the more they share, the more alike they are. asked: grows by every text."""
    places: dict[str, int] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if asked is not None:
            asked.extend(texts)
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.casefold().split():
                vectors[row, places.setdefault(word, len(places))] += 1
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    return embed


def by_letters(texts: Sequence[str]) -> NDArray[np.float64]:
    """Embeds texts by how often each letter occurs, in any case: words of the same letters say the same."""
    rows = np.zeros((len(texts), 89))  # a letter's code is taken modulo this; those of one alphabet stay apart
    for row, text in zip(rows, texts, strict=True):
        for letter in text.casefold():
            row[ord(letter) % 89] += 1
    found: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def never(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"an embedding was asked for: {texts}")


def seed(subject: str, property_id: str, answer: str, **other: object) -> Triple:
    known = {"P106": "occupation", "P19": "birthPlace", "P57": "director"}
    named: dict[str, object] = {"source": "a list", "licence": "CC0 1.0", **other}
    ids = map(WikidataId, (subject, property_id, answer))
    return Triple(RelationName(known.get(property_id, property_id)), *ids, **named)  # type: ignore[arg-type]


def small_world() -> World:
    """Ada, whose trade is painter, one page, and a trade that is like hers."""
    made = World()
    made.property("P106", "occupation")
    made.property("P4000", "has a liking for")
    for trade, name in (("Q10", "painter"), ("Q11", "chemist")):
        made.item(trade, name, description="trade", claims=[("P31", "Q6")])
    made.item("Q1", "Ada Example", article="Ada Example", claims=[("P106", "Q10"), ("P4000", "Q10")])
    made.article("Ada Example", "Ada Example was a painter. She was old.", item_id="Q1", views=7)
    made.similar_items["Q10"] = ("Q11",)
    return made


Building = Callable[..., BuiltQuestions]


def building(folder: Path) -> Building:
    """Makes the questions of some seeds in a world; folder: where answers are kept."""

    def build(made: World, *seeds: Triple, wembedder: bool = True, **other: Any) -> BuiltQuestions:
        with serving_world(made) as (addresses, _), clients(addresses, folder, wembedder=wembedder) as services:
            return questions_of_property(seeds, services, **{"months": MONTHS, "embed": never, **other})

    return build
