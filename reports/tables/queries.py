"""Tables about queries: tests, correlations, contexts and their wordings, entities in groups."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports.estimates import estimate
from swaymeter.reports.figures.effects import SHOWN
from swaymeter.reports.frames import Frames, as_published, in_order, records, unit_of, units
from swaymeter.reports.models import RUNS
from swaymeter.reports.published import ITEMS_WITH_TESTS, aliases, significant, with_published
from swaymeter.reports.style import QUERY_HUES
from swaymeter.reports.tables.table import Table


def _correlations(frames: Frames) -> pd.DataFrame:
    rows = frames["correlations"]
    # Captions of figures have the other correlations: over entities, with another precision, and with effect sizes.
    rows = rows[(rows["level"] != "entity") & (rows["measure_a"] != "susceptibility_reference")]
    rows = rows[rows["measure_b"] == "susceptibility"]
    keys = ["measure", "level", "model", "dtype"]
    rows = in_order(rows.rename(columns={"measure_a": "measure"}), query_type=[*QUERY_HUES, "all"]).sort_values(keys)
    published_columns = {"published_pearson": "pearson", "published_spearman": "spearman"}
    rows = with_published(rows, frames[RUNS], ("liu-table-1", "liu-fig-1"), **published_columns)
    is_fisher = rows["measure"].isin(["fisher", "fisher_top_k"])
    rows = rows.assign(**{name: rows[name].where(is_fisher, "") for name in published_columns})
    columns = [
        *keys,
        "query_type",
        "n",
        "pearson",
        "published_pearson",
        "pearson_p",
        "spearman",
        "published_spearman",
        "spearman_p",
        "untestable",
    ]
    return rows[columns].reset_index(drop=True)


def _tests(frames: Frames) -> pd.DataFrame:
    keys = ["comparison", "measure", "test", "unit_of_analysis", "model", "dtype"]
    rows = frames["statistics"].sort_values([*keys, "query_type", "relation"])
    shown = rows[[*keys, *SHOWN]].reset_index(drop=True)
    shown.attrs["units"] = units(rows)
    return shown


def _test_summary(frames: Frames) -> pd.DataFrame:
    rows, tests = [], frames["statistics_summary"]
    alias_of_model = aliases(tests["model"].unique(), frames[RUNS])
    tests = tests.assign(as_published=tests.index.isin(as_published(tests).index))
    for row in records(tests.sort_values(["model", "dtype", "comparison", "as_published"], kind="stable")):
        published = significant(alias_of_model[row["model"]], row["comparison"], row["query_type"])
        untestable = f"{row['untestable']}: {row['reasons']}" if row["untestable"] else ""
        share = _interval(row, "share_significant", "share", SHARE)
        significant_words = f"{row['significant']} of {row['tested']}, {share}" if row["tested"] else ""
        rows.append(
            {
                "model": row["model"],
                "dtype": row["dtype"],
                "comparison": f"{row['comparison']}: {row['asked']}",  # such as "familiarity: invented > real"
                "test": f"{row['test']} ({row['unit_of_analysis']}){', as published' if row['as_published'] else ''}",
                "queries": row["query_type"],
                "significant": significant_words,
                "published": published[0] if published else "",
                "mean_d": _interval(row, "mean_effect_size", "effect", ""),
                "untestable": untestable,
            }
        )
    return pd.DataFrame(rows)


def _interval(row: Mapping[str, Any], name: str, prefix: str, unit: str) -> str:
    """Return the number in column `name` with its interval (`prefix`_low, `prefix`_high); empty if it is missing."""
    value = {"mean": row[name], "low": row[f"{prefix}_low"], "high": row[f"{prefix}_high"], "unit": unit}
    return "" if pd.isna(row[name]) else estimate(value)


def _templates(frames: Frames) -> pd.DataFrame:
    """Return the templates by relation and form, the most persuasive first, with the mean of the form (gamma)."""
    form_columns = ["model", "dtype", "relation", "query_type", "form"]
    templates = frames["entity_independent_of_templates"]
    gamma = frames["entity_independent_of_forms"][[*form_columns, "mean"]].rename(columns={"mean": "gamma"})
    rows = templates.merge(gamma, on=form_columns, how="left").sort_values(
        [*form_columns, "mean"], ascending=[True] * 5 + [False]
    )
    columns = [*form_columns, "kind", "template", "contexts", "mean", "low", "high", "gamma"]
    shown = rows[columns].reset_index(drop=True)
    shown.attrs["units"] = {**units(templates), "gamma": unit_of(templates)}
    return shown


CONTEXTS = Table(
    "most-persuasive-contexts",
    "The contexts that persuade most, whatever the entity",
    "The 10 contexts with the largest entity-independent persuasion before queries of a type: the mean over the "
    "entities of a query form, here averaged over the forms of the type.",
    ("most_persuasive_contexts",),
)
CORRELATIONS = Table(
    "agreement-of-measures",
    "How far other measures agree with susceptibility",
    "Pearson's and Spearman's correlation of a measure with susceptibility, over queries or over the means of "
    "relations, with their two-sided p. A correlation that is not defined is a dash, with the reason.",
    ("correlations",),
    _correlations,
    items=("liu-table-1", "liu-section-5.2", "liu-fig-1"),
)
TEST_SUMMARY = Table(
    "summary-of-tests",
    "Summary of the tests",
    "A row is a comparison over all relations: the number of testable relations with a significant difference (p ≤ "
    "0.05 after Benjamini-Hochberg), and the mean of the finite signed effect sizes (Cohen's d, above zero if the "
    f"first group is larger), both with their 95% interval over relations (at least {FEWEST_FOR_INTERVAL}); then the "
    "number of relations without a test, and the reasons. The unit of analysis is in brackets. A test as published is "
    "a permutation test of the groups that takes each query or answer as independent. A test by entity compares the "
    "means of entities; if both groups have the same entities, it is a sign-flip permutation test of their "
    "differences. The regression controls for the length of the entity's name, with the queries of an entity as a "
    "cluster.",
    ("statistics_summary",),
    _test_summary,
    items=ITEMS_WITH_TESTS,
)
TESTS = Table(
    "tests-of-relations",
    "Every test, relation by relation",
    "Means in nats; p adjusted by Benjamini-Hochberg over relations within model, query type, comparison and test.",
    ("statistics",),
    _tests,
)
NAME_LENGTHS = Table(
    "name-lengths",
    "How long the names of real and invented entities are",
    "A row is the names of a relation's entities, in characters and in words; the relation 'all' pools every relation. "
    "Invented names that are longer may sway a model by their length alone: the regression among the tests controls "
    "for it.",
    ("name_lengths",),
    lambda frames: in_order(frames["name_lengths"], unit=("characters", "words")),
)
TEMPLATES = Table(
    "wordings-of-contexts",
    "How far each wording of contexts persuades, whatever the entity",
    "A template is the wording of contexts, with slots for the names. The mean (kappa) is over the contexts of a "
    "template before a query form, with the 95% interval over contexts; gamma is the mean over all contexts of the "
    "form.",
    ("entity_independent_of_templates", "entity_independent_of_forms"),
    _templates,
    items=("du-app-b",),
)


def _group_comparisons(frames: Frames) -> pd.DataFrame:
    rows = frames["group_comparisons"]
    shown = rows.drop(columns=["unit", "statistic"])
    shown.attrs["units"] = units(rows)
    return shown


GROUP_COMPARISONS = Table(
    "tests-of-groups",
    "Every test between groups, sets and kinds of contexts",
    "The unit of a test is an entity (a name or a pair), with the mean over its queries; all tests are two-sided. "
    "Labels of entities, such as friends and enemies, and their types are compared by a permutation test of the "
    "entities. Sets of contexts, and contexts about the queried entity with different labels or strengths, are "
    "compared by a sign-flip permutation test of the entities' differences. p is adjusted by "
    "Benjamini-Hochberg over the tests of a model, query type and comparison; d is Cohen's, above zero if the first "
    "group's mean is larger.",
    ("group_comparisons",),
    _group_comparisons,
)
ENTITIES = Table(
    "entities-of-groups",
    "Every entity of the groups",
    "A row is an entity (a name or a pair), with its label, its type if it has one, and the mean susceptibility over "
    "its queries of a query type.",
    ("susceptibility_of_labelled_entities",),
    items=("du-table-1",),
)
EXTREMES = Table(
    "most-and-least-susceptible",
    "The most and the least susceptible entities",
    "The five entities (names or pairs) that contexts of a set sway furthest, and the five that they sway least, by "
    "the mean over the queries of a type.",
    ("most_and_least_susceptible",),
)
