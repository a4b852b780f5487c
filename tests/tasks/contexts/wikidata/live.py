"""Clients of the services of an invented world, each with its own session, and embedders for tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import RelationName, Triple, WikidataId
from swaymeter.data.sources.http.session import Session
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from swaymeter.tasks.contexts.wikidata.questions import Clients
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


def embedder(parts: Callable[[str], Iterable[str]] = str.split) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return an embedder that counts the words of a text, or other parts, without case: `list` returns the letters."""
    columns: dict[str, int] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for part in parts(text.casefold()):
                vectors[row, columns.setdefault(part, len(columns))] += 1
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    return embed


never = Mock(side_effect=AssertionError("the embedder was called"))
"""An embedder that must not be called."""


def triple(subject: str, property_id: str, answer: str, **changes: object) -> Triple:
    """Return a fact of a list; its relation is `occupation` for P106, and otherwise the property."""
    relation = RelationName("occupation" if property_id == "P106" else property_id)
    ids = WikidataId(subject), WikidataId(property_id), WikidataId(answer)
    return replace(Triple(relation, *ids, source="a list", licence="CC0 1.0"), **changes)  # type: ignore[arg-type]
