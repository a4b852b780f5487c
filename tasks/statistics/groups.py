"""Comparisons of labelled entities: names by gender, friends with enemies, or any groups of a study.

The unit of analysis is an entity (a name, or a pair) with the mean over its queries of one query type. Queries about
one entity depend on each other, so a query is not a row of a test. All tests are two-sided. A relation is a set of
contexts. A type is the type of an entity, not of a query.

    label     two labels of entities, such as friends and enemies, after one set of contexts: entities are permuted
              between the labels; there is also a test within each type
    type      entities of one type and entities of all other types: entities are permuted between the groups
    set       the same queries after two sets of contexts: signs of the differences are flipped; there is also a test
              within each label
    context   two labels of contexts about the queried entity, such as positive and negative: signs are flipped
    strength  the largest and the smallest strength (a whole number) of contexts with one label about the queried
              entity: signs are flipped

p_adjusted is over the tests of a model, query type and comparison.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 6 and appendix G. Their unit
of analysis is a query.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from swaymeter.data.records.statistics import GroupComparison, Summary
from swaymeter.tasks.statistics.formulas.groups import Scores, adjust, scores
from swaymeter.tasks.statistics.formulas.permutation import permutation
from swaymeter.tasks.statistics.frames import ALL, iter_groups, means, sort_frame
from swaymeter.tasks.statistics.group_tests import PERMUTATION, SIGN_FLIP, columns_of
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import QUERY_TYPE, RELATION, Mean

SUSCEPTIBILITY, PERSUASION = "susceptibility_of_labels", "persuasion_by_label"
OTHERS = "other types"


class GroupPair(NamedTuple):
    """Two groups of scores of entities that are compared.

    Attributes:
        about: the model, relation and query type by column.
        comparison: label, type, set, context or strength; see the module.
        within: the type or label of all compared entities, or the label of all contexts; "all" without a restriction.
        names: the names of both groups.
        groups: the scores of both groups.
    """

    about: Row
    comparison: str
    within: str
    names: tuple[str, str]
    groups: tuple[Scores, Scores]


def compare_within_sets(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `GroupComparison` within each set of contexts."""
    entities = _entity_means(frames[SUSCEPTIBILITY], ["type"], "susceptibility")
    contexts = _entity_means(frames[PERSUASION], ["relevant", "context_label", "strength"], "persuasion")
    unpaired = [
        pair
        for about, rows in iter_groups(entities, RELATION)
        for pair in (*_label_pairs(about, rows), *_type_pairs(about, rows))
    ]
    relevant = contexts[contexts["relevant"] == "True"]  # a text, because _entity_means makes texts of its keys
    paired = [pair for about, rows in iter_groups(relevant, RELATION) for pair in _context_pairs(about, rows)]
    rows = _test_rows(unpaired, "susceptibility", seed, paired=False) + _test_rows(
        paired, "persuasion", seed, paired=True
    )
    return _adjust_rows(rows)


def compare_sets(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `GroupComparison` between sets of contexts."""
    entities = _entity_means(frames[SUSCEPTIBILITY], [], "susceptibility")
    pairs = []
    for about, rows in iter_groups(entities, QUERY_TYPE):
        for within, subset in [(ALL, rows), *_rows_by_value(rows, "label").items()]:
            by_set = _rows_by_value(subset, "relation")
            for a, b in combinations(by_set, 2):
                groups = _paired_means(by_set[a], by_set[b], "susceptibility")
                pairs.append(GroupPair({**about, "relation": ALL}, "set", within, (a, b), groups))
    return _adjust_rows(_test_rows(pairs, "susceptibility", seed, paired=True))


def _adjust_rows(rows: list[Row]) -> list[Row]:
    keys = ("comparison", "within", "group_a", "group_b", "measure", *RELATION)
    rows = sorted(rows, key=lambda row: [row[name] for name in keys])
    return adjust(rows, ("model", "dtype", "query_type", "comparison"))


def summarise(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `Summary`: susceptibility by label and type, persuasion by label and strength of the context."""
    entities = _entity_means(frames[SUSCEPTIBILITY], ["type"], "susceptibility")
    contexts = _entity_means(frames[PERSUASION], ["relevant", "context_label", "strength"], "persuasion")
    typed = entities[entities["type"] != ""]
    # The column `about`: relevant contexts are about the query's entity ("the same"), other contexts about "others".
    labelled_contexts = contexts.assign(about=contexts["relevant"].map({"True": "the same", "False": "others"}))
    label_means, type_means = (
        Mean("susceptibility", (*RELATION, *keys), "entity", interval=True, quantiles=True)
        for keys in (["label"], ["label", "type"])
    )
    strength_means = Mean(
        "persuasion", (*RELATION, "label", "about", "context_label", "strength"), "entity", interval=True
    )
    return [*label_means.rows(entities), *type_means.rows(typed), *strength_means.rows(labelled_contexts)]


def _entity_means(frame: Frame, keys: Sequence[str], measure: str) -> Frame:
    """Return the mean of each entity for each combination of `keys`, whose values become texts, "" if missing."""
    frame = frame.assign(**{name: _texts(frame[name]) for name in keys})
    columns = [*RELATION, "label", *keys, "entity"]
    return means(sort_frame(frame, [*columns, "query_id"]), columns, measure)


def _texts(values: Any) -> list[str]:
    return ["" if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]


def _rows_by_value(rows: Frame, column: str) -> dict[str, Frame]:
    return {str(about[column]): group for about, group in iter_groups(rows, [column])}


def _types(rows: Frame) -> list[str]:
    return sorted({str(name) for name in rows["type"]} - {""})


def _label_pairs(about: Row, rows: Frame) -> Iterator[GroupPair]:
    """Yield all pairs of labels, over all types and within each type."""
    for within in (ALL, *_types(rows)):
        rows_within = rows if within == ALL else rows[rows["type"] == within]
        by_label = _rows_by_value(rows_within, "label")
        for a, b in combinations(by_label, 2):
            groups = scores(by_label[a]["susceptibility"]), scores(by_label[b]["susceptibility"])
            yield GroupPair(about, "label", within, (a, b), groups)


def _type_pairs(about: Row, rows: Frame) -> Iterator[GroupPair]:
    """Yield every type against all other types; entities without a type are in neither group."""
    rows = rows[rows["type"] != ""]
    types = _types(rows)
    for name in types if len(types) > 1 else ():
        is_type = rows["type"] == name
        groups = scores(rows.loc[is_type, "susceptibility"]), scores(rows.loc[~is_type, "susceptibility"])
        yield GroupPair(about, "type", ALL, (name, OTHERS), groups)


def _context_pairs(about: Row, rows: Frame) -> Iterator[GroupPair]:
    by_label = _rows_by_value(rows, "context_label")
    for a, b in combinations(by_label, 2):
        yield GroupPair(about, "context", ALL, (a, b), _paired_means(by_label[a], by_label[b], "persuasion"))
    for label, subset in by_label.items():
        strengths = sorted({int(value) for value in subset["strength"] if value})
        if len(strengths) > 1:
            smallest, largest = strengths[0], strengths[-1]
            low, high = subset[subset["strength"] == str(smallest)], subset[subset["strength"] == str(largest)]
            names = (f"strength {largest}", f"strength {smallest}")
            yield GroupPair(about, "strength", label, names, _paired_means(high, low, "persuasion"))


def _paired_means(a: Frame, b: Frame, measure: str) -> tuple[Scores, Scores]:
    """Return the means of the entities that both frames have, in the same order of entities."""
    first, second = (means(sort_frame(rows, ["entity"]), ["entity"], measure) for rows in (a, b))
    both = first.merge(second, on="entity", suffixes=("_a", "_b"))
    return scores(both[f"{measure}_a"]), scores(both[f"{measure}_b"])


def _test_rows(pairs: Sequence[GroupPair], measure: str, seed: int, *, paired: bool) -> list[Row]:
    groups = [pair.groups for pair in pairs]
    results = permutation(groups, "two-sided", seed, paired=paired)
    return [
        {
            "comparison": pair.comparison,
            "within": pair.within,
            "measure": measure,
            **pair.about,
            "test": SIGN_FLIP if paired else PERMUTATION,
            "unit": "nats",
            "group_a": pair.names[0],
            "group_b": pair.names[1],
            **columns_of(a, b, result),
        }
        for pair, (a, b), result in zip(pairs, groups, results, strict=True)
    ]


COMPARISONS = Statistic("group_comparisons", 4, GroupComparison, (SUSCEPTIBILITY, PERSUASION), compare_within_sets)
SET_COMPARISONS = Statistic("set_comparisons", 1, GroupComparison, (SUSCEPTIBILITY,), compare_sets)
MEANS = Statistic("group_means", 3, Summary, (SUSCEPTIBILITY, PERSUASION), summarise)
