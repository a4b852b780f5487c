"""What goes together with coherent persuasion: correlations with one quantity each, regressions on several.

    edits                   of the fact (static 1, temporal more); a disputable question has none
    reversions              of a disputable question; no other has them
    subject_popularity, object_popularity   page views, a month
    semantic_entropy_without, _with         of the answers without and with the context, also length-normalised

Groups: partitions under a context; all stands for every partition, and for every context of a question. Unit of
analysis: an instance, that is a question with a context. As published, p-values and the intervals of a regression and
of Fisher's z take instances as independent; beside them stand those that let instances of one subject depend on each
other.
The published regression is that of the temporal partition with one row a question, which is one condition: edits of a
static fact are all 1, and disputable questions have neither edits nor an object, so that these are untestable and say
so.

Source: Marjanovic et al. 2024, DynamicQA, Figures 3 and 5-7, Tables 3, 6 and 7, section 6.5.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, InstanceCorrelation, RegressionRow
from swaymeter.tasks.statistics.formulas.clustered import COVERAGE, clustered_pearson
from swaymeter.tasks.statistics.formulas.correlation import correlation
from swaymeter.tasks.statistics.formulas.regression import Coefficient, regression
from swaymeter.tasks.statistics.frames import ALL, WITH, WITHOUT, by, of_enough_samples, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL

MOVED = "coherent_persuasion"
GROUPS = (*MODEL, "partition", "condition")
CORRELATED = (
    "semantic_entropy_without", "semantic_entropy_with", "semantic_entropy_length_normalised_without",
    "semantic_entropy_length_normalised_with", "edits", "reversions", "subject_popularity",
    "object_popularity",
)  # fmt: skip
NONE = "none"


def instances_by_group(frame: Frame) -> Iterator[tuple[Row, Frame]]:
    """The instances of each partition and condition, and of all together, in an order of their own."""
    import pandas as pd

    frame = sorted_by(
        of_enough_samples(frame, [MOVED], (WITH, WITHOUT)), [*MODEL, "relation", "question_id", "context_id"]
    )
    frame = frame.assign(subject=pd.factorize(frame["subject_key"], sort=True)[0])
    frame = frame.astype(dict.fromkeys(("partition", "condition"), object))
    for partition in ({}, {"partition": ALL}):
        for condition in ({}, {"condition": ALL}):
            yield from by(frame.assign(**partition, **condition), GROUPS)


def correlations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `InstanceCorrelation`."""
    rows = []
    for about, instances in instances_by_group(frames["instances"]):
        for measure in CORRELATED:
            both = instances.dropna(subset=[measure, MOVED])
            if len(both):
                rows.append({**about, "measure_a": measure, "measure_b": MOVED, **_correlated(both, measure, seed)})
    return rows


def _correlated(both: Frame, measure: str, seed: int) -> Row:
    from scipy import stats

    x, y = (both[name].to_numpy(dtype="float64") for name in (measure, MOVED))
    r, p, reason = correlation("pearson", x, y)
    row: Row = {"n": len(both), "subjects": int(both["subject"].nunique()), "pearson": r, "p": p, "untestable": reason}
    ends = dict.fromkeys(("low", "high", "subject_low", "subject_high"))
    if r is not None and len(both) >= FEWEST_FOR_INTERVAL:
        by_subject = clustered_pearson(x, y, both["subject"], seed)
        plain = stats.pearsonr(x, y).confidence_interval(COVERAGE)
        ends = {
            "low": float(plain.low), "high": float(plain.high),
            "subject_low": by_subject.low, "subject_high": by_subject.high,
        }  # fmt: skip
    return row | ends


@dataclass(frozen=True)
class Regression:
    """A regression over instances, of one condition each and of all.

    outcome: the column that is predicted, in `unit`; predictors: those that it is predicted from, standardised;
    version: raised when the same frames give other rows.
    """

    name: str
    outcome: str
    predictors: tuple[str, ...]
    unit: str = "nats"
    version: int = 1

    @property
    def statistic(self) -> Statistic:
        """The regression as a statistic."""
        return Statistic(self.name, self.version, RegressionRow, ("instances",), self.compute)

    def compute(self, frames: Frames, seed: int) -> list[Row]:
        """The rows of `RegressionRow`; instances that lack the outcome or a predictor are left out, and counted."""
        return [
            {**about, "outcome": self.outcome, "unit": self.unit, **row}
            for about, instances in instances_by_group(frames["instances"])
            for row in self._rows(instances)
        ]

    def _rows(self, instances: Frame) -> Iterator[Row]:
        columns = [self.outcome, *self.predictors]
        complete = instances.dropna(subset=columns)
        empty = [name for name in columns if instances[name].isna().all()]
        result = regression(
            (self.outcome, complete[self.outcome]), {name: complete[name] for name in self.predictors},
            complete["subject"],
        )  # fmt: skip
        common = {
            "n": result.n, "left_out": len(instances) - result.n, "subjects": result.clusters,
            "r_squared": result.r_squared,
            "untestable": f"{', '.join(empty)}: no instance has one" if empty else result.untestable,
        }  # fmt: skip
        no_coefficient = Coefficient(NONE, *[None] * 5)  # type: ignore[arg-type]
        for coefficient in result.coefficients or (no_coefficient,):
            of_subjects = {
                "subject_standard_error": coefficient.cluster_standard_error, "subject_p": coefficient.cluster_p,
            }  # fmt: skip
            plain = coefficient._asdict()
            del plain["cluster_standard_error"], plain["cluster_p"]
            yield {**common, **plain, **of_subjects}


REGRESSION = Regression(
    "predictors_of_persuasion",
    MOVED,
    ("edits", "object_popularity", "subject_popularity", "semantic_entropy_without", "semantic_entropy_with"),
    version=2,
)
REGRESSIONS = REGRESSION.statistic
CORRELATIONS = Statistic("instance_correlations", 4, InstanceCorrelation, ("instances",), correlations)
