"""Correlations of coherent persuasion with single quantities, and regressions on several quantities.

    edits                   number of edits of the fact: 1 for a static fact, more for a temporal fact, missing for a
                            disputable question
    reversions              number of reversions of a disputable question; missing for other questions
    subject_popularity, object_popularity   page views a month
    semantic_entropy_without, _with         entropy of the replies without, and with the context; also length-normalised

Groups: a partition under a condition; `all` stands for every partition, and for every condition. Unit of analysis: an
instance, a question with a context. As published, p-values and intervals take instances as independent; intervals of
correlations use Fisher's z. The columns `subject_...` let instances of one subject depend on each other. The published
regression is about the temporal partition under one condition, with one row for each question. Edits of static facts
are all 1, and disputable questions have neither edits nor an object, so the regressions in these two partitions are
untestable. Each regression has two versions, on summed and on length-normalised entropies. The paper prints the formula
of the first version, and the released code computes the second.

Source: Marjanovic et al. 2024, DynamicQA, Figures 3 and 5-7, Tables 3, 6 and 7, section 6.5.
"""

from collections.abc import Iterator, Sequence

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, InstanceCorrelation, RegressionRow
from swaymeter.tasks.statistics.formulas.intervals import clustered_pearson
from swaymeter.tasks.statistics.formulas.regression import Coefficient, correlation, pearson_interval, regression
from swaymeter.tasks.statistics.frames import COUNT_WITH, COUNT_WITHOUT, add_totals, drop_small_samples, iter_groups
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL

COHERENT_PERSUASION = "coherent_persuasion"
GROUPS = (*MODEL, "partition", "condition")
CORRELATED = (
    "semantic_entropy_without",
    "semantic_entropy_with",
    "semantic_entropy_length_normalised_without",
    "semantic_entropy_length_normalised_with",
    "edits",
    "reversions",
    "subject_popularity",
    "object_popularity",
)


def instances_by_group(frame: Frame) -> Iterator[tuple[Row, Frame]]:
    """Yield the instances of each partition and condition, `all` included, sorted by question and context."""
    frame = add_totals(drop_small_samples(frame, [COHERENT_PERSUASION], (COUNT_WITH, COUNT_WITHOUT)))
    yield from iter_groups(frame.rename(columns={"cluster": "subject"}), GROUPS)


def correlations(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `InstanceCorrelation`."""
    rows = []
    for about, instances in instances_by_group(frames["instances"]):
        for measure in CORRELATED:
            complete = instances[[measure, COHERENT_PERSUASION, "subject"]].dropna()
            if len(complete):
                rows.append(
                    {
                        **about,
                        "measure_a": measure,
                        "measure_b": COHERENT_PERSUASION,
                        **_correlation_columns(complete, measure, seed),
                    }
                )
    return rows


def _correlation_columns(complete: Frame, measure: str, seed: int) -> Row:
    x, y = complete[measure].to_numpy(dtype="float64"), complete[COHERENT_PERSUASION].to_numpy(dtype="float64")
    r, p, reason = correlation("pearson", x, y)
    row: Row = {
        "n": len(complete),
        "subjects": int(complete["subject"].nunique()),
        "pearson": r,
        "p": p,
        "untestable": reason,
    }
    ends = dict.fromkeys(("low", "high", "subject_low", "subject_high"))
    if r is not None and len(complete) >= FEWEST_FOR_INTERVAL:
        by_subject = clustered_pearson(x, y, complete["subject"], seed)
        low, high = pearson_interval(r, len(complete))
        ends = {"low": low, "high": high, "subject_low": by_subject.low, "subject_high": by_subject.high}
    return row | ends


def regression_on(name: str, version: int, entropies: str, *predictors: str) -> Statistic:
    """Declare a regression of coherent persuasion on standardised columns of instances, by partition and condition.

    Instances that lack coherent persuasion or a predictor are left out, and counted.

    Args:
        name: the statistic's name.
        version: number to raise if the same instances give other numbers.
        entropies: "summed" or "length-normalised", the semantic entropies among the predictors.
        predictors: columns of the query `instances`.
    """

    def compute(frames: Frames, seed: int) -> list[Row]:
        return [
            {**about, "outcome": COHERENT_PERSUASION, "entropies": entropies, "unit": "nats", **row}
            for about, instances in instances_by_group(frames["instances"])
            for row in _regression_rows(instances, predictors)
        ]

    return Statistic(name, version, RegressionRow, ("instances",), compute)


def _regression_rows(instances: Frame, predictors: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each coefficient, or a row without a coefficient if the regression is untestable."""
    complete = instances.dropna(subset=[COHERENT_PERSUASION, *predictors])
    empty = [name for name in (COHERENT_PERSUASION, *predictors) if instances[name].isna().all()]
    result = regression(
        (COHERENT_PERSUASION, complete[COHERENT_PERSUASION]),
        {name: complete[name] for name in predictors},
        complete["subject"],
    )
    common = {
        "n": result.n,
        "left_out": len(instances) - result.n,
        "subjects": result.clusters,
        "r_squared": result.r_squared,
        "untestable": f"{', '.join(empty)}: no instance has one" if empty else result.untestable,
    }
    no_coefficient = Coefficient("none", *[None] * 5)  # type: ignore[arg-type]
    # The columns cluster_p and cluster_standard_error become subject_p and subject_standard_error.
    for coefficient in result.coefficients or (no_coefficient,):
        yield {**common, **{name.replace("cluster", "subject"): value for name, value in coefficient._asdict().items()}}


CORRELATIONS = Statistic("instance_correlations", 5, InstanceCorrelation, ("instances",), correlations)
_COMMON = ("edits", "object_popularity", "subject_popularity")
REGRESSIONS = (
    regression_on(
        "predictors_of_persuasion", 3, "summed", *_COMMON, "semantic_entropy_without", "semantic_entropy_with"
    ),
    regression_on(
        "predictors_of_persuasion_length_normalised",
        1,
        "length-normalised",
        *_COMMON,
        "semantic_entropy_length_normalised_without",
        "semantic_entropy_length_normalised_with",
    ),
)
