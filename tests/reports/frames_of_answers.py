"""Invented frames of greedy and sampled answers, and of their questions."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from swaymeter.data.randomness import generator
from tests.reports.study import MODEL

KEYS = ["model", "dtype", "relation", "question_id", "context_id", "condition"]
SAMPLES = 10
CLUSTERS = (0, 0, 0, 1, 0, 1, 2, 0, 2, 0)
WORDS = {"none": "Oslo", "original": "It is Oslo", "counter_memory": "Bergen"}


def make_scores(models: Iterable[tuple[str, str]], questions: int) -> pd.DataFrame:
    """Return a row for each question and condition; some contexts were cut."""
    rng, rows = generator(7, "answers"), []
    for (model, dtype), number, condition in product(models, range(questions), WORDS):
        is_closed_book = condition == "none"
        moved = rng.gamma(2 + number % 3, 0.8)
        outcome = str(rng.choice(["persuaded", "agreed", "stubborn", "other"]))
        entropy = float(rng.normal(2.4 if is_closed_book else 1.2, 0.9))
        rows.append(
            {
                "model": model,
                "dtype": dtype,
                "relation": "P36",
                "question_id": f"q{number}",
                "context_id": condition,
                "condition": condition,
                "partition": ("static", "temporal", "disputable")[number % 3],
                "semantic_entropy": entropy,
                "semantic_entropy_standard_error": 0.2,
                "coherent_persuasion": np.nan if is_closed_book else moved,
                "coherent_persuasion_standard_error": np.nan if is_closed_book else moved / 10,
                "context_cut": 12 if condition == "original" and number % 4 == 0 else 0,
                "accurate": bool(rng.random() < 0.4),
                "verdict": "context" if rng.random() < 0.5 else "neither",
                "reason": None,
                "outcome": None if is_closed_book else outcome,
                "decided_by": "rule",
                "decider": None,
                "samples_that_follow": 0.3,
                "persuaded_as_published": None if is_closed_book else bool(rng.random() < 0.4),
                "stubborn_as_published": None if is_closed_book else bool(rng.random() < 0.4),
                "stand_in": "all-MiniLM-L6-v2 for deberta-large-mnli",
            }
        )
    return pd.DataFrame(rows)


def make_answers(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a greedy answer and ten samples in three clusters; some samples are empty or truncated."""
    rows: list[dict[str, Any]] = []
    for keys, sample in product(scores[KEYS].to_dict("records"), (None, *range(SAMPLES))):
        number, cluster = int(keys["question_id"][1:]), None if sample is None else CLUSTERS[sample]
        text = f"A town {cluster} of subject {number}, {keys['dtype']}" if cluster else WORDS[keys["condition"]]
        state = "truncated" if sample == 6 and number % 3 == 0 else "complete"
        shown = "" if sample == 8 and number % 5 == 0 else text
        answer = {"text": shown, "state": state, "thoughts": "", "error": None}
        rows.append({**keys, "sample": sample, "answer_group": cluster, **answer, "log_probability": -len(text) / 4})
        rows[-1]["log_probability"] -= sample == 6
    return pd.DataFrame(rows).astype({"sample": "Int64", "answer_group": "Int64"})


def make_questions(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the questions that have scores."""
    questions = scores.drop_duplicates("question_id").reset_index(drop=True)
    subject = "Subject " + questions["question_id"].str[1:]
    return questions[["question_id", "relation", "partition"]].assign(
        subject=subject,
        question="What is the capital of " + subject.str.lower() + "?",
        edits=1 + questions.index % 4,
        subject_popularity=100.0,
        object_popularity=np.nan,
        subject_id=[f"Q{20 + number}" for number in questions.index],
        property_id="P36",
        object="Oslo",
        object_id="Q585",
        accepted="Oslo; Kristiania",
        replacement="Bergen",
        other_columns=None,
    )


def frames_of_answers(
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),), questions: int = 6
) -> dict[str, pd.DataFrame]:
    """Return the frames of the page of answers: every answer, question and score of these models.

    Each question has two contexts. The judge has a verdict on each greedy answer, except to the question q1.
    """
    scores = make_scores(models, questions)
    question_rows = make_questions(scores)
    sentence = question_rows["subject"] + " is a place by the sea. Its capital is "
    contexts = [
        question_rows[["question_id"]].assign(context_id=name, condition=name, text=sentence + town, answers=answers)
        for name, town, answers in (
            ("original", "Oslo.", '["Oslo","Kristiania"]'),
            ("counter_memory", "Bergen.", '["Bergen"]'),
        )
    ]
    is_unjudged = scores["question_id"] == "q1"
    judged = scores[KEYS].assign(
        judge="large",
        verdict=np.where(is_unjudged, None, "context"),
        unjudged=np.where(is_unjudged, "no offered verdict", None),
        rule=scores["verdict"],
    )
    counts = {"greedy_answers": 18, "unfinished": 2, "tokens": 20, "unfinished_thoughts": 3}
    zeros = dict.fromkeys(("empty", "tool_calls", "withheld", "failed", "unrecorded"), 0)
    unfinished = {"model": MODEL, "dtype": "float32", **counts, **zeros, "errors": None}
    return {
        "answers_of_questions": scores,
        "answers_to_read": make_answers(scores),
        "questions_to_read": question_rows,
        "contexts_to_read": pd.concat(contexts, ignore_index=True).assign(right_answers='["Oslo","Kristiania"]'),
        "unfinished_greedy_answers": pd.DataFrame([{**unfinished, "thinking": "enable_thinking=true"}]),
        "judged_greedy_answers": judged,
        "answers_judged_by_people": pd.DataFrame(),
        "judgements_to_read": pd.DataFrame(),
        "changes_since_last_run": pd.DataFrame(),
    }
