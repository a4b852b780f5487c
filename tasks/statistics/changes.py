"""Changes between two runs: settings, facts, questions, replies and headline numbers.

Two `Snapshot`s are joined on the ids of their items: queries, and questions under a context. Headline numbers are
compared over replies to the same texts only. `differences` compares the headline numbers of two runs. For the statistic
`model_differences`, `differences` compares the models of one study in the same way:

    difference = mean of (first value - second value) over the items that have both values
    direction    the first that fits:
                 larger, smaller  the interval of the difference is on one side of 0, and p_adjusted is at most 0.05
                 equal            the interval is between -margin and margin
                 undecided        always fits: the models may differ or be equal
    margin       0.05, or for nats a tenth of the mean of both models

An interval of 95% within the margin is a test of equivalence with alpha = 0.025 on either side. p_adjusted has two
families: the quantities by which people choose a variant, and all other quantities (`tasks.statistics.models`).
Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach.

                  two studies (`compare A B`)                  one study over time (`history`, `audit --baseline`)
    difference    A - B                                        now - before
    p_adjusted    two families                                 one family: all numbers of the run
    models        of the same name and dtype; if none is in    of the same name and dtype; if none is in both
                  both, every pair of a model of A and a       runs, the only model of each run
                  model of B

p_adjusted is after Benjamini-Hochberg within one comparison. It does not bound the errors over many runs. Of a hundred
runs without a change, about five show a change by chance, if replies vary at all. Greedy replies of one model to one
prompt do not vary.

The subject of a fact is identified by the subject's IRI; the subject of a question, by the subject's Wikidata id and
the question's property. If a snapshot lacks these identifiers for a relation, the name identifies the subject. A
disputed sentence is identified by its page and both answers. If a static fact has become temporal, its question stays
the same, in another partition. Sources, revisions, and fields that only one snapshot has are not compared; a changed
source still changes the version of the dataset. If a subject has several rows, equal rows are matched first, then rows
with equal answers.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import (
    BETWEEN,
    DIGITS,
    DOWN,
    IDS,
    REPLIES,
    REPLY_COLUMNS,
    STUDY_SETTING,
    UP,
    ChangedRow,
    Comparison,
    DatasetChanges,
    FieldChange,
    FlippedReply,
    Frame,
    ModelKey,
    Pair,
    RelationChanges,
    RunChanges,
    SettingChange,
    Snapshot,
    Value,
    group_of,
    models_of,
)
from swaymeter.data.records import Fact, Question
from swaymeter.data.records.statistics import ALL, ALPHA, EQUAL, FEWEST_SAMPLES, SHARE, UNDECIDED, ModelDifference
from swaymeter.data.records.tables import FACTS, QUESTIONS
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.formulas.paired import paired_differences
from swaymeter.tasks.statistics.models import DECISIVE, MODEL_QUERIES, UNITS, items_by_model
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL

if TYPE_CHECKING:
    import pandas as pd

NO_VALUE = {
    "context_bias": "not answered right without a context",
    "prior_bias": "not answered wrong without a context",
    "coherent_persuasion": f"without a score of {FEWEST_SAMPLES} samples",
}
"""By quantity, the reason why an item of a model has no value; the reason for other quantities is a missing score."""
MARGIN, MARGIN_OF_MEAN = 0.05, 0.1
"""Largest difference of equal models: MARGIN without unit; for nats, the share MARGIN_OF_MEAN of both models' mean."""
MODEL_SETTING = re.compile(r"(revision|server|hardware) of |model called ")
"""Beginnings of the names of model settings. These settings are compared only if both runs have them."""
PROGRAM = "swaymeter"
"""Name of the setting that every completed run has: the version of this package."""
_PROVENANCE = ("relation", "id_source", "source", "licence")
"""Columns of facts and questions that are not compared, because they tell where a row comes from."""
_CONSTRUCTION = (
    "question_id",
    "flags",
    "replacement_by",
    "replacement_quality",
    "item_revision",
    "page_revision",
    "edit_revisions",
    "list_id",
    "address",
    "retrieved_at",
)
"""Columns of questions that are not compared, because they tell how a question was made."""
FACT_FIELDS = tuple(column.name for column in FACTS.columns if column.in_digest and column.name not in _PROVENANCE)
"""Compared fields of a fact."""
_TEXTS = ("original_context", "counter_memory_context", "contexts")
"""Fields in place of the column `contexts`: the two contexts of DynamicQA, or all contexts of a user's question."""
QUESTION_FIELDS = tuple(
    field
    for column in QUESTIONS.columns
    if column.name not in (*_PROVENANCE, *_CONSTRUCTION)
    for field in (_TEXTS if column.name == "contexts" else [column.name])
)
"""Compared fields of a question."""


def compare_snapshots(
    before: Snapshot, after: Snapshot, pairs: Sequence[Pair] | None = None, *, over_time: bool = False, seed: int = 0
) -> Comparison:
    """Compare two runs, with the paired differences of their headline numbers.

    Args:
        before: The earlier run, or A.
        after: The later run, or B.
        pairs: Pairs of models to compare; None for the pairs of `model_pairs`.
        over_time: True if the runs are of one study; see the last table in the module's docstring.
        seed: Seed of the resampling.

    Returns:
        The comparison. Its `numbers` are rows of `ModelDifference` with a column `group`; each row is over at least one
        pair of items.
    """
    pairs = model_pairs(before.models, after.models, over_time=over_time) if pairs is None else pairs
    return compare_items(before, after, pairs, paired_numbers(before, after, pairs, over_time=over_time, seed=seed))


def paired_numbers(
    before: Snapshot, after: Snapshot, pairs: Iterable[Pair], *, over_time: bool, seed: int
) -> list[Row]:
    """Return the paired differences of each pair of models, with p_adjusted and directions."""
    rows = list[Row]()
    for earlier, later in pairs:
        runs = [(earlier, before.select(earlier)), (later, after.select(later))]
        # A - B for two studies, now - before over time
        (first, first_frames), (second, second_frames) = reversed(runs) if over_time else runs
        names = {"model": first[0], "dtype": first[1], "against_model": second[0], "against_dtype": second[1]}
        both = _concat_models(first_frames, second_frames)
        rows += [{**row, **names, "group": group_of(row)} for row in differences(both, seed) if row["n"]]
    return add_directions(adjust(rows, ())) if over_time else adjust_differences(rows)


def unmatched_items(comparison: Comparison) -> dict[Pair, dict[str, list[tuple[str, str]]]]:
    """Return, for each pair of models, phrases on items without a counterpart, such as "3 of 5 in A not asked in B".

    Each phrase has a list of (quantity, group) to which the phrase applies.
    """
    phrases_by_pair = dict[Pair, dict[str, list[tuple[str, str]]]]()
    for pair in comparison.pairs:
        frames = comparison.before.select(pair[0]), comparison.after.select(pair[1])
        all_items = {"A": _item_ids(frames[0]), "B": _item_ids(frames[1])}
        for quantity, group, models in items_by_model(_concat_models(*frames)):
            # `_concat_models` named the models A and B, like the runs.
            counted_items = {about["model"]: {*frame["item"]} for about, frame in models}
            no_value = NO_VALUE.get(quantity, "without a score")
            parts = [
                f"{count} of {len(counted_items[run])} in {run} {reason} in {other}"
                for run, other in ("AB", "BA")
                if run in counted_items
                for missing in [counted_items[run] - counted_items.get(other, set())]
                for reason, count in _reasons(missing, all_items[other], no_value).items()
            ]
            if parts:
                quantities_by_phrase = phrases_by_pair.setdefault(pair, {})
                quantities_by_phrase.setdefault(", ".join(parts), []).append((quantity, group_of(group)))
    return phrases_by_pair


def compare_items(
    before: Snapshot,
    after: Snapshot,
    pairs: Sequence[Pair],
    numbers: Sequence[Row] = (),
    *,
    both_completed: bool | None = None,
) -> Comparison:
    """Compare the items of two snapshots.

    Args:
        before: The earlier run, or A.
        after: The later run, or B.
        pairs: Pairs of models to compare, see `model_pairs`.
        numbers: Paired differences of headline numbers.
        both_completed: True if both runs are completed, and so have all of their settings. None: True if both
            snapshots have the setting PROGRAM; a snapshot with only changed items may lack this setting.
    """
    flips, counts_of_others = _replies(before, after, pairs)
    if both_completed is None:
        both_completed = PROGRAM in before.settings and PROGRAM in after.settings
    settings = _setting_changes(before.settings, after.settings, both_completed=both_completed)
    return Comparison(
        before, after, pairs, settings, dataset_changes(before.dataset, after.dataset), flips, counts_of_others, numbers
    )


def model_pairs(before: Iterable[ModelKey], after: Iterable[ModelKey], *, over_time: bool) -> list[Pair]:
    """Return the models that are compared with each other.

    Args:
        before: All models of the earlier run, or of A.
        after: All models of the later run, or of B.
        over_time: True if the runs are of one study; a model of only one run is then paired with itself, too.
    """
    first, second = sorted(set(before)), sorted(set(after))
    same = [model for model in first if model in second]
    if not same and (not over_time or len(first) == len(second) == 1):
        return [*product(first, second)]
    return [(model, model) for model in (sorted({*first, *second}) if over_time else same)]


def changes_of_run(changes: "pd.DataFrame", numbers: "pd.DataFrame") -> RunChanges | None:
    """Return the changes of a run; None for the first run.

    Args:
        changes: Rows of the named query `changes_of_runs` for this run.
        numbers: Rows of the named query `headline_numbers_over_time` for all runs.
    """
    import pandas as pd  # here, because the command `status` imports this module and needs no frame

    if changes.empty:
        return None
    change_rows = changes.astype(object).where(changes.notna(), None).to_dict("records")
    states = {"state_before": dict[Any, str](), "state": dict[Any, str]()}
    for row in change_rows:
        for column, items in states.items():
            if row[column]:
                items[row["kind"], row["model"], row["dtype"], row["item"]] = row[column]
    run_row = next((row for row in change_rows if row["kind"] == "run"), None)
    if run_row is None:
        return None
    # The item of kind "run" has the number of a run and the time of its end, before and now.
    before, now = (json.loads(run_row[column] or "{}") for column in states)
    number_rows = [numbers[numbers["run"] == run.get("run")].to_dict("records") for run in (before, now)]
    models = (  # a model without changes still has headline numbers
        models_of(items) | {(row["model"], row["dtype"]) for row in rows}
        for items, rows in zip(states.values(), number_rows, strict=True)
    )
    pairs = model_pairs(*models, over_time=True)
    stored_differences = [_stored_difference(row) for row in number_rows[1] if not pd.isna(row["change"])]
    snapshots = [Snapshot.from_items(items) for items in states.values()]  # with only the changed items
    comparison = compare_items(snapshots[0], snapshots[1], pairs, stored_differences, both_completed=True)
    return RunChanges(now["run"], before.get("completed_at", ""), comparison)


def _stored_difference(row: dict[str, Any]) -> dict[str, Any]:
    """Return the paired difference of a stored headline number, in the columns of `Comparison.numbers`."""
    return {
        **{name: row[name] for name in ("model", "dtype", "quantity", "group", "unit", "p", "p_adjusted", "direction")},
        "against_model": row["model"],
        "against_dtype": row["dtype"],
        "n": row["same"],  # the number of items that both runs have
        "mean": row["mean_before"] + row["change"],
        "against_mean": row["mean_before"],
        "difference": row["change"],
        "low": row["change_low"],
        "high": row["change_high"],
        "margin": None,
        "untestable": None,
    }


# ---- headline numbers ------------------------------------------------------------------------------------------------


def _concat_models(first: Frames, second: Frames) -> Frames:
    """Return the frames of two models together, with the names A and B in place of the models' names."""
    import pandas as pd  # here, because the command `status` imports this module and needs no frame

    return {
        query: pd.concat([first[query].assign(model="A"), second[query].assign(model="B")], ignore_index=True)
        for query in MODEL_QUERIES
    }


def _item_ids(frames: Frames) -> set[str]:
    """Return the ids of a model's questions, questions under a context, and queries, like those of `items_by_model`."""
    replies, queries = (frames[name] for name in MODEL_QUERIES)
    items = replies["question_id"].astype(str) + BETWEEN + replies["context_id"]
    return {*replies["question_id"], *items, *queries["query_id"]}


def _reasons(missing: Collection[str], item_ids: Collection[str], no_value: str) -> Counter[str]:
    """Count the reasons why the missing items have no value in a run.

    Args:
        missing: Ids of the items.
        item_ids: Ids of all items of the run, also of items without a value.
        no_value: Reason for an item that the run has, but without a value.
    """

    def reason(item: str) -> str:
        if item in item_ids:
            return no_value
        question_id = item.partition(BETWEEN)[0]
        return "asked with other texts" if question_id in item_ids else "not asked"

    return Counter(map(reason, sorted(missing)))


def differences(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `ModelDifference` for each pair of models; p_adjusted, margin and direction are still None."""
    models_of_frames = (frame[[*MODEL]].drop_duplicates().to_numpy() for frame in frames.values())
    if len({tuple(model) for models in models_of_frames for model in models}) < 2:
        return []
    rows: list[Row] = []
    for quantity, group, models in items_by_model(frames):
        values_by_item = [(model, items.set_index(["cluster", "item"])["value"]) for model, items in models]
        pairs_of_models, values_of_both = [], []
        for (first, first_values), (second, second_values) in combinations(values_by_item, 2):
            pairs_of_models.append((first, second))
            values_of_both.append(first_values.to_frame().join(second_values.rename("against"), how="inner"))
        samples = [(both["value"] - both["against"], both.index.get_level_values("cluster")) for both in values_of_both]
        results = paired_differences(samples, seed, shares=UNITS[quantity] == SHARE)
        for (model, against), both, result in zip(pairs_of_models, values_of_both, results, strict=True):
            rows.append(
                {
                    **model,
                    "relation": ALL,
                    **group,
                    "against_model": against["model"],
                    "against_dtype": against["dtype"],
                    "quantity": quantity,
                    "unit": UNITS[quantity],
                    "mean": float(both["value"].mean()) if len(both) else None,
                    "against_mean": float(both["against"].mean()) if len(both) else None,
                    **result._asdict(),
                    "p_adjusted": None,
                    "margin": None,
                    "direction": None,
                }
            )
    return rows


def adjust_differences(rows: list[Row]) -> list[Row]:
    """Return the rows with p_adjusted, margin and direction; the quantities of DECISIVE are a family of their own."""
    adjust([row for row in rows if row["quantity"] in DECISIVE], ())
    adjust([row for row in rows if row["quantity"] not in DECISIVE], ())
    return add_directions(rows)


def add_directions(rows: list[Row]) -> list[Row]:
    """Add the margin and the direction to rows with adjusted p-values."""
    for row in rows:
        means = (row["mean"], row["against_mean"])
        relative = row["unit"] == "nats" and None not in means
        margin = MARGIN_OF_MEAN * sum(means) / 2 if relative else MARGIN
        row |= {"margin": margin, "direction": direction_of(row, row["p_adjusted"], margin)}
    return rows


def direction_of(row: Row, p: float | None, margin: float) -> str | None:
    """Return the direction of a difference from its interval and its p-value; None without a p-value."""
    if p is None:
        return None
    if p <= ALPHA and not row["low"] <= 0 <= row["high"]:
        return UP if row["low"] > 0 else DOWN
    return EQUAL if max(-row["low"], row["high"]) <= margin else UNDECIDED


DIFFERENCES = Statistic(
    "model_differences",
    13,
    ModelDifference,
    MODEL_QUERIES,
    lambda frames, seed: adjust_differences(differences(frames, seed)),
)


# ---- settings and replies --------------------------------------------------------------------------------------------


def _setting_changes(
    before: Mapping[str, str], after: Mapping[str, str], *, both_completed: bool
) -> list[SettingChange]:
    def is_compared(name: str) -> bool:
        if name in before and name in after:
            return True
        # Only one run has the setting. If the setting is not of a model, it is a change if the other run would have
        # recorded it. A completed run records all settings, and an unfinished run only those of its study file.
        return not MODEL_SETTING.match(name) and (both_completed or bool(STUDY_SETTING.match(name)))

    changes = [SettingChange(name, before.get(name), after.get(name)) for name in sorted({*before, *after})]
    return [change for change in changes if change.before != change.after and is_compared(change.name)]


def _replies(before: Snapshot, after: Snapshot, pairs: Iterable[Pair]) -> tuple[list[FlippedReply], Counter[str]]:
    flips, counts_of_others = list[FlippedReply](), Counter[str]()
    for pair in pairs:
        flipped, counts = _replies_of_pair(before.select(pair[0])[REPLIES], after.select(pair[1])[REPLIES], pair)
        flips += flipped
        counts_of_others.update(counts)
    flips.sort(key=lambda flip: (flip.question, flip.condition, flip.after))
    return flips, +counts_of_others  # without kinds of count 0


def _replies_of_pair(before: Frame, after: Frame, pair: Pair) -> tuple[list[FlippedReply], dict[str, int]]:
    """Return the flipped replies of two models, and the numbers of other changes, such as "in other words"."""
    if before.empty and after.empty:  # pandas cannot merge texts from an empty table of Arrow
        return [], {}
    merged = before.merge(after, on=[*IDS["reply"]], how="outer", suffixes=("_before", ""), indicator="side")
    is_new, is_gone = merged["side"] == "right_only", merged["side"] == "left_only"
    has_same_texts = ~is_new & ~is_gone & (merged["texts"] == merged["texts_before"])
    judged, judged_before = merged["verdict"].notna(), merged["verdict_before"].notna()
    is_flip = has_same_texts & judged & judged_before & (merged["verdict"] != merged["verdict_before"])
    is_judged_once = has_same_texts & (judged != judged_before)
    rest = merged[has_same_texts & ~is_flip & ~is_judged_once]
    has_other_words = rest["answer"].fillna("") != rest["answer_before"].fillna("")
    score_columns = [name for name in REPLY_COLUMNS if name not in ("texts", "verdict", "answer")]
    has_other_scores = ~has_other_words & _differ(rest, score_columns)
    counts = {
        "asked for the first time": is_new.sum(),
        "asked no more": is_gone.sum(),
        "asked with other texts": (~is_new & ~is_gone & ~has_same_texts).sum(),
        "judged in one run only": is_judged_once.sum(),
        "in other words": has_other_words.sum(),
        "with other scores": has_other_scores.sum(),
    }
    columns = ["question_id", "question", "condition", "answer_before", "answer", "verdict_before", "verdict"]
    rows = merged.loc[is_flip, columns].itertuples(index=False, name=None)
    flips = [
        FlippedReply(question_id, question, condition, *pair, _text(reply_before), _text(reply), *verdicts)
        for question_id, question, condition, reply_before, reply, *verdicts in rows
    ]
    return flips, {kind: int(count) for kind, count in counts.items()}


def _text(reply: object) -> str:
    return reply if isinstance(reply, str) else ""


def _differ(merged: Frame, names: Iterable[str]) -> Any:
    """Return True for each row in which a column differs between the runs."""
    differs = merged["side"] != merged["side"]  # False in every row
    for name in names:
        before, after = merged[f"{name}_before"], merged[name]
        if before.dtype.kind == "f":
            before, after = before.round(DIGITS), after.round(DIGITS)
        has_both = before.notna() & after.notna()
        differs |= (before.isna() != after.isna()) | (has_both & (before != after).fillna(value=False))
    return differs


# ---- facts and questions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rules:
    """Rules by which two versions of facts, or of questions, are compared.

    Attributes:
        fields: Compared fields.
        order: Sort key of a row.
        identity: (old rows, new rows) -> a function from a row to the value that identifies its subject.
        equalities: Conditions, the strictest first: (old row, new row) of one subject -> True if both rows are versions
            of one fact or question.
    """

    fields: tuple[str, ...]
    order: Callable[[Any], tuple[str, ...]]
    identity: Callable[[Sequence[Any], Sequence[Any]], Callable[[Any], Hashable]]
    equalities: tuple[Callable[[Any, Any], bool], ...]


def dataset_changes(old: Dataset, new: Dataset) -> DatasetChanges:
    """Compare the facts and questions of two datasets."""
    facts = _rows_difference(old.facts, new.facts, _FACTS)
    questions = _rows_difference(old.questions, new.questions, _QUESTIONS)
    return DatasetChanges(old, new, *facts, *questions)


def _rows_difference(
    old: Sequence[Any], new: Sequence[Any], rules: _Rules
) -> tuple[tuple[RelationChanges, ...], tuple[str, ...]]:
    """Return the changes of each relation, and the fields that only one of the two datasets has."""
    not_compared = tuple(name for name in rules.fields if old and new and _has_any(old, name) != _has_any(new, name))
    fields = [name for name in rules.fields if name not in not_compared]
    by_relation: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((old, new)):
        for row in rows:
            by_relation[row.relation][side].append(row)
    return tuple(
        _relation_changes(name, *by_relation[name], rules, fields) for name in sorted(by_relation)
    ), not_compared


def _has_any(rows: Iterable[Any], field: str) -> bool:
    return any(getattr(row, field) is not None for row in rows)


def _changes(old: Any, new: Any, fields: Iterable[str]) -> tuple[FieldChange, ...]:
    """Return the fields in which two rows differ, compared by `_value`."""
    both = ((field, _value(old, field), _value(new, field)) for field in fields)
    return tuple(FieldChange(field, before, after) for field, before, after in both if before != after)


def _relation_changes(
    name: str, old: Sequence[Any], new: Sequence[Any], rules: _Rules, fields: Sequence[str]
) -> RelationChanges:
    """Match the old and new rows of each subject by `rules.equalities`; rows without a match are gone or added."""
    identity = rules.identity(old, new)
    unmatched_old, unmatched_new = defaultdict[Hashable, list[Any]](list), defaultdict[Hashable, list[Any]](list)
    for rows, by_subject in ((old, unmatched_old), (new, unmatched_new)):
        for row in sorted(rows, key=rules.order):
            by_subject[identity(row)].append(row)
    matched = []
    for subject, old_rows in unmatched_old.items():
        new_rows = unmatched_new[subject]
        for is_same in rules.equalities:
            for row in list(old_rows):
                if (match := next((other for other in new_rows if is_same(row, other)), None)) is not None:
                    old_rows.remove(row)
                    new_rows.remove(match)
                    matched.append(ChangedRow(row, match, _changes(row, match, fields)))
    changed = sorted((row for row in matched if row.changes), key=lambda row: rules.order(row.new))
    gone, added = (tuple(sorted(chain(*rows.values()), key=rules.order)) for rows in (unmatched_old, unmatched_new))
    return RelationChanges(name, added, gone, tuple(changed), len(matched) - len(changed))


def _value(row: Fact | Question, field: str) -> Value:
    """Return a field's value for the comparison; lists are sorted, except the contexts of a user's question."""
    if field == "contexts":  # DynamicQA's two contexts are compared as fields of their own
        contexts = row.contexts if isinstance(row, Question) and row.is_own else ()
        return tuple(
            f"{context.context_id}, {context.condition}, {'; '.join(context.answers)}: {context.text}"
            for context in contexts
        )
    value: Value = getattr(row, field)
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def _fact_identity(old: Sequence[Fact], new: Sequence[Fact]) -> Callable[[Fact], Hashable]:
    with_iris = _has_any(old, "subject_uri") and _has_any(new, "subject_uri")
    return lambda fact: ("IRI", fact.subject_uri) if with_iris and fact.subject_uri else ("name", fact.subject)


def _same_object(old: Any, new: Any, identifier: str = "object_uri") -> bool:
    """Return True if two rows have the same object: by its identifier if both have it, else by its name."""
    before, after = getattr(old, identifier), getattr(new, identifier)
    return bool(before == after) if before and after else bool(old.object == new.object)


_FACTS = _Rules(
    fields=FACT_FIELDS,
    order=lambda fact: (fact.subject, fact.subject_uri or "", fact.object),
    identity=_fact_identity,
    equalities=(
        lambda old, new: not _changes(old, new, FACT_FIELDS),
        _same_object,
        lambda old, new: True,  # the rows that are still left: the object has changed
    ),
)


def _question_identity(old: Sequence[Question], new: Sequence[Question]) -> Callable[[Question], Hashable]:
    """Return the function that identifies a question's subject, by the ids that both datasets have."""
    with_ids = _has_any(old, "subject_id") and _has_any(new, "subject_id")
    with_properties = _has_any(old, "property_id") and _has_any(new, "property_id")

    def identity(question: Question) -> Hashable:
        if question.partition == "disputable":
            return "page", question.page or question.subject
        relation = question.property_id if with_properties else None
        is_named = not (with_ids and question.subject_id)
        return ("name", question.subject, relation) if is_named else ("id", question.subject_id, relation)

    return identity


def _same_answers(old: Question, new: Question) -> bool:
    """Return True for equal answers; the two answers of a dispute may have changed sides."""
    if old.partition == "disputable":
        before, after = ({row.object.casefold(), row.replacement.casefold()} for row in (old, new))
        return before == after
    return _same_object(old, new, "object_id")


_QUESTIONS = _Rules(
    fields=QUESTION_FIELDS,
    order=lambda row: (row.subject, row.subject_id or "", row.object, row.replacement, row.question),
    identity=_question_identity,
    equalities=(
        lambda old, new: not _changes(old, new, QUESTION_FIELDS),
        lambda old, new: old.original_context == new.original_context and _same_answers(old, new),
        _same_answers,
        lambda old, new: old.partition != "disputable",  # other answers of a page are another dispute
    ),
)
