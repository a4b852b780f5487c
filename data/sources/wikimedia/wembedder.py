"""Which items of Wikidata (of June 2017) are most alike: Wembedder's embeddings of the graph (Nielsen 2017)."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.http.answer import misread
from swaymeter.data.sources.http.printable import shown

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

_ITEM = re.compile(r"Q[1-9][0-9]*")
_MOST = 1.001  # the largest cosine, as rounded numbers give it


@dataclass(frozen=True, slots=True)
class Similar:
    """An item, and the cosine of its embedding with that of the requested item."""

    item_id: WikidataId
    similarity: float


class Wembedder:
    """The Wembedder service."""

    def __init__(self, session: "Session") -> None:
        self.session = session

    def most_similar(self, item_id: WikidataId) -> tuple[Similar, ...] | None:
        """The other items that are most like an item, most similar first; None where the service does not know it."""
        path = f"most-similar/{item_id}"
        answer = self.session.ask({}, path=path, allow=(200, 404), error_of=misread(_similar))
        similar = _similar(answer.content)
        if similar is None:
            return None
        return tuple(sorted((item for item in similar if item.item_id != item_id), key=lambda item: -item.similarity))


def _similar(content: Any) -> list[Similar] | None:
    """The items in the order of the answer; None for an unknown item."""
    if "most_similar" not in content and str(content["message"]).startswith("Not found"):
        return None
    listed = [(entry["item"], entry["similarity"]) for entry in content["most_similar"]]
    for name, similarity in listed:
        if not isinstance(name, str) or type(similarity) not in (int, float) or abs(similarity) > _MOST:
            raise ValueError(f"an invalid similar item, {shown([name, similarity])}")
    return [Similar(WikidataId(name), float(similarity)) for name, similarity in listed if _ITEM.fullmatch(name)]
