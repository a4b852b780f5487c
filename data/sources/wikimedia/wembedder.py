"""Which items of Wikidata (of June 2017) are most alike: Wembedder's embeddings of the graph (Nielsen 2017)."""

import re
from dataclasses import dataclass
from typing import Any

from data.records import WikidataId
from data.sources.http.printable import shown
from data.sources.http.session import ServiceProblem, Session

_ITEM = re.compile(r"Q[1-9][0-9]*")
_MOST = 1.001  # the largest cosine, as rounded numbers give it


@dataclass(frozen=True, slots=True)
class Similar:
    """An item, and the cosine of its embedding with that of the requested item."""

    item_id: WikidataId
    similarity: float


class Wembedder:
    """The Wembedder service."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def most_similar(self, item_id: WikidataId) -> tuple[Similar, ...] | None:
        """The other items that are most like an item, most similar first; None where the service does not know it."""
        answer = self.session.ask({}, path=f"most-similar/{item_id}", allow=(200, 404), error_of=_problem)
        similar = _similar(answer.content)
        assert not isinstance(similar, str), similar
        if similar is None:
            return None
        return tuple(sorted((item for item in similar if item.item_id != item_id), key=lambda item: -item.similarity))


def _problem(content: Any) -> ServiceProblem | None:
    similar = _similar(content)
    return ServiceProblem(similar) if isinstance(similar, str) else None


def _similar(content: Any) -> list[Similar] | str | None:
    """The items in the order of the answer; None for an unknown item; or a message where the answer is invalid."""
    listed = content.get("most_similar") if isinstance(content, dict) else None
    if listed is None:
        unknown = isinstance(content, dict) and str(content.get("message")).startswith("Not found")
        return None if unknown else f"no list of similar items, {shown(content)}; is its address right?"
    if not isinstance(listed, list):
        return f"similar items that are not a list, {shown(listed)}"
    items: list[Similar] = []
    for entry in listed:
        name, similarity = (entry.get("item"), entry.get("similarity", "")) if isinstance(entry, dict) else (None, "")
        if not isinstance(name, str) or not _is_cosine(similarity):
            return f"an invalid similar item, {shown(entry)}"
        if _ITEM.fullmatch(name):
            items.append(Similar(WikidataId(name), float(similarity)))
    return items


def _is_cosine(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= _MOST
