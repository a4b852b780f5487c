"""A study over time: for each completed run, the items that changed, and the headline numbers."""

from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, table

ItemKind = Literal["run", "setting", "fact", "question", "reply", "query", "number"]
"""Kinds of the items of a history."""


@table(
    "history",
    "an item of a completed run that changed since the run before, or a headline number of the run",
    key=(
        "run",
        "kind",
        "model",
        "dtype",
        "item",
    ),
)
class HistoryRow:
    """An item of a completed run that changed since the run before, or a headline number with its paired change."""

    run: Annotated[int, Meaning("number of the completed run, from 1 on")]
    kind: Annotated[
        ItemKind,
        Meaning(
            "run: the run itself; setting: a setting or version; fact, question: from a source; reply: a greedy reply; "
            "query: the susceptibility of a query; number: a headline number"
        ),
    ]
    model: Annotated[str, Meaning("the model's label, or its name without a label; empty for an item without a model")]
    dtype: Annotated[str, Meaning("the precision that the model computed in; empty for an item without a model")]
    item: Annotated[
        str,
        Meaning("the item's id, unique for a kind, a model and a dtype; of a headline number, its quantity and group"),
    ]
    state: Annotated[
        str | None, Meaning("the item in this run, as JSON; NULL if the run lacks it, and for a headline number")
    ]
    quantity: Annotated[str | None, Meaning("quantity of a number, as in tasks/statistics/models.py")] = None
    group: Annotated[
        str | None, Meaning("condition of the replies, or type of the queries; all: several conditions together")
    ] = None
    unit: Annotated[str | None, Meaning("unit of the means and of the change")] = None
    n: Annotated[int | None, Meaning("replies, or queries")] = None
    clusters: Annotated[int | None, Meaning("subjects, questions or entities of the replies or queries")] = None
    mean: Annotated[float | None, Meaning("mean of the values; NULL without a value")] = None
    low: Annotated[float | None, Meaning("lower end of the mean's 95% interval")] = None
    high: Annotated[float | None, Meaning("upper end of the mean's 95% interval")] = None
    same: Annotated[int | None, Meaning("replies, or queries, that the run before has, too; NULL without any")] = None
    mean_before: Annotated[float | None, Meaning("mean in the run before, over the items counted in same")] = None
    change: Annotated[float | None, Meaning("mean over the items counted in same, minus mean_before")] = None
    change_low: Annotated[float | None, Meaning("lower end of the change's 95% interval, paired, over clusters")] = None
    change_high: Annotated[float | None, Meaning("upper end of the change's interval")] = None
    p: Annotated[float | None, Meaning("two-sided p of a sign-flip test over clusters; NULL if untestable")] = None
    p_adjusted: Annotated[float | None, Meaning("after Benjamini-Hochberg over all numbers of the run")] = None
    direction: Annotated[str | None, Meaning("larger, smaller, equal or undecided, as in model_differences")] = None
