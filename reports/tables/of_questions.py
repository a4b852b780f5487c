"""Tables about questions: accuracy and persuasion, outcomes, answers, candidates that did not become questions."""

import pandas as pd

from swaymeter.data.reasons import REASONS
from swaymeter.reports.estimates import limits, plural, stating_neither
from swaymeter.reports.frames import Frames, in_order, partitions
from swaymeter.reports.models import models, rows_of
from swaymeter.reports.tables.of_persuasion import contexts_in_words, pooled_once, side_by_side
from swaymeter.reports.tables.table import Table


def by_condition(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """These columns: models by name, partitions and contexts in their fixed order."""
    return contexts_in_words(pooled_once(frame))[["model", "dtype", "partition", "context", *columns]]


def _standard_errors(frames: Frames) -> str:
    """How exact one question's scores are, per model; empty where no half-samples were drawn."""
    measures = ("semantic_entropy", "coherent_persuasion")
    named = {f"{measure}_standard_error": measure.replace("_", " ") for measure in measures}
    words = []
    for model in models(frames["measures_in_short"]):
        errors = rows_of(frames["measures_in_short"], model).set_index("measure")["mean"]
        if means := [f"{errors[error]:.2g} ({name})" for error, name in named.items() if error in errors]:
            words.append(f"{' and '.join(means)} for {model}")
    sentence = " Mean standard error of a single question's score, from half-samples of its answers"
    return f"{sentence}: {'; '.join(words)}." if words else ""


def _answers(frames: Frames) -> pd.DataFrame:
    summary = frames["partition_summary"]
    columns = (
        "questions", "answers", "empty_answers", "unfinished_answers", "unfinished_greedy_answers",
        "unfinished_thoughts", "contexts_cut", "groups",
    )  # fmt: skip
    return by_condition(summary[summary["answers"].notna()], *columns)


def _rejected(frames: Frames) -> pd.DataFrame:
    rows = frames["rejected_in_short"].sort_values(["candidates", "reason"], ascending=[False, True])
    rows = in_order(rows, partition=partitions(rows))
    rows.insert(2, "meaning", [REASONS.get(reason, "") for reason in rows["reason"]])
    return rows


def _scored(frames: Frames) -> str:
    count = len(frames["answers_of_questions"].get("question_id", pd.Series()).unique())
    beside = f" beside the {plural(count, 'question')} with scores" if count else ""
    return (
        f"A candidate is a fact, a dispute or a question that was looked at{beside}, and rejected by a rule. Nothing "
        "is rejected without one; the database lists each in its table rejected."
    )


ACCURACY = Table(
    "accuracy-entropy-persuasion", "Accuracy, uncertainty and persuasion, with and without context",
    "A row is a partition, of own questions a group, under a context; n counts questions with their contexts, in a "
    "cell those of its mean where they are fewer. Accuracy, as published, is the share of greedy answers that are the "
    "expected one by ROUGE-L over 0.3: the original object, or what the context states; disputable questions have none "
    "without a context, and count for no pooled one. Entropies and coherent persuasion are means in nats. Semantic "
    "entropy sums log-probabilities and so grows with the length of answers; length-normalised, it takes their mean. "
    "Rao's is the entropy of the clusters' length-normalised probabilities, “of clusters” that of their sizes. "
    "Intervals have 95%, over subjects: Wilson's by cluster of accuracy, else bootstraps. What rests on fewer than 5 "
    "sampled answers has no mean.",
    ("partition_means", "measures_in_short"),
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
        "n", "marjanovic-table-2", accuracy="accuracy", semantic_entropy="semantic_entropy",
        coherent_persuasion="coherent_persuasion",
    ),
    note=_standard_errors, items=("marjanovic-table-2",),
)
OUTCOMES = Table(
    "persuaded-and-stubborn",
    "Who is persuaded, who is stubborn",
    "An instance is a question with a context. Its greedy answer states the context's answer, newly (persuaded) or as "
    "it did without the context (agreed); or it does not, and is the answer without the context (stubborn) or another "
    "one (other). Following are persuaded and agreed together, of the measured instances whose context states an "
    "answer.",
    ("outcomes", "unfinished_greedy_answers", "greedy_answers_of_neither"),
    lambda frames: by_condition(
        frames["outcomes"], "instances", "measured", "persuaded", "agreed", "stubborn", "other", "refusals",
        "share_following",
    ),
    note=lambda frames: (
        limits(frames["unfinished_greedy_answers"]) + stating_neither(frames["greedy_answers_of_neither"])
    ),
)  # fmt: skip
ANSWERS = Table(
    "what-became-of-answers", "What became of the answers",
    "Answers are the samples; of the greedy ones, only the unfinished are counted. An empty answer ended before its "
    "first word: it is equivalent to other empty ones alone, and as a greedy answer it matches nothing. An unfinished "
    "one was cut off at the limit of tokens. Thoughts that did not end, those of greedy answers included, have no "
    "answer and are in no score. Where a context was cut, its end did not fit into the model's window. Nothing else is "
    "left out. Groups are clusters of equivalent answers: how many there are of a question, on average.",
    ("partition_summary",), _answers,
)
REJECTED = Table(
    "what-became-no-question", "What did not become a question, and why", "",
    ("rejected_in_short", "answers_of_questions"), _rejected, note=_scored,
)
