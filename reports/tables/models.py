"""Tables of models (means, differences, runtimes), of the size of the study, and of the corpus that names occur in."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from swaymeter.data.catalog import PublishedValue, paper_items, published
from swaymeter.data.records import OWN_CONDITIONS
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports.estimates import (
    MAX_NAMED,
    direction,
    equivalence_sentence,
    estimate,
    incomplete_replies,
    plural,
    server_sentences,
    span,
    thinking_sentence,
)
from swaymeter.reports.frames import Frames, in_order, records, where
from swaymeter.reports.models import RUNS, Model, models, rows_of
from swaymeter.reports.published import with_published
from swaymeter.reports.tables.table import Table
from swaymeter.reports.words import CONDITION_NAMES, quantities

FEW = "too few"
"""Text of a cell whose share has too few items for an interval."""


def _in_words(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the rows sorted by quantity, with quantities and the groups of `column` in words."""
    names = quantities(own=bool(frame[column].isin(OWN_CONDITIONS).any()))
    rows = in_order(frame, quantity=names)
    rows = rows.assign(**{"quantity": rows["quantity"].map(names), column: rows[column].replace(dict(CONDITION_NAMES))})
    return rows.reset_index(drop=True)


def _with_group(frame: pd.DataFrame) -> pd.DataFrame:
    """Return differences with the column `group`: the context before the question, or the type of a query."""
    if frame.empty:
        return frame
    return frame.assign(group=frame["condition"].where(frame["condition"] != "all", frame["query_type"]))


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
    """Return a row for each quantity and group, with a column for each model; empty with too many models for a page."""
    frame = frames["models_side_by_side"]
    if len(models(frame)) > MAX_NAMED:
        return pd.DataFrame()
    means = {(row["quantity"], row["group"], str(Model(row["model"], row["dtype"]))): row for row in records(frame)}
    names = [str(model) for model in models(frame)]
    differences = records(_with_group(frames["model_differences"]))
    directions = {(row["quantity"], row["group"]): direction(row) for row in differences}
    rows = []
    for quantity, group in dict.fromkeys((quantity, group) for quantity, group, _ in means):
        model_means = [means.get((quantity, group, name)) for name in names]
        cells = {name: _cell(row) if row else "" for name, row in zip(names, model_means, strict=True)}
        row = {"quantity": quantity, "group": group, **cells, "n": _counts(model_means)}
        if len(names) == 2:
            row["direction"] = directions.get((quantity, group), "")
        rows.append(row | {"unit": next(mean["unit"] for mean in model_means if mean)})
    shown = _in_words(pd.DataFrame(rows), "group")
    units = shown.pop("unit")
    shown["quantity"] += [f" ({unit})" * (unit != SHARE) for unit in units]
    # The caption says that a group is a context, so "counter-memory context" becomes "counter-memory".
    groups = shown["group"].str.removesuffix(" context").str.removesuffix(" passage")
    return shown.assign(group=groups)


def _cell(row: Mapping[str, Any]) -> str:
    return FEW if row["unit"] == SHARE and row["n"] < FEWEST_FOR_INTERVAL else estimate(row)


def _counts(rows: Iterable[Mapping[str, Any] | None]) -> str:
    """Return the numbers of items and of clusters in words, such as "120 (40 questions)"."""
    present = [row for row in rows if row]
    counts = [[int(row[name]) for row in present] for name in ("n", "clusters")]
    n, clusters = (span(min(numbers), max(numbers)) for numbers in counts)
    noun = plural(max(counts[1]), present[0]["interval_over"]).partition(" ")[2]  # such as "questions"
    return f"{clusters} {noun}" if n == clusters else f"{n} ({clusters} {noun})"


AT_A_GLANCE = Table(
    "models-at-a-glance",
    "The models at a glance",
    "Shares of greedy answers, and means, with 95% intervals over the items that n names, such as questions; a group "
    "is the context before the question, or the type of a query. The noise floor of coherent persuasion is the score "
    "between two halves of the sampled answers without a context. A question counts once for each of its contexts of "
    f"the group. Fewer than {FEWEST_FOR_INTERVAL} items have no interval, and a share of so few is not shown ({FEW}). "
    "Direction compares two models on the items that both have: undecided if neither a difference nor equality is "
    "demonstrated, equal if the difference is demonstrated to be within the margin.",
    ("models_side_by_side", "model_differences", "stand_ins", "unfinished_greedy_answers", "served_models"),
    _at_a_glance,
    note=lambda frames: (
        equivalence_sentence(frames["models_side_by_side"], frames["stand_ins"])
        + server_sentences(frames["served_models"], frames["models_side_by_side"])
        + thinking_sentence(frames["unfinished_greedy_answers"])
        + incomplete_replies(frames["unfinished_greedy_answers"])
    ),
    is_summary=True,
)
SIDE_BY_SIDE = Table(
    "models-side-by-side",
    "The models side by side",
    f"Means with 95% intervals over clusters, if there are at least {FEWEST_FOR_INTERVAL}; a column names the "
    "clusters. Intervals of shares are Wilson's, others are bootstraps. Shares are of greedy answers; a group is "
    "the context before the question, or the type of a query. n counts answers, or queries for susceptibility. The "
    "row on giving up a right answer counts only questions that the model answers rightly without a context. The row "
    "on keeping a wrong answer counts only questions that the model answers wrongly without a context.",
    ("models_side_by_side",),
    lambda frames: _in_words(frames["models_side_by_side"], "group"),
)
DIFFERENCES = Table(
    "differences-between-models",
    "Differences between models",
    "The model's mean minus the other's, over the n answers or queries that both have, with the 95% interval over "
    "clusters: subjects, or entities for queries; a question without a subject is a cluster of its own. p is of a "
    "two-sided sign-flip permutation test. It is adjusted by Benjamini-Hochberg in two families: the rows on right and "
    "wrong passages, which decide the choice of a variant, and all other rows. Intervals are not adjusted. Larger or "
    "smaller: p is at most 0.05, and the interval excludes 0. Equal: the interval lies within the margin on both sides "
    "of 0. Undecided: neither a difference nor equality is demonstrated.",
    ("model_differences",),
    _differences,
)


_MEASURE = "susceptibility"
_COLUMNS = ["model", "dtype", "contexts", "query_type", "queries", "mean", "low", "high", "published"]


def _susceptibilities(frames: Frames) -> pd.DataFrame:
    rows = []
    summary = where(frames["both_susceptibilities_summary"], measure=_MEASURE)
    for model in models(summary):
        means = rows_of(summary, model)
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
    "Mean susceptibility over contexts (Monte Carlo) in nats, over all queries, over closed and over open queries "
    "of all relations, with the 95% interval over entities. The column contexts is the number of contexts before a "
    "query. No value can pass the logarithm of that number, so values from different numbers are not comparable.",
    ("both_susceptibilities_summary", "coverage_of_susceptibility"),
    _susceptibilities,
    items=("liu-table-2",),
)
RUNTIME = Table(
    "runtime-of-susceptibilities",
    "How much faster is Fisher susceptibility?",
    "Time for susceptibility over contexts (measured as the time for persuasion) and for Fisher susceptibility, on the "
    "same queries and device, and the ratio of the two times. The ratio grows with the contexts of a query, and "
    "falls with the number of draws of random signs by which Fisher susceptibility over the whole vocabulary is "
    "estimated. Loading a model is not counted.",
    ("runtime_of_susceptibilities",),
    items=("liu-runtime",),
)


_ABOUT = ("models", "study", "contexts")
"""Keys of `PublishedValue.by` that say where a published value comes from."""
ITEMS = ("du-setup", "liu-setup", "marjanovic-setup")
"""Items of the papers with the sizes of their studies."""


def _setup(frames: Frames) -> pd.DataFrame:
    in_papers = dict[tuple[str, str | None], list[str]]()
    for value in (value for item in ITEMS for value in published(item)):
        key = value.quantity, value.by.get("partition")
        in_papers.setdefault(key, []).append(f"{value.text} ({_origin(value)})")
    rows = []
    for row in records(frames["setup"]):
        quantity, part = row["quantity"], row["of"]
        words = f"{part} {quantity}".strip()  # such as "real entities" or "temporal questions"
        # A published number of questions has its partition in `by`; other quantities have names such as real_entities.
        key = (quantity, part) if quantity == "questions" else (words.replace(" ", "_"), None)
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


def _origin(value: PublishedValue) -> str:
    """Return the models, study or contexts of a published value, and its paper."""
    about = [f"of {words}" if key == "contexts" else words for key, words in value.by.items() if key in _ABOUT]
    return ", ".join([*about, paper_items()[value.item].paper.short])


SETUP = Table(
    "size-of-the-study",
    "Size of the study",
    "Entities, queries, contexts and questions: the number of relations or groups, the number in each (fewest to "
    "most), and the total. A context counts once, even if it stands before several queries; contexts that mention "
    "the query's entity are relevant. Every model was asked the same queries and questions.",
    ("setup", "partition_means"),
    _setup,
    items=ITEMS,
)


CORPUS = Table(
    "corpus",
    "Corpus in which names were counted",
    "A row is a file or an index in which names were counted. It has the number of documents, of words (tokens for an "
    "index) and of unpacked bytes. Then come the number of unreadable documents that were left out (bytes for a text "
    "file), the first of them, and the time of the count (UTC).",
    ("corpus_summary",),
    items=("du-app-f.2",),
)
EXCLUDED = Table(
    "names-that-are-words",
    "Entities without a usable count",
    "Entities that are left out of figures and correlations with a corpus: how often the name occurs in the corpus, "
    "how often the same word in lower case, and the reason.",
    ("excluded_entities",),
    items=("du-app-f.2",),
)
