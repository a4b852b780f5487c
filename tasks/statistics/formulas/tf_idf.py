"""TF-IDF: the words that set one group of texts apart from the others.

    tf(w, d)    = how often the word w is in the text d
    idf(w)      = ln((1 + n) / (1 + df(w))) + 1,  n texts, df(w) of them with w
    tfidf(w, d) = tf(w, d) idf(w) / ||tf(., d) idf(.)||,  so that each text has length 1
    score of w in a group of texts = the mean of tfidf(w, d) over its texts

A word is two or more letters or digits in a row, in small letters. Words of more than `most` of the texts are left out:
they stand for a list of stop words, in every language. It says which words are frequent here and rare elsewhere, not
which of them matter.

Source: Salton and Buckley 1988, Term-weighting approaches in automatic text retrieval; smoothing and length as
scikit-learn's TfidfVectorizer has them by default.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST = 0.5
_WORD = re.compile(r"[^\W_]{2,}")


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order."""
    return _WORD.findall(text.casefold())


def tf_idf(
    texts: Sequence[str], groups: ArrayLike, of_groups: int, *, most: float = MOST
) -> tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.int64]]:
    """The words (m,) of texts (n,), their scores (of_groups, m) and the texts of each group that have them.

    groups: the group of each text, from 0; a text without words counts as a text of its group.
    """
    from scipy.sparse import csr_array

    group = np.asarray(groups, dtype=np.int64)
    different = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    counts = [Counter(words(text)) for text in different]
    vocabulary = {word: at for at, word in enumerate(sorted(set().union(*counts)))}
    if not vocabulary:
        return np.array([], dtype=str), np.zeros((of_groups, 0)), np.zeros((of_groups, 0), dtype=np.int64)
    ends = np.cumsum([0, *map(len, counts)])
    columns = [vocabulary[word] for of_text in counts for word in of_text]
    values = [float(count) for of_text in counts for count in of_text.values()]
    matrix = csr_array((values, columns, ends), shape=(len(counts), len(vocabulary)))
    matrix = matrix[[different[text] for text in texts]]
    occurs = csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), shape=matrix.shape)
    frequency: NDArray[np.float64] = occurs.sum(axis=0)
    kept = frequency <= most * len(texts)
    weighted = (matrix * (np.log((1 + len(texts)) / (1 + frequency)) + 1)).tocsr()[:, kept]
    lengths = np.sqrt((weighted * weighted).sum(axis=1))
    inverse = np.divide(1.0, lengths, out=np.zeros(len(texts)), where=lengths > 0)
    member = csr_array((np.ones(len(texts)), (group, np.arange(len(texts)))), shape=(of_groups, len(texts)))
    sizes = np.maximum(np.bincount(group, minlength=of_groups), 1)
    scores = ((member * inverse) @ weighted).toarray() / sizes[:, None]
    having = (member @ occurs[:, kept]).toarray()
    return np.array(list(vocabulary))[kept], scores, having.astype(np.int64)
