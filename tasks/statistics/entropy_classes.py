"""Words of questions and contexts, in classes by the semantic entropy of the replies with the context.

An instance is a question with a context. The entropy of its replies decides its class: low (the replies agree), middle
or high (the replies differ). The bounds are a setting of the study, in nats. Without bounds, the instances of each
model are cut in thirds. No bounds fit every model, because an entropy of summed log-probabilities grows with the length
of replies. A class includes its upper bound and excludes its lower bound. The published classes have gaps between them;
instances in a gap are in no class. The statistics of a class are its instances, counted by partition, and the words
with the largest TF-IDF in its questions, and in its contexts. Each instance counts as a text, even if two instances
have the same question.

Source: Marjanovic et al. 2024, DynamicQA, Figure 15 and Table 8.

TF-IDF, the words that distinguish a group of texts from the others:

    tf(w, d)    = how often the word w is in the text d
    idf(w)      = ln((1 + n) / (1 + df(w))) + 1,  n the number of texts, df(w) the number of texts with w
    tfidf(w, d) = tf(w, d) idf(w) / ||tf(., d) idf(.)||,  so that each text has length 1
    score of w in a group of texts = the mean of tfidf(w, d) over its texts

A word is two or more letters or digits in a row, in lower case. Words in more than `max_share` of the texts are left
out; no language then needs a list of stop words. The score finds words that are frequent in a group and rare elsewhere;
it does not tell which words matter.

Source: Salton and Buckley 1988, Term-weighting approaches in automatic text retrieval; smoothing and length are the
defaults of scikit-learn's TfidfVectorizer.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, field_validator

from swaymeter.data.options import Options
from swaymeter.data.records.statistics import ClassWord, Summary
from swaymeter.tasks.statistics.frames import ALL, iter_groups, sort_frame
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

ENTROPY = "semantic_entropy_with"
CLASSES = ("low", "middle", "high")
TEXTS = {"questions": "question", "contexts": "context"}
"""Kinds of texts, and the column of the instances with each kind."""
BY_BOUNDS, BY_THIRDS = "bounds of the study", "thirds of the model's instances"
WORDS = 50
"""Largest number of words of a class."""
CUT = ("cut", "low_up_to", "middle_from", "middle_up_to", "high_from")
"""Columns: the rule by which instances are cut into classes, and the bounds of the classes in nats, all as text."""

Bound = Annotated[float, Field(allow_inf_nan=False)]


class EntropyClasses(Options):
    """Classes of low, middle and high semantic entropy with a context, for counts and words of instances."""

    bounds: Annotated[tuple[Bound, ...], Field(min_length=2, max_length=4)] | None = None
    """Two bounds, in nats: the upper bounds of low and middle, such as [1.0, 5.0]. Four bounds leave gaps between the
    classes: the upper bound of low, the lower and the upper bound of middle, and the lower bound of high, such as
    [10.5, 11, 16, 17]. Bounds may be negative, because an entropy of summed log-probabilities may be negative. null:
    each class has a third of each model's instances."""

    @field_validator("bounds")
    @classmethod
    def _check_bounds(cls, bounds: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bounds is None:
            return None
        if len(bounds) == 3:
            raise ValueError(
                "has 3 bounds; write 2 bounds (upper bounds of low and middle), or 4 bounds for gaps between classes"
            )
        if len({*bounds}) < len(bounds) or [*bounds] != sorted(bounds):
            raise ValueError(f"{list(bounds)} does not ascend; write the bound of the low class first")
        return bounds

    @property
    def statistics(self) -> tuple[Statistic, Statistic]:
        """Two statistics of each class: the number of its instances, and its words."""
        queries, parameters = ("texts_of_instances",), self.model_dump(mode="json")
        return (
            Statistic("entropy_classes", 3, Summary, queries, self.count, parameters=parameters),
            Statistic("words_of_classes", 1, ClassWord, queries, self.find_words, parameters=parameters),
        )

    def classify(self, frame: Frame) -> Frame:
        """Return the instances of the classes, sorted, with the columns `at` (number of the class from 0) and CUT."""
        import pandas as pd

        frame = sort_frame(frame.dropna(subset=[ENTROPY]), [*MODEL, "relation", "question_id", "context_id"])
        parts = [self._cut(rows) for _, rows in iter_groups(frame, MODEL)]
        return pd.concat(parts) if parts else frame.assign(at=0)

    def _cut(self, rows: Frame) -> Frame:
        """Return the instances of a model with the columns `at` and CUT, without instances in a gap between classes."""
        values = rows[ENTROPY].to_numpy(dtype="float64")
        bounds = self.bounds or np.quantile(values, [1 / 3, 2 / 3]).tolist()
        if len(bounds) == 2:  # no gaps: the class middle begins at the end of low, and high at the end of middle
            bounds = np.repeat(bounds, 2).tolist()
        low, middle_from, middle_up_to, high = bounds
        rule = BY_BOUNDS if self.bounds else BY_THIRDS
        cut = dict(zip(CUT, (rule, *map(str, bounds)), strict=True))
        classes = [values <= low, (values > middle_from) & (values <= middle_up_to), values > high]
        rows = rows.assign(at=np.select(classes, [0, 1, 2], -1), **cut)
        return rows[rows["at"] >= 0]

    def count(self, frames: Frames, seed: int) -> list[Row]:
        """Return rows of `Summary`: each class's mean entropy and share of the instances, by partition and over all."""
        import pandas as pd

        frame = self.classify(frames["texts_of_instances"]).astype({"partition": object})
        frame = frame.assign(entropy_class=np.array(CLASSES, dtype=object)[frame["at"]])
        mean = Mean(
            f"class_{ENTROPY}",
            (*MODEL, "entropy_class", "partition", *CUT),
            "instance",
            column=ENTROPY,
            quantiles=True,
            larger_group=(*MODEL, "partition"),
        )
        return mean.rows(pd.concat([frame, frame.assign(partition=ALL)]))

    def find_words(self, frames: Frames, seed: int) -> list[Row]:
        """Return rows of `ClassWord`; words with equal scores are in alphabetical order."""
        frame = self.classify(frames["texts_of_instances"])
        return [
            {**about, **row}
            for about, rows in iter_groups(frame, MODEL)
            for kind, column in TEXTS.items()
            for row in self._words(rows.dropna(subset=[column]), kind, column)
        ]

    def _words(self, rows: Frame, kind: str, column: str) -> Iterator[Row]:
        words, scores, text_counts = tf_idf(rows[column].astype(object).tolist(), rows["at"], len(CLASSES))
        sizes = np.bincount(rows["at"], minlength=len(CLASSES))
        for at, name in enumerate(CLASSES):
            best = [index for index in np.argsort(-scores[at], kind="stable")[:WORDS] if scores[at, index] > 0]
            for rank, index in enumerate(best, 1):
                yield {
                    "entropy_class": name,
                    "text_kind": kind,
                    "rank": rank,
                    "word": str(words[index]),
                    "score": float(scores[at, index]),
                    "texts": int(text_counts[at, index]),
                    "texts_of_class": int(sizes[at]),
                }


MAX_SHARE = 0.5
"""Words in more than this share of the texts are left out."""
_WORD = re.compile(r"[^\W_]{2,}")


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.casefold())


def tf_idf(
    texts: Sequence[str], groups: ArrayLike, n_groups: int, *, max_share: float = MAX_SHARE
) -> tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.int64]]:
    """Score words in groups of texts.

    Args:
        texts: n texts.
        groups: (n,), the group of each text, from 0; a text without words counts as a text of its group.
        n_groups: number of groups.
        max_share: words in more than this share of the texts are left out.

    Returns:
        Words (m,), their scores (n_groups, m), and for each group the number of texts with each word (n_groups, m).
    """
    from scipy.sparse import csr_array

    group = np.asarray(groups, dtype=np.int64)
    # The words of equal texts are counted only once, to save time.
    row_of_text = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    counts = [Counter(words(text)) for text in row_of_text]
    vocabulary = {word: column for column, word in enumerate(sorted(set().union(*counts)))}
    if not vocabulary:
        return np.array([], dtype=str), np.zeros((n_groups, 0)), np.zeros((n_groups, 0), dtype=np.int64)
    ends = np.cumsum([0, *map(len, counts)])
    columns = [vocabulary[word] for counter in counts for word in counter]
    values = [float(count) for counter in counts for count in counter.values()]
    matrix = csr_array((values, columns, ends), shape=(len(counts), len(vocabulary)))
    matrix = matrix[[row_of_text[text] for text in texts]]
    occurs = csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), shape=matrix.shape)
    text_frequency: NDArray[np.float64] = occurs.sum(axis=0)  # df(w), the number of texts with each word
    selected = text_frequency <= max_share * len(texts)
    weighted = (matrix * (np.log((1 + len(texts)) / (1 + text_frequency)) + 1)).tocsr()[:, selected]
    lengths = np.sqrt((weighted * weighted).sum(axis=1))
    inverse_lengths = np.divide(1.0, lengths, out=np.zeros(len(texts)), where=lengths > 0)
    member = csr_array((np.ones(len(texts)), (group, np.arange(len(texts)))), shape=(n_groups, len(texts)))
    sizes = np.maximum(np.bincount(group, minlength=n_groups), 1)
    scores = ((member * inverse_lengths) @ weighted).toarray() / sizes[:, None]
    text_counts = (member @ occurs[:, selected]).toarray()
    return np.array(list(vocabulary))[selected], scores, text_counts.astype(np.int64)
