"""The project's own clients, asking a world as fast as it answers, and what else its facts need to become questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import RelationName, Triple, WikidataId
from swaymeter.data.sources.http.session import Session
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from swaymeter.tasks.contexts.wikidata.questions import Clients
from tests.data.sources.servers.wiki_world import OUTCOME
from tests.data.sources.sessions import asking

MONTHS = ("2025-01", "2025-12")
"""A year; the views of the world's pages are the same in every one."""


@contextmanager
def asking_world(addresses: Mapping[str, str], folder: Path) -> Iterator[Clients]:
    """Clients of all services, which try twice; the folder is for kept answers."""
    with ExitStack() as stack:

        def session(service: str) -> Session:
            return stack.enter_context(asking(addresses[service], folder / service))

        yield Clients(
            Wikidata(Wiki(session("wikidata_api"))),
            Wikipedia(Wiki(session("wikipedia"))),
            PageViews(session("pageviews")),
            Wembedder(session("wembedder")),
        )


def seeds_of(property_id: str) -> list[Triple]:
    """The facts of a property that `OUTCOME` has, with their ids alone."""
    return [
        Triple(
            relation=RelationName("some"),
            subject_id=WikidataId(subject_id),
            property_id=WikidataId(listed),
            object_id=WikidataId(object_id),
            source="a list",
            licence="none",
        )
        for subject_id, listed, object_id in OUTCOME
        if listed == property_id
    ]


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Shares of letters, in place of a model: texts are alike where their letters are."""
    counts = np.array(
        [[1 + text.casefold().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    )
    return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)
