"""Equivalence of two answers: each entails the other, by the likeliest label of an entailment (NLI) model.

Equivalence is symmetric and need not be transitive [Marjanovic et al. 2024, App. A.3; Kuhn et al. 2023]. A stand-in
model, which is an embedder, decides by a threshold on the cosine similarity of two embeddings instead. A decision does
not depend on the rest of its batch, because a pair near the limit of a decision is read again alone, without padding.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import InputError, ModelError, UsageError
from swaymeter.tasks.models.embedder import Embedder, Encoder, load_embedder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model, kind_of_equivalence_model
from swaymeter.tasks.models.pretrained import choose_device, context_window, load_once, load_pretrained, weights_options
from swaymeter.tasks.models.progress import reporting

REFERENCE = "microsoft/deberta-large-mnli"
# A decision is close if its logit margin is nearer to 0, or its cosine nearer to the threshold, than these limits.
CLOSE_LOGITS = 1e-3  # batches in float32 differ by about 1e-5
CLOSE_COSINES = 1e-4  # batches in float32 differ by about 1e-6
READINGS_A_PAIR = 1.5
"""Assumed mean readings of a pair, for progress. Pairs whose shorter text entails the other are read twice."""
MAX_CACHED = 100_000
"""Limit of the pairs whose decisions stay in memory."""

Pair = tuple[str, str]
"""Two different texts, the shorter one first."""


class Entailment(ABC):
    """A model that decides which answers are equivalent.

    Attributes:
        name: the name of the model.
        revision: the revision of the model.
        stand_in: a sentence about the stand-in model; None for an entailment model.
    """

    name: str
    revision: str
    stand_in: str | None = None

    def equivalent_in_bulk(
        self, answers: Sequence[Sequence[str]], questions: Sequence[str] | None = None
    ) -> list[NDArray[np.bool_]]:
        """Return the equivalence matrix of the answers to each question: (n, n), symmetric, true on the diagonal.

        Equal answers are equivalent without the model. An empty answer is equivalent to empty answers only. For the
        progress, each list of answers counts as one prompt.

        Args:
            answers: the answers to each question.
            questions: the question that is put before the answers of each list, as in Kuhn et al.; None for
                answers alone, as in Marjanovic et al.

        Raises:
            InputError: the number of questions differs from the number of lists of answers.
            ModelError: a pair exceeds the window of the model, or a score is not finite.
        """
        if questions is not None and len(questions) != len(answers):
            raise InputError(
                f"{len(questions)} questions do not match {len(answers)} lists of answers; give one question for each "
                "list"
            )
        text_lists = []
        for index, answer_list in enumerate(answers):
            prefix = "" if questions is None else f"{questions[index]} "
            text_lists.append([prefix + answer.strip() if answer.strip() else "" for answer in answer_list])
        distinct_texts = [filter(None, dict.fromkeys(texts)) for texts in text_lists]
        pairs = dict.fromkeys(_pair(*two) for texts in distinct_texts for two in combinations(texts, 2))
        with reporting(len(answers), reports=1):
            equivalent = self._equivalent(pairs)
        return [_matrix(texts, equivalent) for texts in text_lists]

    @abstractmethod
    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        """Return the equivalent pairs, and report progress that adds up to 1."""


def _pair(a: str, b: str) -> Pair:
    return (a, b) if (len(a), a) <= (len(b), b) else (b, a)


def _matrix(texts: Sequence[str], equivalent: set[Pair]) -> NDArray[np.bool_]:
    matrix = np.eye(len(texts), dtype=bool)
    for i, j in combinations(range(len(texts)), 2):
        matrix[i, j] = matrix[j, i] = texts[i] == texts[j] or _pair(texts[i], texts[j]) in equivalent
    return matrix


@dataclass(eq=False)
class EntailmentModel(Encoder, Entailment):
    """An entailment model in float32 that caches its decisions. One of its labels must be "entailment"."""

    # (premise, hypothesis) -> True if the premise entails the hypothesis
    _cache: dict[tuple[str, str], bool] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        labels = self.model.config.id2label or {}
        indices = [int(index) for index, label in labels.items() if label.strip().casefold() == "entailment"]
        if len(indices) != 1 or len(labels) < 2:
            raise ModelError(
                f"model {self.name!r} needs two or more labels, one of them entailment, but has "
                f"{', '.join(map(repr, labels.values())) or 'none'}; use a model trained for natural language "
                "inference, or an embedder as the stand-in of such a model"
            )
        (self._entailment,) = indices

    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        # The first reading takes the shorter text as the premise. A shorter text seldom entails a longer text, so that
        # few pairs are read twice.
        with reporting(1, reports=READINGS_A_PAIR * len(pairs)):
            forward = self.entailing(pairs)
            backward = self.entailing([(longer, shorter) for shorter, longer in pairs if (shorter, longer) in forward])
        return {(shorter, longer) for longer, shorter in backward}

    def fits(self, pair: tuple[str, str]) -> bool:
        """Return True if premise and hypothesis fit the window of the model together."""
        (ids,) = self._tokenize([pair[0]], [pair[1]])["input_ids"]
        return len(ids) <= self._window

    @property
    def _window(self) -> float:
        return min(context_window(self.model.config) or math.inf, self.tokenizer.model_max_length)

    def entailing(self, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the pairs whose first text entails the second; raises ModelError like `equivalent_in_bulk`."""
        cached = {pair: entails for pair in pairs if (entails := self._cache.get(pair)) is not None}
        computed = dict(self._decisions([pair for pair in pairs if pair not in cached]))
        with self._lock:
            self._cache |= computed
            for pair in list(islice(self._cache, max(0, len(self._cache) - MAX_CACHED))):
                del self._cache[pair]
        return {pair for pair, entails in (cached | computed).items() if entails}

    def _decisions(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], bool]]:
        """Yield each pair of premise and hypothesis, and True if the premise entails the hypothesis."""
        tokens = self._tokenize([premise for premise, _ in pairs], [hypothesis for _, hypothesis in pairs])
        lengths = [len(ids) for ids in tokens["input_ids"]]
        window = self._window
        if max(lengths, default=0) > window:
            longest = int(np.argmax(lengths))
            raise ModelError(
                f"model {self.name!r} reads at most {window} tokens, but a pair of answers has {lengths[longest]}: "
                f"{pairs[longest]!r}; shorten the answers, or name another entailment model"
            )
        for indices, _, output in self._read_in_batches(tokens):
            for index, margin in zip(indices, self._margins(output.logits), strict=True):
                if abs(margin) < CLOSE_LOGITS and len(indices) > 1:
                    (margin,) = self._margins(self._read(tokens, [index])[1].logits)
                if math.isnan(margin):
                    raise ModelError(
                        f"model {self.name!r} gave the pair {pairs[index]!r} a score that is not finite; remove the "
                        "model's files and download them again"
                    )
                yield pairs[index], margin > 0

    def _margins(self, logits: Any) -> list[float]:
        """Return, for each row, the logit of entailment minus the largest other logit; NaN if a logit is not finite."""
        others = logits.clone()
        others[:, self._entailment] = -math.inf
        margins = logits[:, self._entailment] - others.amax(dim=1)
        values: list[float] = margins.masked_fill(~logits.isfinite().all(dim=1), math.nan).tolist()
        return values


class EmbeddingStandIn(Entailment):
    """Equivalence by a threshold on the cosine similarity of two embeddings. Each text is embedded once."""

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        self.name, self.revision = embedder.name, embedder.revision
        self.stand_in = f"cosine similarity of {self.name} >= {threshold:g} stands in for {REFERENCE}"
        self._embedder, self._threshold = embedder, threshold

    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        with reporting(1, reports=len(texts)):
            vectors = dict(zip(texts, self._embedder.embed(texts), strict=True))
        cosines = {(a, b): float(vectors[a] @ vectors[b]) for a, b in pairs}
        for pair, cosine in cosines.items():
            if abs(cosine - self._threshold) < CLOSE_COSINES:
                first, second = (self._embedder.embed([text])[0].astype(np.float64) for text in pair)
                cosines[pair] = float(first @ second)
        return {pair for pair, cosine in cosines.items() if cosine >= self._threshold}


def load_entailment(name: str = REFERENCE, *, threshold: float = 0.8, device: str = "auto") -> Entailment:
    """Load an entailment model, or an embedder of the catalog as its stand-in.

    Args:
        name: an alias, a folder or a hub id.
        threshold: the least cosine similarity of equivalent answers for a stand-in, in (0, 1].
        device: "cpu", "cuda", "cuda:N" or "auto".

    Raises:
        UsageError: the threshold is out of range, or the device is unknown.
        ModelError: the model cannot be loaded, or has no label "entailment".
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold of an entailment stand-in is {threshold}; it must lie in (0, 1]")
    if kind_of_equivalence_model(name) == "embedder":
        return EmbeddingStandIn(load_embedder(name, device=device), threshold)
    return _load(identify_model(name, "entailment"), choose_device(device))


def identify_entailment(name: str = REFERENCE) -> str:
    """Return the revision that load_entailment would load, for the key of a score; raises like load_entailment."""
    return identify_model(name, kind_of_equivalence_model(name)).revision


@load_once
def _load(identity: ModelIdentity, device: str) -> EntailmentModel:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    load = AutoModelForSequenceClassification.from_pretrained
    model = load_pretrained(identity, load, **weights_options("float32", device)).eval()
    tokenizer = load_pretrained(identity, AutoTokenizer.from_pretrained)
    return EntailmentModel(model, tokenizer, identity.name, identity.revision, device)
