"""Variance of a score between samples of contexts, and between the forms of a query.

    variance = sum (x - mean)^2 / (k - 1)    over the k scores of an item: of k seeds, or of k forms of a query type

    over seeds   susceptibility of a query, or persuasion of a query by a context, in the samples of all seeds
    over forms   susceptibility of an entity, or persuasion of the entity by a context, in the queries of all forms of a
                 query type, in the sample of the first seed

Unit of analysis: an item with a variance. Queries with equal texts count as one query, and contexts with equal texts as
one context. Items that are missing in a sample are not compared; `of_first` counts all items of the first sample. Each
susceptibility is over the contexts of its own sample.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 4.3 and figure 4.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from swaymeter.data.errors import ScoreError
from swaymeter.data.records import QueryType
from swaymeter.tasks.statistics.statistic import Frame, Row

TYPES: tuple[QueryType, ...] = ("open", "closed")
COMPARED: Mapping[tuple[str, str], str] = {
    ("susceptibility", "seeds"): "query",
    ("susceptibility", "forms"): "entity",
    ("persuasion", "seeds"): "query and context",
    ("persuasion", "forms"): "entity and context",
}
"""Items with a variance, by measure and by the source of the variance."""


def reliability(measure: str, samples: Sequence[Frame]) -> list[Row]:
    """Return the rows of `Reliability` of a relation and a model, without the columns that name relation and model.

    Args:
        measure: persuasion or susceptibility, a column of every frame.
        samples: a frame for each seed, the study's seed first. Its columns are query_type, form, entity, query (the
            text) and, for persuasion, context (the text).

    Raises:
        ScoreError: a score is not finite.
    """
    import numpy as np

    context_key = ["context"] if measure == "persuasion" else []
    samples = _number_texts(samples, ["query", "entity", *context_key])
    # A text that occurs twice in a sample has the same score twice.
    samples = [frame.drop_duplicates(["query_type", "query", *context_key]) for frame in samples]
    for frame in samples:
        if not np.isfinite(frame[measure].to_numpy(dtype="float64")).all():
            raise ScoreError(f"{measure}: a stored score is not a finite number; score the measure again with --force")
    rows = []
    for query_type in TYPES:
        frames_of_type = [frame[frame["query_type"] == query_type] for frame in samples]
        if not len(frames_of_type[0]):
            continue
        forms = frames_of_type[0]["form"].nunique()
        for over, frames, keys, count in (
            ("seeds", frames_of_type, ["query", *context_key], len(samples)),
            ("forms", frames_of_type[:1], ["entity", *context_key], forms),
        ):
            about = {"query_type": query_type, "measure": measure, "over": over, "scores": count}
            rows.append(about | {"compared": COMPARED[measure, over]} | _variances(frames, keys, measure, count))
    return rows


def _number_texts(frames: Sequence[Frame], columns: Sequence[str]) -> list[Frame]:
    """Replace the texts of these columns by numbers, which are grouped faster; a text has one number in all frames."""
    import numpy as np
    import pandas as pd

    numbered = [frame.copy(deep=False) for frame in frames]
    for name in columns:
        texts = pd.api.types.union_categoricals([frame[name].astype("category") for frame in frames])
        ends = np.cumsum([len(frame) for frame in frames])[:-1]
        for frame, codes in zip(numbered, np.split(np.asarray(texts.codes), ends), strict=True):
            frame[name] = codes
    return numbered


def _variances(frames: Sequence[Frame], keys: Sequence[str], measure: str, count: int) -> Row:
    """Return the columns of variances, over the items that have `count` scores in all frames together."""
    import numpy as np
    import pandas as pd

    scores = pd.concat([frame[[*keys, measure]] for frame in frames], ignore_index=True)
    groups = scores.groupby(list(keys), sort=True, observed=True)[measure]
    all_scores = groups.agg(["size", "mean", "var"])
    complete = all_scores[all_scores["size"] == count]
    first = frames[0].groupby(list(keys), observed=True).ngroups
    row: dict[str, Any] = {"n": len(complete), "of_first": first, "untestable": None}
    names = ("mean_score", "variance", "median", "percentile_95", "largest")
    if count < 2 or complete.empty:
        reason = "each item has a single score" if count < 2 else "no item has all scores"
        return {**row, "n": 0, **dict.fromkeys(names), "untestable": reason}
    variances = complete["var"].to_numpy(dtype="float64")
    values = (complete["mean"].mean(), variances.mean(), *np.quantile(variances, (0.5, 0.95, 1)))
    return row | dict(zip(names, map(float, values), strict=True))
