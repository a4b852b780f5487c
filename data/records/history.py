"""What a study was, run by run: headline numbers, and what was asked, with what, and answered, where it changed."""

from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, table

ItemKind = Literal["run", "setting", "fact", "question", "answer", "query"]
"""What an item of a run is."""


@table("history", "a headline number of a completed run, and how far it moved since the run before", key=(
    "run", "model", "dtype", "quantity", "group",
))  # fmt: skip
class HeadlineNumber:
    """A headline number of a run: a row of `models_side_by_side` as it was then, and its paired change."""

    run: Annotated[int, Meaning("which completed run of the study it is of, from 1 on")]
    completed_at: Annotated[str, Meaning("when the run was completed (UTC, ISO 8601)")]
    model: Annotated[str, Meaning("the model's label, or its name where it has none")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    quantity: Annotated[str, Meaning("what the mean is of, as in tasks/statistics/models.py")]
    group: Annotated[str, Meaning("the condition of the answers, or the type of the queries; all for every one")]
    unit: Annotated[str, Meaning("the unit of the means and of the change")]
    n: Annotated[int, Meaning("answers, or queries")]
    clusters: Annotated[int | None, Meaning("subjects, questions or entities that these are of")]
    mean: Annotated[float | None, Meaning("mean of the values; NULL where there is none")]
    low: Annotated[float | None, Meaning("lower end of the mean's 95% interval")]
    high: Annotated[float | None, Meaning("upper end of the mean's 95% interval")]
    same: Annotated[int | None, Meaning("answers, or queries, that the run before has, too; NULL of the first run")]
    mean_before: Annotated[float | None, Meaning("mean of these in the run before")]
    change: Annotated[float | None, Meaning("mean of these now, minus that before")]
    change_low: Annotated[float | None, Meaning("lower end of the change's 95% interval, paired, over clusters")]
    change_high: Annotated[float | None, Meaning("upper end of that interval")]
    p: Annotated[float | None, Meaning("two-sided, signs of clusters turned; NULL where untestable")]
    p_adjusted: Annotated[float | None, Meaning("after Benjamini-Hochberg over all numbers of the run")]
    verdict: Annotated[str | None, Meaning("larger, smaller, equal or undecided, as in model_differences")]


@table("history_items", "an item of a completed run that was not so in the run before", key=(
    "run", "kind", "model", "dtype", "item",
))  # fmt: skip
class HistoryItem:
    """What a run asked, was told, or asked with: a row for the first run that has it so; NULL once it is gone."""

    run: Annotated[int, Meaning("which completed run of the study it is of, from 1 on")]
    kind: Annotated[ItemKind, Meaning(
        "run: the run itself; setting: what was asked with; fact, question: what was asked; answer: a greedy answer; "
        "query: a susceptibility"
    )]  # fmt: skip
    model: Annotated[str, Meaning("the model's label or name; empty where it is about none")]
    dtype: Annotated[str, Meaning("the precision that the model computed in; empty where it is about none")]
    item: Annotated[str, Meaning("what tells it from others")]
    state: Annotated[str | None, Meaning("what it says in this run, as JSON; NULL where the run has it no more")]
