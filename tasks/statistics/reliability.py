"""How far a score varies between samples of contexts, and between the forms of a query.

    variance = sum (x - mean)^2 / (k - 1)    over the k scores of one thing: of k seeds, or of k forms of a query type

    over seeds   susceptibility of a query, persuasion of a query by a context, in the samples of all seeds
    over forms   the same of an entity, by the forms of a query type, in the sample of the first seed

Unit of analysis: what has a variance. Queries and contexts are the same where their texts are: what is not in every
sample is not compared, and counted. A susceptibility is over its own sample of contexts each time, most of them others.
What it is not: a standard error of a mean, or the spread between models.

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
"""What has a variance, by measure and by what it varies over."""


def reliability(measure: str, samples: Sequence[Frame]) -> list[Row]:
    """The rows of `Reliability` of a relation and a model, but for the columns that say which these are.

    measure: persuasion or susceptibility, a column of every frame; samples: a frame for each seed, the study's first,
    with query_type, form, entity, query (its text) and, of persuasion, context (its text). ScoreError where a score is
    not finite.
    """
    import numpy as np

    of_context = ["context"] if measure == "persuasion" else []
    samples = _numbered(samples, ["query", "entity", *of_context])
    # A text that occurs twice in a sample has the same score twice.
    samples = [frame.drop_duplicates(["query_type", "query", *of_context]) for frame in samples]
    for frame in samples:
        if not np.isfinite(frame[measure].to_numpy(dtype="float64")).all():
            raise ScoreError(f"{measure}: a stored score is not a finite number; score it again with --force")
    rows = []
    for query_type in TYPES:
        of_type = [frame[frame["query_type"] == query_type] for frame in samples]
        if not len(of_type[0]):
            continue
        forms = of_type[0]["form"].nunique()
        for over, frames, keys, count in (
            ("seeds", of_type, ["query", *of_context], len(samples)),
            ("forms", of_type[:1], ["entity", *of_context], forms),
        ):
            known = {"query_type": query_type, "measure": measure, "over": over, "scores": count}
            rows.append(known | {"compared": COMPARED[measure, over]} | _variances(frames, keys, measure, count))
    return rows


def _numbered(frames: Sequence[Frame], columns: Sequence[str]) -> list[Frame]:
    """The frames with a number for each text of these columns, the same in all of them: numbers are grouped faster."""
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
    """The columns about the variances of what has `count` scores in the frames together."""
    import numpy as np
    import pandas as pd

    scores = pd.concat([frame[[*keys, measure]] for frame in frames], ignore_index=True)
    groups = scores.groupby(list(keys), sort=True, observed=True)[measure]
    every = groups.agg(["size", "mean", "var"])
    whole = every[every["size"] == count]
    first = frames[0].groupby(list(keys), observed=True).ngroups
    row: dict[str, Any] = {"n": len(whole), "of_first": first, "untestable": None}
    names = ("mean_score", "variance", "median", "percentile_95", "largest")
    if count < 2 or whole.empty:
        why = "there is one score of each" if count < 2 else "nothing has all scores"
        return {**row, "n": 0, **dict.fromkeys(names), "untestable": why}
    variances = whole["var"].to_numpy(dtype="float64")
    values = (whole["mean"].mean(), variances.mean(), *np.quantile(variances, (0.5, 0.95, 1)))
    return row | dict(zip(names, map(float, values), strict=True))
