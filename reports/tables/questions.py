"""Tables about questions: accuracy, persuasion, outcomes, words, sampled answers and rejected candidates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swaymeter.data.reasons import REASONS
from swaymeter.data.records import CONDITIONS
from swaymeter.reports.estimates import estimate, incomplete_replies, neither_sentences, plural
from swaymeter.reports.figures.distributions import class_bounds
from swaymeter.reports.frames import Frames, are_own, in_order, partitions, records
from swaymeter.reports.models import RUNS, models, rows_of
from swaymeter.reports.published import with_published
from swaymeter.reports.style import plain
from swaymeter.reports.tables.table import Table
from swaymeter.reports.words import CONDITION_NAMES, outcome

CONTEXTS = ("none", "all", *CONDITIONS[1:])
"""Order of contexts in tables; "none" is no context, and "all" pools every context."""
PREDICTORS = {
    "none": "none",
    "constant": "constant",
    "edits": "edits of the fact",
    "reversions": "reversions of the dispute",
    "object_popularity": "page views of the object",
    "subject_popularity": "page views of the subject",
    "semantic_entropy_without": "semantic entropy without the context",
    "semantic_entropy_with": "semantic entropy with the context",
    "semantic_entropy_length_normalised_without": "length-normalised semantic entropy without the context",
    "semantic_entropy_length_normalised_with": "length-normalised semantic entropy with the context",
}
"""Predictors of persuasion in words, in the order of tables."""
_GROUP = ["model", "dtype", "partition", "condition"]
_REGRESSION_TABLES = "marjanovic-table-3", "marjanovic-table-6", "marjanovic-table-7"


def drop_single_pools(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in order, without rows that pool a single partition or a single context."""
    for column, names_to_ignore in (("partition", {"all"}), ("condition", {"all", "none"})):
        if len(set(frame[column]) - names_to_ignore) == 1:
            frame = frame[frame[column] != "all"]
    names, dtypes = (sorted(set(frame[name])) for name in ("model", "dtype"))
    groups = [name for name in partitions(frame) if name != "all"]
    return in_order(frame, model=names, dtype=dtypes, partition=[*groups, "all"], condition=CONTEXTS)


def contexts_in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a column `context` in place of `condition`, in words."""
    return rows.assign(condition=rows["condition"].map(CONDITION_NAMES)).rename(columns={"condition": "context"})


def side_by_side(
    frames: Frames, quantities: Mapping[str, str], count_column: str, item: str, **published_names: str
) -> pd.DataFrame:
    """Return a row per partition and context, with a column per quantity and its interval.

    A row's n is the largest n of its cells. A cell with a smaller n states this n: for example, disputable questions
    have no accuracy.

    Args:
        frames: Frames with the named query `partition_means`.
        quantities: Name of the column of each quantity.
        count_column: Name of the column with the row's n.
        item: Item of the papers with the published values, such as marjanovic-table-2.
        published_names: The item's name of each quantity with published values. The column of published values follows
            the quantity's column.
    """
    frame = frames["partition_means"]
    rows = drop_single_pools(frame[frame["quantity"].isin(quantities)])
    rows = rows.assign(largest_n=rows.groupby(_GROUP)["n"].transform("max"))
    by_group: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in records(rows):
        key = tuple(row[name] for name in _GROUP)
        cells = by_group.setdefault(key, dict(zip(_GROUP, key, strict=True)) | {count_column: int(row["largest_n"])})
        n = f"; n = {row['n']:,}" if row["n"] < row["largest_n"] else ""
        cells[quantities[row["quantity"]]] = f"{estimate(row)}{n}"
    shown = pd.DataFrame(by_group.values(), columns=[*_GROUP, count_column, *quantities.values()]).astype(object)
    shown = shown.fillna("")
    columns = {f"published {quantities[name]}": quantity for name, quantity in published_names.items()}
    shown = contexts_in_words(with_published(shown, frames[RUNS], (item,), **columns))
    pairs = [column for name in quantities.values() for column in (name, f"published {name}") if column in shown]
    return shown[["model", "dtype", "partition", "context", count_column, *pairs]]


def _numbers(frames: Frames) -> pd.DataFrame:
    # published=None: a published value has the quantity of its row.
    rows = with_published(
        drop_single_pools(frames["partition_means"]), frames[RUNS], ("marjanovic-table-2",), published=None
    )
    rows = contexts_in_words(rows)
    return rows.assign(quantity=rows["quantity"].str.replace("_", " "))


def _correlations(frames: Frames) -> pd.DataFrame:
    rows = drop_single_pools(frames["instance_correlations"])
    rows = in_order(rows, measure_a=PREDICTORS)
    items = "marjanovic-section-6.3", "marjanovic-section-6.5"
    rows = with_published(rows, frames[RUNS], items, published="pearson", published_p="p")
    rows = contexts_in_words(rows.assign(correlated_with=rows["measure_a"].map(PREDICTORS)))
    columns = (
        "n",
        "subjects",
        "pearson",
        "low",
        "high",
        "published",
        "p",
        "published_p",
        "subject_low",
        "subject_high",
        "untestable",
    )
    return rows[["model", "dtype", "correlated_with", "partition", "context", *columns]]


def _regressions(frames: Frames) -> pd.DataFrame:
    if not frames["regressions"]["n"].any():  # such as a user's own questions, whose edits are not counted
        return pd.DataFrame()
    rows = in_order(frames["regressions"], entropies=("summed", "length-normalised"), predictor=PREDICTORS)
    rows = drop_single_pools(rows)
    published_columns = {f"published_{name}": name for name in ("beta", "standard_error", "p", "r_squared")}
    rows = with_published(rows, frames[RUNS], _REGRESSION_TABLES, **published_columns)
    predictors = rows["predictor"].str.replace("_length_normalised", "").map(PREDICTORS)
    rows = contexts_in_words(rows.assign(predictor=predictors))
    columns = (
        "entropies",
        "partition",
        "context",
        "predictor",
        "beta",
        "published_beta",
        "standard_error",
        "published_standard_error",
        "p",
        "published_p",
        "subject_standard_error",
        "subject_p",
        "r_squared",
        "published_r_squared",
        "n",
        "left_out",
        "subjects",
        "untestable",
    )
    shown = rows[["model", "dtype", *columns]]
    shown.attrs["units"] = {"beta": str(rows["unit"].iloc[0])}
    return shown


def _words(frames: Frames) -> pd.DataFrame:
    rows = in_order(frames["words_of_classes"], entropy_class=("low", "middle", "high"), text_kind=("questions",))
    shown = rows["words"].map(lambda words: " ".join(plain(word, 24) for word in words.split()))
    rows = rows.assign(words=shown)
    return rows[["model", "dtype", "entropy_class", "text_kind", "texts_of_class", "words"]]


def _bounds(frames: Frames) -> str:
    classes = frames["entropy_classes"]
    words = [f"{model}: {class_bounds(rows_of(classes, model))}" for model in models(classes)]
    return f" Entropies of {'; '.join(words)}." if words else ""


def _shares(frames: Frames) -> pd.DataFrame:
    outcomes = ("persuaded", "stubborn")
    if are_own(frames["partition_means"]):
        columns = {"following": "follows the passage"} | {name: outcome(name, own=True) for name in outcomes}
        return side_by_side(frames, columns, "instances", "marjanovic-table-1")
    columns = {"following": "follow, by whose answer"} | {name: f"{name}, by whose answer" for name in outcomes}
    columns |= {f"{name}_as_published": f"{name} (ROUGE-L)" for name in outcomes}
    published = {f"{name}_as_published": f"share_{name}" for name in outcomes}
    return side_by_side(frames, columns, "instances", "marjanovic-table-1", **published)


def _outcomes(frames: Frames) -> pd.DataFrame:
    own = are_own(frames["outcomes"])
    names = ("persuaded", "agreed", "stubborn", "other")
    measured = frames["outcomes"][frames["outcomes"]["measured"] > 0]
    rows = by_condition(measured, "instances", "measured", *names, "refusals", "share_following")
    return rows.rename(columns={name: outcome(name, own=own) for name in names})


SHARES = Table(
    "shares-persuaded-and-stubborn",
    "How many answers follow the context, how many stay",
    "An instance is a question with a context. Shares with 95% intervals over subjects (Wilson's, by cluster), because "
    "instances about one subject depend on each other. An outcome is decided by whose answer the greedy answer states, "
    "or by ROUGE-L over 0.3, the rule of Marjanović et al. 2024. ROUGE-L was chosen for answers of one word, and can "
    "count an answer as persuaded and as stubborn.",
    ("partition_means",),
    _shares,
    items=("marjanovic-table-1",),
)
NUMBERS = Table(
    "means-of-partitions",
    "Every mean of a group, with its interval",
    "n counts questions under a condition; intervals are over subjects of questions.",
    ("partition_means",),
    _numbers,
    items=("marjanovic-table-2",),
)
CORRELATIONS = Table(
    "correlations-of-persuasion",
    "Correlations of coherent persuasion",
    "Pearson's r of coherent persuasion over instances. Low, high and p take instances as independent, as published; "
    "subject low and high are ends of a 95% bootstrap interval that draws whole subjects. A correlation that is not "
    "defined is a dash, with the reason.",
    ("instance_correlations",),
    _correlations,
    items=("marjanovic-section-6.3", "marjanovic-section-6.5"),
)
REGRESSIONS = Table(
    "predictors-of-persuasion",
    "Predictors of coherent persuasion, in one regression",
    "Ordinary least squares of coherent persuasion (nats) on predictors with mean 0 and standard deviation 1: beta is "
    "the change for one standard deviation, with the other predictors fixed. Standard error and p take instances as "
    "independent, as published; subject standard error and p allow for dependence between the instances of a subject. "
    "Instances that lack a value are left out. Entropies sum log-probabilities, or take their mean over tokens. The "
    "published values are of the temporal partition; edits of a static fact are all 1, and disputable questions have "
    "neither edits nor an object.",
    ("regressions",),
    _regressions,
    items=_REGRESSION_TABLES,
)
WORDS = Table(
    "words-of-entropy-classes",
    "What the questions with low and high uncertainty are about",
    "The 50 words with the largest mean TF-IDF in the questions and in the contexts of instances with low, middle and "
    "high semantic entropy with the context, the largest first. TF-IDF of a word in a text: how often it occurs, times "
    "ln((1 + texts) / (1 + texts with the word)) + 1, with the text's vector scaled to length 1. Words of more than "
    "half of the texts are left out.",
    ("words_of_classes", "entropy_classes"),
    _words,
    note=_bounds,
    items=("marjanovic-table-8",),
)


def by_condition(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return these columns, sorted by model, partition and context."""
    return contexts_in_words(drop_single_pools(frame))[["model", "dtype", "partition", "context", *columns]]


def _standard_errors(frames: Frames) -> str:
    measures = ("semantic_entropy", "coherent_persuasion")
    names = {f"{measure}_standard_error": measure.replace("_", " ") for measure in measures}
    words = []
    for model in models(frames["measures_summary"]):
        errors = rows_of(frames["measures_summary"], model).set_index("measure")["mean"]
        if means := [f"{errors[error]:.2g} ({name})" for error, name in names.items() if error in errors]:
            words.append(f"{' and '.join(means)} for {model}")
    sentence = " Mean standard error of a single question's score, from half-samples of its answers"
    return f"{sentence}: {'; '.join(words)}." if words else ""


def _answers(frames: Frames) -> pd.DataFrame:
    summary = frames["partition_summary"]
    columns = (
        "questions",
        "answers",
        "empty_answers",
        "unfinished_answers",
        "unfinished_greedy_answers",
        "unfinished_thoughts",
        *(["withheld"] if summary["withheld"].any() else []),
        "contexts_cut",
        "groups",
    )
    return by_condition(summary[summary["answers"].notna()], *columns)


def _rejected(frames: Frames) -> pd.DataFrame:
    rows = frames["rejected_summary"].sort_values(["candidates", "reason"], ascending=[False, True])
    rows = in_order(rows, partition=partitions(rows))
    rows.insert(2, "meaning", [REASONS.get(reason, "") for reason in rows["reason"]])
    return rows


def _rejected_note(frames: Frames) -> str:
    count = len(frames["answers_of_questions"].get("question_id", pd.Series()).unique())
    scored = f" It does not count the {plural(count, 'question')} with scores." if count else ""
    return (
        f"A candidate is a fact, a dispute or a question; the table counts rejected candidates.{scored} The "
        "database lists every rejected candidate in the table 'rejected'."
    )


ACCURACY = Table(
    "accuracy-entropy-persuasion",
    "Accuracy, uncertainty and persuasion, with and without context",
    "A row is a partition (for own questions, a group) under a context; n counts questions with their contexts, and a "
    "cell has its own n if fewer have a value. Accuracy, as published, is the share of greedy answers that match the "
    "expected answer by ROUGE-L over 0.3: the original object, or the context's answer; disputable questions have no "
    "accuracy without a context, and are not pooled. Entropies and coherent persuasion are means in nats. Semantic "
    "entropy sums log-probabilities, so it grows with the length of answers; the length-normalised form takes their "
    "mean. Rao's is the entropy of the clusters' length-normalised probabilities, and “of clusters” is the entropy of "
    "the clusters' sizes. The 95% intervals are over subjects: Wilson's by cluster for accuracy, else bootstraps. "
    "Groups with fewer than 5 sampled answers a question have no mean.",
    ("partition_means", "measures_summary"),
    lambda frames: side_by_side(
        frames,
        {
            "accuracy": "accuracy",
            "semantic_entropy": "semantic entropy",
            "semantic_entropy_length_normalised": "length-normalised",
            "semantic_entropy_rao": "Rao's",
            "cluster_assignment_entropy": "of clusters",
            "coherent_persuasion": "coherent persuasion",
        },
        "n",
        "marjanovic-table-2",
        accuracy="accuracy",
        semantic_entropy="semantic_entropy",
        coherent_persuasion="coherent_persuasion",
    ),
    note=_standard_errors,
    items=("marjanovic-table-2",),
)
OUTCOMES = Table(
    "persuaded-and-stubborn",
    "Whose answer do greedy answers state?",
    "An instance is a question with a context. Its greedy answer states the context's answer: newly (persuaded), or as "
    "without the context (agreed). Otherwise it stays the answer without the context (stubborn) or is another answer "
    "(other). The share following is the share of persuaded and agreed instances among measured instances whose "
    "context states an answer.",
    ("outcomes", "unfinished_greedy_answers", "greedy_answers_of_neither"),
    _outcomes,
    note=lambda frames: (
        incomplete_replies(frames["unfinished_greedy_answers"]) + neither_sentences(frames["greedy_answers_of_neither"])
    ),
)
ANSWERS = Table(
    "sampled-answers",
    "Sampled answers: empty, unfinished and cut",
    "Answers are sampled; among greedy answers, only unfinished ones are counted. An empty answer ended before its "
    "first word: it is equivalent only to other empty answers, and as a greedy answer it matches nothing. An "
    "unfinished answer was cut off at the limit of tokens. Unfinished thoughts, also of greedy answers, have no "
    "answer and are in no score, like answers that a server's content filter withheld. All other answers are scored. A "
    "context was cut if its end did not fit into the model's window. The column 'groups' has the mean number of "
    "clusters of equivalent answers to a question.",
    ("partition_summary",),
    _answers,
)
REJECTED = Table(
    "rejected-questions",
    "Rejected questions, with reasons",
    "",
    ("rejected_summary", "answers_of_questions"),
    _rejected,
    note=_rejected_note,
)
