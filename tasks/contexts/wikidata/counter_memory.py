"""The counter-memory answer of a fact: the most similar entity of the answer's kind that is not a right answer.

Similarity comes from Wembedder or, without it, from embeddings of labels and descriptions. In Marjanovic et al. 2024, a
counter-memory answer may be of another kind than the right answer, or be right itself.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.wikidata import SimilarItem
from swaymeter.tasks.contexts.texts import fold, fold_without_qualifier
from swaymeter.tasks.contexts.wikidata.facts import Items, KnownItem
from swaymeter.tasks.contexts.wikidata.mentions import mentions

WEMBEDDER = "wembedder"
EMBEDDINGS = "embeddings"

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""A function that maps n texts to unit vectors, (n, d)."""


@dataclass(frozen=True, slots=True)
class CounterMemory:
    """A counter-memory answer, which replaces the right answer.

    Attributes:
        item_id: its item of Wikidata.
        name: its name.
        by: its origin, WEMBEDDER or EMBEDDINGS.
        quality: the cosine similarity to the right answer.
    """

    item_id: WikidataId
    name: str
    by: str
    quality: float


@dataclass(frozen=True, slots=True)
class AnsweredFact:
    """A fact with all its right answers.

    Attributes:
        subject: the subject.
        object: the object.
        ids: the ids of the right answers.
        name_lists: the names of each right answer, its label first; the first list has the object's names.
        implied: items that a right answer implies (kinds, wholes and places), and items said to be the same.
    """

    subject: KnownItem
    object: KnownItem
    ids: frozenset[WikidataId]
    name_lists: tuple[tuple[str, ...], ...]
    implied: frozenset[WikidataId]

    @property
    def names(self) -> frozenset[str]:
        """Every form of a right answer, folded."""
        return frozenset(fold(name) for names in self.name_lists for name in names)


def answered_fact(
    subject: KnownItem, answer: KnownItem, items: Items, further_names: Iterable[str] = ()
) -> AnsweredFact:
    """Return a fact with all right answers.

    Args:
        subject: the subject.
        answer: the object.
        items: cached items, with the values of the subject.
        further_names: further names of the object.
    """
    items_of_values = {
        value.item_id: value for item_id in subject.values_with_deprecated if (value := items.get(item_id))
    }
    right_answers = [answer, *(value for value in items_of_values.values() if value.item_id != answer.item_id)]
    return AnsweredFact(
        subject=subject,
        object=answer,
        ids=frozenset((*subject.values_with_deprecated, *(value.item_id for value in right_answers))),
        name_lists=((*answer.names, *further_names), *(value.names for value in right_answers[1:])),
        implied=frozenset(wider for value in right_answers for wider in value.wider),
    )


def may_replace_object(candidate: KnownItem, fact: AnsweredFact) -> bool:
    """Return True if a candidate may replace the object: it has a name and the object's kind, and is a wrong answer.

    False if one of these holds:

    - The candidate's name is a single character.
    - The candidate is the subject, or has a name of the subject or of a right answer.
    - The candidate implies a right answer, or a right answer implies the candidate: "painter" implies "artist".
    - The candidate's name is a part of a right answer's name, or contains one: "actor" is a part of "film actor".
    """
    name = candidate.label
    if name is None or len(name) == 1 or not candidate.kinds & fact.object.kinds:
        return False
    if candidate.item_id in fact.ids | fact.implied | {fact.subject.item_id} or candidate.wider & fact.ids:
        return False
    if fact.names & set(map(fold, candidate.names)):
        return False
    if fold_without_qualifier(name) in map(fold_without_qualifier, fact.subject.names):
        return False
    # Pairs of a text, and names that the text must not mention.
    pairs: list[tuple[str, tuple[str, ...]]] = [(name, names) for names in fact.name_lists]
    pairs += [(right, (name,)) for names in fact.name_lists for right in names]
    return not any(mentions(unicodedata.normalize("NFC", text), names, any_case=True) for text, names in pairs)


def wembedder_answer(similar: Sequence[SimilarItem], items: Items, fact: AnsweredFact) -> CounterMemory | None:
    """Return the most similar item of Wembedder that exists and may replace the object; None without such an item."""
    listed = sorted(similar, key=lambda item: (-item.similarity, int(item.item_id[1:])))
    return _first(((items.get(item.item_id), item.similarity) for item in listed), fact, WEMBEDDER)


def embeddings_answer(candidates: Iterable[KnownItem], fact: AnsweredFact, embed: Embed) -> CounterMemory | None:
    """Return the candidate that may replace the object and has the most similar label and description, or None."""
    others = {item.item_id: item for item in candidates if item.label and item.item_id not in fact.ids}
    listed = [others[item_id] for item_id in sorted(others, key=lambda item_id: int(item_id[1:]))]
    if not listed:
        return None
    described = ((item.name, item.description) for item in (fact.object, *listed))
    vectors = embed([f"{name}: {description}" if description else name for name, description in described])
    similarity = vectors[1:] @ vectors[0]
    order = np.argsort(-similarity, kind="stable")
    return _first(((listed[index], float(similarity[index])) for index in order), fact, EMBEDDINGS)


def _first(candidates: Iterable[tuple[KnownItem | None, float]], fact: AnsweredFact, by: str) -> CounterMemory | None:
    """Return the first item that may replace the object, from pairs of an item and its similarity, or None."""
    fit = ((item, quality) for item, quality in candidates if item and may_replace_object(item, fact))
    return next((CounterMemory(item.item_id, item.name, by, quality) for item, quality in fit), None)


def cached_embeddings(embed: Embed) -> Embed:
    """Return the function `embed` with a cache of the vector of each text."""
    vectors: dict[str, NDArray[np.float32]] = {}

    def embed_with_cache(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            vectors.update(zip(new, embed(new), strict=True))
        return np.stack([vectors[text] for text in texts])

    return embed_with_cache
