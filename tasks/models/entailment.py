"""Do two answers say the same? Each entails the other, by the arg max of an entailment model.

Equivalence: i ~ j when the model's most likely label for (i, j) and for (j, i) is entailment [Marjanovic et al. 2024,
App. A.3; Kuhn et al. 2023]. It is symmetric; it need not be transitive. Where no entailment model can be loaded, a
cosine similarity of sentence embeddings over a threshold may stand in for it; then `stand_in` says so.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from data.errors import ModelError, UsageError
from tasks.models.identity import catalog_kind, identify_model
from tasks.models.loading import chosen_device, context_window, pretrained, weights_options

if TYPE_CHECKING:
    from tasks.models.embedder import Embedder

REFERENCE = "microsoft/deberta-large-mnli"


class Entailment(Protocol):
    """Judges which answers are equivalent.

    name, revision: of the model that judges; stand_in: None for an entailment model, else a sentence that says what
    stands in for what.
    """

    name: str
    revision: str
    stand_in: str | None

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """(n, n): whether answer i and answer j are equivalent; symmetric, true on the diagonal.

        answers: n texts; equal ones are equivalent without being judged, and an empty one only to an empty one.
        question: put before every answer, as Kuhn et al. do; None: answers alone, as Marjanovic et al. do.
        """
        ...


def load_entailment(
    name: str = REFERENCE,
    *,
    stand_in: bool | None = None,
    threshold: float = 0.8,
    device: str = "auto",
) -> Entailment:
    """The judge of that name: an entailment model, or an embedder that stands in for one.

    name: an alias, a folder or a hub id. stand_in: whether it is an embedder; None: as the catalog says of an alias,
    and no for everything else. threshold: least cosine similarity of equivalent answers, in (0, 1], for a stand-in.
    Raises UsageError for a threshold that cannot be, ModelError for a model that cannot be loaded or has no
    entailment label.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold of an entailment stand-in is {threshold}; it must lie in (0, 1]")
    if _is_stand_in(name, stand_in):
        from tasks.models.embedder import load_embedder

        return EmbeddingStandIn(load_embedder(name, device=device), threshold)
    return _loaded(name, identify_model(name, "entailment").revision, chosen_device(device))


@lru_cache
def _loaded(name: str, revision: str, device: str) -> "EntailmentModel":
    return EntailmentModel(name, device=device)


def identify_entailment(name: str = REFERENCE, *, stand_in: bool | None = None) -> str:
    """The revision of the judge that load_entailment would load, for a score's key; raises as it does."""
    return identify_model(name, "embedder" if _is_stand_in(name, stand_in) else "entailment").revision


class EntailmentModel:
    """An entailment model of transformers; which of its labels is entailment is read from its configuration."""

    stand_in: str | None = None

    def __init__(self, name: str, *, device: str = "auto", batch_size: int = 64) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        device = chosen_device(device)
        identity = identify_model(name, "entailment")
        load = AutoModelForSequenceClassification.from_pretrained
        self.name, self.revision = identity.name, identity.revision
        self._device, self._batch_size = device, batch_size
        self._model = pretrained(identity, load, **weights_options("float32", device)).eval()
        self._tokenizer = pretrained(identity, AutoTokenizer.from_pretrained)
        self._entails = _entailment_label(name, self._model.config.id2label)

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """See Entailment.equivalent."""
        texts, place = _distinct(answers)
        pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts)) if i != j and texts[i] and texts[j]]
        said = [text if question is None else f"{question} {text}" for text in texts]
        entails = np.eye(len(texts), dtype=bool)
        pairs.sort(key=lambda pair: len(said[pair[0]]) + len(said[pair[1]]))
        for start in range(0, len(pairs), self._batch_size):
            batch = pairs[start : start + self._batch_size]
            judged = self._judge([said[i] for i, _ in batch], [said[j] for _, j in batch])
            for (i, j), verdict in zip(batch, judged, strict=True):
                entails[i, j] = verdict
        return _spread(entails & entails.T, place)

    def _judge(self, premises: list[str], hypotheses: list[str]) -> list[bool]:
        import torch

        batch = self._tokenizer(premises, hypotheses, padding=True, return_tensors="pt").to(self._device)
        window = context_window(self._model.config)
        if window is not None and batch["input_ids"].shape[1] > window:
            longest = max(zip(premises, hypotheses, strict=True), key=lambda pair: len(pair[0]) + len(pair[1]))
            raise ModelError(f"model {self.name!r} reads {window} tokens, too few for the pair {longest!r}")
        with torch.inference_mode():
            logits = self._model(**batch).logits
        if not torch.isfinite(logits).all():
            raise ModelError(f"model {self.name!r} gave a label a score that is not finite")
        return [bool(label == self._entails) for label in logits.argmax(dim=-1).tolist()]


class EmbeddingStandIn:
    """Equivalent when the cosine similarity of two embeddings reaches a threshold."""

    def __init__(self, embedder: "Embedder", threshold: float) -> None:
        self.name, self.revision = embedder.name, embedder.revision
        self.stand_in: str | None = f"cosine similarity of {self.name} >= {threshold:g} stands in for {REFERENCE}"
        self._embedder, self._threshold = embedder, threshold

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """See Entailment.equivalent."""
        texts, place = _distinct(answers)
        vectors = self._embedder.embed([text if question is None else f"{question} {text}" for text in texts])
        near = vectors @ vectors.T >= self._threshold
        empty = np.array([not text for text in texts], dtype=bool)
        near[empty, :] = near[:, empty] = False
        np.fill_diagonal(near, True)
        return _spread(near & near.T, place)


def _is_stand_in(name: str, asked: bool | None) -> bool:
    return catalog_kind(name) == "embedder" if asked is None else asked


def _entailment_label(name: str, labels: dict[int, str]) -> int:
    found = [int(place) for place, label in labels.items() if label.strip().casefold() == "entailment"]
    if len(found) != 1:
        raise ModelError(
            f"model {name!r} has the labels {list(labels.values())}, none of them entailment; use a model trained for "
            "natural language inference, or name an embedder as its stand-in"
        )
    return found[0]


def _distinct(answers: Sequence[str]) -> tuple[list[str], list[int]]:
    stripped = [answer.strip() for answer in answers]
    texts = list(dict.fromkeys(stripped))
    places = {text: place for place, text in enumerate(texts)}
    return texts, [places[text] for text in stripped]


def _spread(equivalent: NDArray[np.bool_], place: list[int]) -> NDArray[np.bool_]:
    return equivalent[np.ix_(place, place)]
