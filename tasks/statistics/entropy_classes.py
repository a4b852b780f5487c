"""What questions and contexts are about whose answers stay spread, or agree, with the context.

Instances fall into three classes by their semantic entropy with the context: low, middle and high. The bounds are a
setting of the statistic, in nats; without them, a model's instances are cut in thirds, since the entropy is a sum of
log-probabilities and grows with the length of a model's answers. A value on a bound is in the lower class. Of each
class there are counts by partition, and the words of its questions and of its contexts with the largest TF-IDF, each
instance a text of its own.

Source: Marjanovic et al. 2024, DynamicQA, Figure 15 and Table 8.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.records.statistics import ClassWord, Summary
from tasks.statistics.formulas.tf_idf import tf_idf
from tasks.statistics.frames import ALL, by, sorted_by
from tasks.statistics.statistic import Frame, Frames, Row, Statistic
from tasks.statistics.summary import MODEL, summaries

ENTROPY = "semantic_entropy_with"
CLASSES = ("low", "middle", "high")
TEXTS = {"questions": "question", "contexts": "context"}


@dataclass(frozen=True)
class EntropyClasses:
    """The classes: bounds in nats, or None for thirds; how many words of each; version: raised when these change."""

    bounds: tuple[float, float] | None = None
    words: int = 50
    version: int = 1

    @property
    def counts(self) -> Statistic:
        """How many instances each class has, as a statistic."""
        return Statistic("entropy_classes", self.version, Summary, ("texts_of_instances",), self.count)

    @property
    def topics(self) -> Statistic:
        """The words of each class, as a statistic."""
        return Statistic("words_of_classes", self.version, ClassWord, ("texts_of_instances",), self.find_words)

    def classified(self, frame: Frame) -> Frame:
        """The instances that have an entropy, with their class as a number from 0, in an order of their own."""
        import pandas as pd

        frame = sorted_by(frame.dropna(subset=[ENTROPY]), [*MODEL, "relation", "question_id", "context_id"])
        parts = [rows.assign(at=self._places(rows)) for _, rows in by(frame, MODEL)]
        return pd.concat(parts) if parts else frame.assign(at=0)

    def _places(self, rows: Frame) -> NDArray[np.int64]:
        values = rows[ENTROPY].to_numpy(dtype="float64")
        bounds = self.bounds or np.quantile(values, [1 / 3, 2 / 3])
        places: NDArray[np.int64] = np.digitize(values, bounds, right=True)
        return places

    def count(self, frames: Frames, seed: int) -> list[Row]:
        """The rows of `Summary`: the entropy of each class in each partition and in all, and its share of these."""
        import pandas as pd

        frame = self.classified(frames["texts_of_instances"]).astype({"partition": object})
        frame = frame.assign(entropy_class=np.array(CLASSES, dtype=object)[frame["at"]])
        frame = pd.concat([frame, frame.assign(partition=ALL)])
        frame["of_partition"] = frame.groupby([*MODEL, "partition"], observed=True)[ENTROPY].transform("size")
        return summaries(
            frame, [*MODEL, "entropy_class", "partition"], ENTROPY, quantity=f"class_{ENTROPY}",
            unit_of_analysis="instance", quantiles=True,
            others=lambda group: {"share": len(group) / int(group["of_partition"].iloc[0])},
        )  # fmt: skip

    def find_words(self, frames: Frames, seed: int) -> list[Row]:
        """The rows of `ClassWord`; words of equal score in the order of the alphabet."""
        frame = self.classified(frames["texts_of_instances"])
        return [
            {**about, **row}
            for about, rows in by(frame, MODEL)
            for kind, column in TEXTS.items()
            for row in self._words(rows.dropna(subset=[column]), kind, column)
        ]

    def _words(self, rows: Frame, kind: str, column: str) -> list[Row]:
        found, scores, having = tf_idf(rows[column].astype(object).tolist(), rows["at"], len(CLASSES))
        sizes = np.bincount(rows["at"], minlength=len(CLASSES))
        made = []
        for at, name in enumerate(CLASSES):
            first = [place for place in np.argsort(-scores[at], kind="stable")[: self.words] if scores[at, place] > 0]
            made += [
                {
                    "entropy_class": name, "text_kind": kind, "rank": rank, "word": str(found[place]),
                    "score": float(scores[at, place]), "texts": int(having[at, place]), "of_texts": int(sizes[at]),
                }
                for rank, place in enumerate(first, 1)
            ]  # fmt: skip
        return made


CLASSES_OF_STUDY = EntropyClasses()
COUNTS, WORDS = CLASSES_OF_STUDY.counts, CLASSES_OF_STUDY.topics
