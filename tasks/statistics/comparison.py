"""Paired differences of the headline numbers of two runs.

`swaymeter.data.dataset.comparison` joins the runs' items. An item is a query, or a question under a context with these
texts: with another text it is another item. Numbers are compared as two models are, see `tasks.statistics.models`:

    difference = mean over the items of both runs of (first value - second value)
    verdict    = larger or smaller: the interval is on one side of 0, and p_adjusted at most 0.05; equal: within the
                 margin of two models; undecided: otherwise

                  two studies (`compare A B`)                  one study over time (`history`, `audit --baseline`)
    difference    A - B                                        now - before
    p_adjusted    two families, as in model_differences        one family: all numbers of the run
    models        of one name and dtype; without such a pair   of one name and dtype; without such a pair,
                  every model of A with every one of B         the only model of each run

p_adjusted is after Benjamini-Hochberg within one comparison. It does not bound the errors over many runs: of a hundred
runs without a change, about five show a change by chance if replies vary at all. Greedy replies of one model to one
prompt do not vary.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from swaymeter.data.dataset.comparison import BETWEEN, Comparison, Pair, Snapshot, compare_items, group_of, model_pairs
from swaymeter.data.records.statistics import FEWEST_SAMPLES
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.models import MODEL_QUERIES, add_verdicts, adjust_rows, differences, items_by_model
from swaymeter.tasks.statistics.statistic import Frames, Row

NO_VALUE = {
    "context_bias": "not answered right without a context",
    "prior_bias": "not answered wrong without a context",
    "coherent_persuasion": f"without a score of {FEWEST_SAMPLES} samples",
}
"""Reasons why an item of a model has no value of a quantity, if the reason is not a missing score."""


def compare(
    before: Snapshot, after: Snapshot, pairs: Sequence[Pair] | None = None, *, over_time: bool = False, seed: int = 0
) -> Comparison:
    """Compare two runs, with the paired differences of their headline numbers.

    Args:
        before: The earlier run, or A.
        after: The later run, or B.
        pairs: The models that are compared; None for those of `model_pairs`.
        over_time: If the runs are of one study; the module says what that changes.
        seed: Seed of the resampling.

    Returns:
        The comparison; `numbers` has rows of `ModelDifference` and the column `group`, each with a pair of items.
    """
    pairs = model_pairs(before.models, after.models, over_time=over_time) if pairs is None else pairs
    return compare_items(before, after, pairs, paired(before, after, pairs, over_time=over_time, seed=seed))


def paired(before: Snapshot, after: Snapshot, pairs: Iterable[Pair], *, over_time: bool, seed: int) -> list[Row]:
    """Return the paired differences of the models that are compared, with p_adjusted and verdicts."""
    rows = list[Row]()
    for earlier, later in pairs:
        runs = [(earlier, before.select(earlier)), (later, after.select(later))]
        (first, first_frames), (second, second_frames) = reversed(runs) if over_time else runs
        names = {"model": first[0], "dtype": first[1], "against_model": second[0], "against_dtype": second[1]}
        both = _joined(first_frames, second_frames)
        rows += [{**row, **names, "group": group_of(row)} for row in differences(both, seed) if row["n"]]
    return add_verdicts(adjust(rows, ())) if over_time else adjust_rows(rows)


def rejected(comparison: Comparison) -> dict[Pair, dict[str, list[tuple[str, str]]]]:
    """Return the items without a counterpart: for each pair of models, numbers and reasons, and their quantities.

    A quantity is named by itself and its group.
    """
    rejections = dict[Pair, dict[str, list[tuple[str, str]]]]()
    for pair in comparison.pairs:
        frames = comparison.before.select(pair[0]), comparison.after.select(pair[1])
        keys = {"A": _keys(frames[0]), "B": _keys(frames[1])}
        for quantity, group, models in items_by_model(_joined(*frames)):
            values = {about["model"]: {*frame["item"]} for about, frame in models}
            no_value = NO_VALUE.get(quantity, "without a score")
            parts = [
                f"{count} of {len(values[run])} in {run} {reason} in {other}"
                for run, other in ("AB", "BA") if run in values
                for reason, count in _reasons(values[run] - values.get(other, set()), keys[other], no_value).items()
            ]  # fmt: skip
            if parts:
                rejections.setdefault(pair, {}).setdefault(", ".join(parts), []).append((quantity, group_of(group)))
    return rejections


def _joined(first: Frames, second: Frames) -> Frames:
    """Return the frames of two models as models A and B of one study, which are compared in this order."""
    import pandas as pd  # here, as `status` imports this module and needs no frame

    return {
        query: pd.concat([first[query].assign(model="A"), second[query].assign(model="B")], ignore_index=True)
        for query in MODEL_QUERIES
    }


def _keys(frames: Frames) -> set[str]:
    """Return the items of a model, as `swaymeter.tasks.statistics.models` names them, and its ids of questions."""
    replies, queries = (frames[name] for name in MODEL_QUERIES)
    items = replies["question_id"].astype(str) + BETWEEN + replies["context_id"]
    return {*replies["question_id"], *items, *queries["query_id"]}


def _reasons(missing: Collection[str], keys: Collection[str], no_value: str) -> Counter[str]:
    """Count the reasons why items have no counterpart."""
    return Counter(
        no_value if item in keys else "asked with other texts" if item.partition(BETWEEN)[0] in keys else "not asked"
        for item in sorted(missing)
    )
