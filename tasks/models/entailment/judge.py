"""What every judge of equivalence does alike: equal answers and empty ones, and each pair of texts judged once."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError

REFERENCE = "microsoft/deberta-large-mnli"

Pair = tuple[str, str]
"""Two different texts, the shorter one first."""


class Entailment(ABC):
    """Judges which answers are equivalent.

    name, revision: of the model that judges; stand_in: None for an entailment model, else a sentence that says what
    stands in for what.
    """

    name: str
    revision: str
    stand_in: str | None = None

    def equivalent(self, answers: Sequence[str], question: str | None = None) -> NDArray[np.bool_]:
        """Which answers to one question are equivalent, (n, n); as `equivalent_in_bulk`."""
        return self.equivalent_in_bulk([answers], None if question is None else [question])[0]

    def equivalent_in_bulk(
        self, answers: Sequence[Sequence[str]], questions: Sequence[str] | None = None
    ) -> list[NDArray[np.bool_]]:
        """Which answers to each question are equivalent: (n, n) for each, symmetric, true on the diagonal.

        Equal answers are equivalent without being judged, and an empty one only to an empty one.

        Args:
            answers: of each question, n texts.
            questions: put before every answer, as Kuhn et al. do; None: answers alone, as Marjanovic et al. do.

        Raises:
            InputError: there are more or fewer questions than lists of answers.
            ModelError: two answers are more than the model reads, or its judgement is not a number.
        """
        if questions is not None and len(questions) != len(answers):
            raise InputError(
                f"{len(questions)} questions were given with the answers to {len(answers)}; give one for each"
            )
        texts = []
        for number, of_question in enumerate(answers):
            prefix = "" if questions is None else f"{questions[number]} "
            texts.append([prefix + answer.strip() if answer.strip() else "" for answer in of_question])
        different = [filter(None, dict.fromkeys(of_question)) for of_question in texts]
        pairs = dict.fromkeys(_pair(*two) for of_question in different for two in combinations(of_question, 2))
        equivalent = self._equivalent(pairs)
        return [_matrix(of_question, equivalent) for of_question in texts]

    @abstractmethod
    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        """The pairs that are equivalent."""


def _pair(a: str, b: str) -> Pair:
    return (a, b) if (len(a), a) <= (len(b), b) else (b, a)


def _matrix(texts: Sequence[str], equivalent: set[Pair]) -> NDArray[np.bool_]:
    matrix = np.eye(len(texts), dtype=bool)
    for i, j in combinations(range(len(texts)), 2):
        matrix[i, j] = matrix[j, i] = texts[i] == texts[j] or _pair(texts[i], texts[j]) in equivalent
    return matrix
