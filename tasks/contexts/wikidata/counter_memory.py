"""The counter-memory answer of a fact: the most similar entity of the answer's kind that is not a right answer.

Similar by Wembedder, else by embeddings of labels and descriptions [Marjanovic et al. 2024, who require neither the
kind nor that the answer be wrong].
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.wikidata import Similar
from swaymeter.tasks.contexts.texts import bare, folded
from swaymeter.tasks.contexts.wikidata.facts import Items, KnownItem
from swaymeter.tasks.contexts.wikidata.mentions import mentions

WEMBEDDER = "wembedder"
EMBEDDINGS = "embeddings"

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> (n, d), each row of length 1."""


@dataclass(frozen=True, slots=True)
class CounterMemory:
    """by: what chose it, WEMBEDDER or EMBEDDINGS; quality: the cosine of the two entities' embeddings."""

    item_id: WikidataId
    name: str
    by: str
    quality: float


@dataclass(frozen=True, slots=True)
class Truth:
    """A fact, and all right answers: their ids, and the names of each, its label first, those of the object first.

    implied: what a right answer is a kind of, a part of, lies in or may be the same as.
    """

    subject: KnownItem
    object: KnownItem
    ids: frozenset[WikidataId]
    called: tuple[tuple[str, ...], ...]
    implied: frozenset[WikidataId]

    @property
    def names(self) -> frozenset[str]:
        """Every form of a right answer, folded."""
        return frozenset(folded(name) for names in self.called for name in names)


def truth(subject: KnownItem, answer: KnownItem, items: Items, answers: Iterable[str] = ()) -> Truth:
    """The right answers about a subject whose values `items` has looked up. answers: further ones, of a list."""
    stated = {value.item_id: value for item_id in subject.stated if (value := items.get(item_id))}
    right = [answer, *(value for value in stated.values() if value.item_id != answer.item_id)]
    return Truth(
        subject=subject, object=answer, ids=frozenset((*subject.stated, *(value.item_id for value in right))),
        called=((*answer.names, *answers), *(value.names for value in right[1:])),
        implied=frozenset(wider for value in right for wider in value.wider),
    )  # fmt: skip


def is_wrong_but_alike(candidate: KnownItem, fact: Truth) -> bool:
    """Whether it is of the object's kind, has a name, and is not a right answer, by id or by name.

    Nor may it be the subject, be implied by a right answer ("artist" by "painter") or imply one, or have a name that
    contains that of a right answer or is contained by it ("film actor", "actor").
    """
    name = candidate.label
    if name is None or len(name) == 1 or not candidate.kinds & fact.object.kinds:
        return False
    if candidate.item_id in fact.ids | fact.implied | {fact.subject.item_id} or candidate.wider & fact.ids:
        return False
    if fact.names & set(map(folded, candidate.names)) or bare(name) in map(bare, fact.subject.names):
        return False
    pairs = [(name, names) for names in fact.called] + [(right, (name,)) for names in fact.called for right in names]
    return not any(mentions(unicodedata.normalize("NFC", text), names, any_case=True) for text, names in pairs)


def of_similar(similar: Sequence[Similar], items: Items, fact: Truth) -> CounterMemory | None:
    """The most similar item that fits, of those that Wembedder names and `items` has looked up; None if none fits."""
    listed = sorted(similar, key=lambda item: (-item.similarity, int(item.item_id[1:])))
    return _first(((items.get(item.item_id), item.similarity) for item in listed), fact, WEMBEDDER)


def of_embeddings(candidates: Iterable[KnownItem], fact: Truth, embed: Embed) -> CounterMemory | None:
    """The candidate that fits whose label and description are most like the object's; None where none fits."""
    others = {item.item_id: item for item in candidates if item.label and item.item_id not in fact.ids}
    listed = [others[item_id] for item_id in sorted(others, key=lambda item_id: int(item_id[1:]))]
    if not listed:
        return None
    described = ((item.name, item.description) for item in (fact.object, *listed))
    vectors = embed([f"{name}: {description}" if description else name for name, description in described])
    likeness = vectors[1:] @ vectors[0]
    order = np.argsort(-likeness, kind="stable")
    return _first(((listed[place], float(likeness[place])) for place in order), fact, EMBEDDINGS)


def _first(candidates: Iterable[tuple[KnownItem | None, float]], fact: Truth, by: str) -> CounterMemory | None:
    fit = ((item, quality) for item, quality in candidates if item and is_wrong_but_alike(item, fact))
    return next((CounterMemory(item.item_id, item.name, by, quality) for item, quality in fit), None)


def remembering(embed: Embed) -> Embed:
    """The same embeddings, computed once for each text."""
    known: dict[str, NDArray[np.float32]] = {}

    def embed_new(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed_new
