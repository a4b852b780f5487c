"""Sentence embeddings in place of an entailment model."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from tasks.models.entailment.judge import REFERENCE, Entailment, Pair

if TYPE_CHECKING:
    from tasks.models.embedder import Embedder

CLOSE_COSINES = 1e-4  # far above what batches differ by in float32, about 1e-6


class EmbeddingStandIn(Entailment):
    """Equivalent when the cosine similarity of two embeddings reaches a threshold. A text is embedded once."""

    def __init__(self, embedder: "Embedder", threshold: float) -> None:
        self.name, self.revision = embedder.name, embedder.revision
        self.stand_in = f"cosine similarity of {self.name} >= {threshold:g} stands in for {REFERENCE}"
        self._embedder, self._threshold = embedder, threshold

    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, self._embedder.embed(texts), strict=True))
        cosines = {(a, b): float(vectors[a] @ vectors[b]) for a, b in pairs}
        for pair, cosine in cosines.items():
            if abs(cosine - self._threshold) < CLOSE_COSINES:
                cosines[pair] = self._cosine_alone(*pair)
        return {pair for pair, cosine in cosines.items() if cosine >= self._threshold}

    def _cosine_alone(self, a: str, b: str) -> float:
        first, second = (self._embedder.embed([text])[0].astype(np.float64) for text in (a, b))
        return float(first @ second)
