"""Tables that put models side by side, say where two of them differ, how long their susceptibilities took; what a study
and the papers asked with, and the corpus in which names were counted."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from swaymeter.data.catalog import PublishedValue, paper_items, published
from swaymeter.data.records import OWN_CONDITIONS
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports.estimates import (
    MAX_NAMED,
    direction,
    estimate,
    judged,
    limits,
    plural,
    served_beside,
    span,
    thinking,
)
from swaymeter.reports.frames import Frames, in_order, records, where
from swaymeter.reports.models import RUNS, Model, models, rows_of
from swaymeter.reports.published import with_published
from swaymeter.reports.tables.table import Table
from swaymeter.reports.words import CONDITION_NAMES, quantities

FEW = "too few"
"""Cell in place of a share of too few items for an interval."""


def _in_words(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    names = quantities(own=bool(frame[column].isin(OWN_CONDITIONS).any()))
    rows = in_order(frame, quantity=names)
    rows = rows.assign(**{"quantity": rows["quantity"].map(names), column: rows[column].replace(dict(CONDITION_NAMES))})
    return rows.reset_index(drop=True)


def _with_group(frame: pd.DataFrame) -> pd.DataFrame:
    """Differences with the column `group`: the context before the question, or the type of a query."""
    return (
        frame.assign(group=frame["condition"].where(frame["condition"] != "all", frame["query_type"]))
        if len(frame)
        else frame
    )


def _differences(frames: Frames) -> pd.DataFrame:
    frame = _with_group(frames["model_differences"])
    frame = frame.assign(against=frame["against_model"] + " (" + frame["against_dtype"] + ")")
    columns = (
        "against",
        "quantity",
        "group",
        "direction",
        "mean",
        "against_mean",
        "difference",
        "low",
        "high",
        "unit",
        "p_adjusted",
        "n",
        "clusters",
        "margin",
        "untestable",
    )
    return _in_words(frame, "group")[["model", "dtype", *columns]]


def _at_a_glance(frames: Frames) -> pd.DataFrame:
    """A row for each quantity and group, a column for each model; of two models, whether they differ.

    None of more models than a page has room for.
    """
    frame = frames["models_side_by_side"]
    if len(models(frame)) > MAX_NAMED:
        return pd.DataFrame()
    means = {(row["quantity"], row["group"], str(Model(row["model"], row["dtype"]))): row for row in records(frame)}
    names = [str(model) for model in models(frame)]
    differ = {
        (row["quantity"], row["group"]): direction(row) for row in records(_with_group(frames["model_differences"]))
    }
    rows = []
    for quantity, group in dict.fromkeys((quantity, group) for quantity, group, _ in means):
        model_means = [means.get((quantity, group, name)) for name in names]
        cells = {
            name: "" if not row else FEW if row["unit"] == SHARE and row["n"] < FEWEST_FOR_INTERVAL else estimate(row)
            for name, row in zip(names, model_means, strict=True)
        }
        differs = {"direction": differ.get((quantity, group), "")} if len(names) == 2 else {}
        unit = next(row["unit"] for row in model_means if row)
        rows.append({"quantity": quantity, "group": group, **cells, "n": _counts(model_means), **differs, "unit": unit})
    shown = _in_words(pd.DataFrame(rows), "group")
    units = shown.pop("unit")
    shown["quantity"] += [f" ({unit})" * (unit != SHARE) for unit in units]
    narrow = shown["group"].str.removesuffix(" context").str.removesuffix(" passage")  # the caption says so
    return shown.assign(group=narrow)


def _counts(rows: Iterable[Mapping[str, Any] | None]) -> str:
    """Return the number of replies or queries, and of questions, subjects or entities."""
    present = [row for row in rows if row]
    n, clusters = (
        span(*(pick(int(row[name]) for row in present) for pick in (min, max))) for name in ("n", "clusters")
    )
    things = plural(max(int(row["clusters"]) for row in present), present[0]["interval_over"]).partition(" ")[2]
    over = f"{clusters} {things}"
    return over if n == clusters else f"{n} ({over})"


AT_A_GLANCE = Table(
    "models-at-a-glance",
    "The models at a glance",
    "Shares of greedy answers, and means, with 95% intervals over what n names last; a group is the context "
    "before the question, or the type of a query. Where nothing changes: between two halves of the answers without a "
    "context. An answer counts once, so that a question counts as often as it has "
    f"contexts of the group. Of fewer than {FEWEST_FOR_INTERVAL} there is no interval, and of so few answers no share "
    f"({FEW}). Of two models, undecided: nothing shows that they differ on the items of both, nor that they do not; "
    "equal: their difference is shown to be within the margin.",
    ("models_side_by_side", "model_differences", "stand_ins", "unfinished_greedy_answers", "served_models"),
    _at_a_glance,
    note=lambda frames: (
        judged(frames["models_side_by_side"], frames["stand_ins"])
        + served_beside(frames["served_models"], frames["models_side_by_side"])
        + thinking(frames["unfinished_greedy_answers"])
        + limits(frames["unfinished_greedy_answers"])
    ),
    leads=True,
)
SIDE_BY_SIDE = Table(
    "models-side-by-side",
    "The models side by side",
    f"Means with 95% intervals over clusters, none of fewer than {FEWEST_FOR_INTERVAL}: what they are stands beside "
    "them. Of shares they are Wilson's, else bootstraps. Shares are of greedy answers, by their words; a group is the "
    "context before the question, or the type of a query. n counts answers, for susceptibility queries. The rows of a "
    "right and of a wrong answer count those to questions that the model answers so without a context.",
    ("models_side_by_side",),
    lambda frames: _in_words(frames["models_side_by_side"], "group"),
)
DIFFERENCES = Table(
    "differences-between-models",
    "Where two models differ",
    "The model's mean minus the other's, over the n answers or queries that both have, with the 95% interval over "
    "clusters: subjects (questions where none is named), or entities. p by turning signs, two-sided, after "
    "Benjamini-Hochberg over the rows on right and wrong passages, by which variants are chosen, and over all others; "
    "an interval is of its row alone. "
    "Larger or smaller: p is at most 0.05, and 0 outside the interval. Equal: the interval lies within the margin on "
    "both sides of 0. Undecided: neither.",
    ("model_differences",),
    _differences,
)


_MEASURE = "susceptibility"
_COLUMNS = ["model", "dtype", "contexts", "query_type", "queries", "mean", "low", "high", "published"]


def _susceptibilities(frames: Frames) -> pd.DataFrame:
    rows = []
    for model in models(present := where(frames["both_susceptibilities_summary"], measure=_MEASURE)):
        means = rows_of(present, model)
        means = in_order(means[means["grouped_by"].isna()], query_type=("all", "closed", "open"))
        coverage = records(rows_of(frames["coverage_of_susceptibility"], model))[0]
        contexts = span(coverage["fewest_contexts"], coverage["most_contexts"])
        means = with_published(means, frames[RUNS], ("liu-table-2",), published="mean_susceptibility")
        rows.append(means.assign(contexts=contexts)[_COLUMNS])
    shown = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=_COLUMNS)
    shown.attrs["units"] = dict.fromkeys(("mean", "low", "high", "published"), "nats")
    return shown


SUSCEPTIBILITIES = Table(
    "mean-susceptibility-of-models",
    "How far contexts sway each model",
    "Mean susceptibility over contexts (Monte Carlo) in nats, over all queries, closed and open ones, whatever their "
    "relation, with the 95% interval over entities. Contexts are those before a query: values from "
    "different numbers of them are not to be compared, for none can pass the logarithm of that number.",
    ("both_susceptibilities_summary", "coverage_of_susceptibility"),
    _susceptibilities,
    items=("liu-table-2",),
)
RUNTIME = Table(
    "runtime-of-susceptibilities",
    "How much faster is Fisher susceptibility?",
    "Time spent on the same queries by the same device: on susceptibility over contexts (their persuasion is what "
    "takes it), on Fisher susceptibility, and the first in multiples of the second. It grows with the contexts a "
    "query is asked with, and falls with the draws that estimate the whole vocabulary. Loading a model is not counted.",
    ("runtime_of_susceptibilities",),
    items=("liu-runtime",),
)


_ABOUT = ("models", "study", "contexts")
ITEMS = ("du-setup", "liu-setup", "marjanovic-setup")


def _rows(frames: Frames) -> pd.DataFrame:
    in_papers = dict[tuple[str, str | None], list[str]]()
    for value in (value for item in ITEMS for value in published(item)):
        in_papers.setdefault((value.quantity, value.by.get("partition")), []).append(f"{value.words} ({_of(value)})")
    rows = []
    for row in records(frames["setup"]):
        what, of = row["quantity"], row["of"]
        words = f"{of} {what}".strip()
        key = (what, of) if what == "questions" else (words.replace(" ", "_"), None)
        rows.append(
            {
                "what": words,
                "relations": row["relations"],
                "of_each": span(row["fewest"], row["most"]),
                "total": row["total"],
                "published": "; ".join(in_papers.get(key, [])),
            }
        )
    return pd.DataFrame(rows).astype({"total": "Int64"})


def _of(value: PublishedValue) -> str:
    """Of which models a value is, or of which study, and in which paper."""
    about = [f"of {words}" if key == "contexts" else words for key, words in value.by.items() if key in _ABOUT]
    return ", ".join([*about, paper_items()[value.item].paper.short])


SETUP = Table(
    "what-was-asked-with",
    "What was asked with",
    "Entities, queries, contexts and questions: in how many relations, of each of them (fewest to most), and in "
    "total. Contexts of a query are counted for each query; those that mention its entity are relevant. Every model "
    "was asked the same.",
    ("setup", "partition_means"),
    _rows,
    items=ITEMS,
)


SHARDS = Table(
    "corpus",
    "What was read of the corpus",
    "The files in which names were counted, or the index: documents, words, of an index tokens, bytes unpacked, what "
    "could not be read and was left out (lines; of a text file bytes), the first of it, and when it was counted (UTC).",
    ("corpus_summary",),
    items=("du-app-f.2",),
)
EXCLUDED = Table(
    "names-that-are-words",
    "Entities whose counts say nothing of them",
    "Entities that are left out of figures and correlations with a corpus, and why: how often the name stands there, "
    "and how often the same in small letters.",
    ("excluded_entities",),
    items=("du-app-f.2",),
)
