"""An embedder that a person can check: how often each letter occurs. Words of the same letters say the same."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LETTERS = 89  # a letter's code is taken modulo this; those of one alphabet stay apart


def embed(texts: Sequence[str]) -> NDArray[np.float64]:
    """Unit vectors, one a row; capitals count as small letters."""
    rows = np.zeros((len(texts), LETTERS))
    for row, text in zip(rows, texts, strict=True):
        for letter in text.casefold():
            row[ord(letter) % LETTERS] += 1
    found: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found
