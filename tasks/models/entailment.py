"""Do two answers say the same? Each entails the other, by the arg max of an entailment model.

Equivalence: i ~ j when the model's most likely label for (i, j) and for (j, i) is entailment [Marjanovic et al. 2024,
App. A.3; Kuhn et al. 2023]. It is symmetric; it need not be transitive. Where no entailment model can be loaded, a
cosine similarity of sentence embeddings over a threshold may stand in for it; then `stand_in` says so.

A judgement is the same whatever is judged beside it. A batch changes scores by rounding, so what lies too near a tie to
be sure of is judged once more alone, unpadded, and that decides.
"""

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, ModelError, UsageError
from tasks.models.batches import Recent, batches, tokens_per_batch
from tasks.models.identity import catalog_kind, identify_model
from tasks.models.loading import chosen_device, context_window, pretrained, weights_options

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from tasks.models.embedder import Embedder

REFERENCE = "microsoft/deberta-large-mnli"
# Far above what batches differ by in float32: about 1e-5 in a logit, 1e-6 in a cosine.
CLOSE_LOGITS = 1e-3
CLOSE_COSINES = 1e-4
REMEMBERED = 100_000

Pair = tuple[str, str]


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
        Raises ModelError when two answers are more than the model reads, or its judgement is not a number.
        """
        ...

    def equivalent_in_bulk(
        self, answers: Sequence[Sequence[str]], questions: Sequence[str] | None = None
    ) -> list[NDArray[np.bool_]]:
        """What `equivalent` says of every question's answers, in one go: (n_i, n_i) for each.

        questions: one for each, or None. Raises InputError when there are more or fewer; else as `equivalent` does.
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
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    identity = identify_model(name, "entailment")
    load = AutoModelForSequenceClassification.from_pretrained
    model = pretrained(identity, load, **weights_options("float32", device)).eval()
    tokenizer = pretrained(identity, AutoTokenizer.from_pretrained)
    return EntailmentModel(model, tokenizer, identity.name, identity.revision, device)


def identify_entailment(name: str = REFERENCE, *, stand_in: bool | None = None) -> str:
    """The revision of the judge that load_entailment would load, for a score's key; raises as it does."""
    return identify_model(name, "embedder" if _is_stand_in(name, stand_in) else "entailment").revision


@dataclass(eq=False)
class EntailmentModel:
    """An entailment model of transformers; which of its labels is entailment is read from its configuration.

    model: in float32; device: where it is, "cpu" or "cuda:N". The last 100,000 judgements are remembered.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    device: str
    stand_in: str | None = field(default=None, init=False)
    _judged: Recent[Pair, bool] = field(default_factory=lambda: Recent(REMEMBERED), init=False, repr=False)
    # Truncation and padding are settings of the tokenizer itself: two threads must not change them at once.
    _tokenizing: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        self._entailment = _entailment_label(self.name, self.model.config.id2label or {})

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """See Entailment.equivalent."""
        return self.equivalent_in_bulk([answers], None if question is None else [question])[0]

    def equivalent_in_bulk(
        self, answers: Sequence[Sequence[str]], questions: Sequence[str] | None = None
    ) -> list[NDArray[np.bool_]]:
        """See Entailment.equivalent_in_bulk.

        A pair whose first direction is no entailment is not judged in the other one, which could not change anything.
        First comes from the shorter text to the longer: the one that is more often none.
        """
        read = _read(answers, questions)
        pairs = dict.fromkeys(_ordered(*two) for group in read for two in combinations(filter(None, group.texts), 2))
        forth = self._entails(pairs)
        back = self._entails((longer, shorter) for shorter, longer in pairs if forth[shorter, longer])
        return [self._matrix(group, back) for group in read]

    def _matrix(self, group: "_Answers", entailed_back: Mapping[Pair, bool]) -> NDArray[np.bool_]:
        equivalent = np.eye(len(group.texts), dtype=bool)
        for i, j in combinations(range(len(group.texts)), 2):
            shorter, longer = _ordered(group.texts[i], group.texts[j])
            equivalent[i, j] = equivalent[j, i] = entailed_back.get((longer, shorter), False)
        return group.spread(equivalent)

    def _entails(self, pairs: Iterable[Pair]) -> dict[Pair, bool]:
        entails = {pair: self._judged.get(pair) for pair in pairs}
        for pair, verdict in self._verdicts([pair for pair, verdict in entails.items() if verdict is None]):
            entails[pair] = verdict
            self._judged.put(pair, verdict)
        return {pair: bool(verdict) for pair, verdict in entails.items()}

    def _verdicts(self, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, bool]]:
        tokens = self._tokenized(pairs) if pairs else {"input_ids": []}
        for places in batches([len(ids) for ids in tokens["input_ids"]], tokens_per_batch(self.device)):
            for place, margin in zip(places, self._margins(tokens, places), strict=True):
                if abs(margin) < CLOSE_LOGITS and len(places) > 1:
                    (margin,) = self._margins(tokens, [place])
                if math.isnan(margin):
                    raise ModelError(f"model {self.name!r} gave {pairs[place]!r} a score that is not finite")
                yield pairs[place], margin > 0

    def _tokenized(self, pairs: Sequence[Pair]) -> Mapping[str, list[list[int]]]:
        premises, hypotheses = (list(side) for side in zip(*pairs, strict=True))
        with self._tokenizing:
            tokens: Mapping[str, list[list[int]]] = self.tokenizer(premises, hypotheses)
        lengths = [len(ids) for ids in tokens["input_ids"]]
        window = min(context_window(self.model.config) or math.inf, self.tokenizer.model_max_length)
        if max(lengths) > window:
            longest = int(np.argmax(lengths))
            raise ModelError(
                f"model {self.name!r} reads {window} tokens, too few for the {lengths[longest]} of the pair "
                f"{pairs[longest]!r}; let answers be shorter, or name another entailment model"
            )
        return tokens

    def _margins(self, tokens: Mapping[str, list[list[int]]], places: Sequence[int]) -> list[float]:
        """How far entailment is above the best other label, for each; NaN where a label's score is not finite."""
        import torch

        rows = {name: [values[place] for place in places] for name, values in tokens.items()}
        batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            logits = self.model(**batch).logits
            others = logits.clone()
            others[:, self._entailment] = -math.inf
            margins = logits[:, self._entailment] - others.amax(dim=1)
            margins = margins.masked_fill(~torch.isfinite(logits).all(dim=1), math.nan)
        values: list[float] = margins.tolist()
        return values


class EmbeddingStandIn:
    """Equivalent when the cosine similarity of two embeddings reaches a threshold."""

    def __init__(self, embedder: "Embedder", threshold: float) -> None:
        self.name, self.revision = embedder.name, embedder.revision
        self.stand_in: str | None = f"cosine similarity of {self.name} >= {threshold:g} stands in for {REFERENCE}"
        self._embedder, self._threshold = embedder, threshold

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """See Entailment.equivalent."""
        return self.equivalent_in_bulk([answers], None if question is None else [question])[0]

    def equivalent_in_bulk(
        self, answers: Sequence[Sequence[str]], questions: Sequence[str] | None = None
    ) -> list[NDArray[np.bool_]]:
        """See Entailment.equivalent_in_bulk; every text is embedded once."""
        read = _read(answers, questions)
        vectors = self._embedder.remembered(text for group in read for text in group.texts if text)
        return [self._matrix(group, vectors) for group in read]

    def _matrix(self, group: "_Answers", vectors: Mapping[str, NDArray[np.float32]]) -> NDArray[np.bool_]:
        equivalent = np.eye(len(group.texts), dtype=bool)
        judged = [place for place, text in enumerate(group.texts) if text]
        if judged:
            of_texts = np.stack([vectors[group.texts[place]] for place in judged])
            above = of_texts @ of_texts.T - self._threshold
            for i, j in combinations(range(len(judged)), 2):
                a, b = judged[i], judged[j]
                near = above[i, j] >= 0
                if abs(above[i, j]) < CLOSE_COSINES:
                    near = self._near_alone(group.texts[a], group.texts[b])
                equivalent[a, b] = equivalent[b, a] = near
        return group.spread(equivalent)

    def _near_alone(self, a: str, b: str) -> bool:
        first, second = (self._embedder.embed([text])[0].astype(np.float64) for text in (a, b))
        return bool(first @ second >= self._threshold)


@dataclass(frozen=True)
class _Answers:
    """A question's different answers as they are read, "" for an empty one; place: of every answer among them."""

    texts: list[str]
    place: list[int]

    def spread(self, equivalent: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """From the different answers to all of them."""
        return equivalent[np.ix_(self.place, self.place)]


def _read(answers: Sequence[Sequence[str]], questions: Sequence[str] | None) -> list[_Answers]:
    if questions is not None and len(questions) != len(answers):
        raise InputError(f"{len(questions)} questions were given with the answers to {len(answers)}; give one for each")
    read = []
    for number, of_question in enumerate(answers):
        stripped = [answer.strip() for answer in of_question]
        places = {text: place for place, text in enumerate(dict.fromkeys(stripped))}
        prefixed = [text if questions is None or not text else f"{questions[number]} {text}" for text in places]
        read.append(_Answers(prefixed, [places[text] for text in stripped]))
    return read


def _ordered(a: str, b: str) -> Pair:
    return (a, b) if (len(a), a) <= (len(b), b) else (b, a)


def _is_stand_in(name: str, requested: bool | None) -> bool:
    return catalog_kind(name) == "embedder" if requested is None else requested


def _entailment_label(name: str, labels: Mapping[int, str] | Mapping[str, str]) -> int:
    places = [int(place) for place, label in labels.items() if label.strip().casefold() == "entailment"]
    if len(places) != 1 or len(labels) < 2:
        raise ModelError(
            f"model {name!r} has the labels {list(labels.values())}; one of two or more has to be entailment: use a "
            "model trained for natural language inference, or name an embedder as its stand-in"
        )
    return places[0]
