"""Made-up frames of greedy and sampled answers, and of their questions."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from swaymeter.data.randomness import generator
from tests.reports.study import MODEL

KEYS = ["model", "dtype", "relation", "question_id", "context_id", "condition"]
SAMPLES = 10
CLUSTERS = (0, 0, 0, 1, 0, 1, 2, 0, 2, 0)
ANSWERS = {"none": "Oslo", "original": "It is Oslo", "counter_memory": "Bergen"}
"""By condition, the text of the greedy answer and of cluster 0."""
PARTITIONS = ("static", "temporal", "disputable")
COMMON = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
"""By frame, the columns with one value."""


def frames_of_answers(
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),), questions: int = 6
) -> dict[str, pd.DataFrame]:
    """Return the frames of the page of answers: every answer, question and score of these models.

    Each question has two contexts. The judge has a verdict on each greedy answer, except to the question q1.
    """
    scores = _scores(models, questions)
    is_unjudged = scores["question_id"] == "q1"
    return {
        "answers_of_questions": scores,
        "answers_to_read": _answers(scores).assign(**COMMON["answers_to_read"]),
        "questions_to_read": _questions(questions).assign(**COMMON["questions_to_read"]),
        "contexts_to_read": _contexts(questions).assign(**COMMON["contexts_to_read"]),
        "unfinished_greedy_answers": pd.DataFrame([{"model": MODEL, **COMMON["unfinished_greedy_answers"]}]),
        "judged_greedy_answers": scores[KEYS].assign(
            verdict=np.where(is_unjudged, None, "context"),
            unjudged=np.where(is_unjudged, "no offered verdict", None),
            rule=scores["verdict"],
            **COMMON["judged_greedy_answers"],
        ),
        "answers_judged_by_people": pd.DataFrame(),
        "judgements_to_read": pd.DataFrame(),
        "changes_since_last_run": pd.DataFrame(),
    }


def _scores(models: Iterable[tuple[str, str]], questions: int) -> pd.DataFrame:
    """Return a row for each question and condition; some contexts were cut."""
    rng, rows = generator(7, "answers"), []
    for (model, dtype), number, condition in product(models, range(questions), ANSWERS):
        persuasion = rng.gamma(2 + number % 3, 0.8)
        outcome = str(rng.choice(["persuaded", "agreed", "stubborn", "other"]))
        row = {
            "model": model,
            "dtype": dtype,
            "question_id": f"q{number}",
            "context_id": condition,
            "condition": condition,
            "partition": PARTITIONS[number % 3],
            "semantic_entropy": float(rng.normal(2.4 if condition == "none" else 1.2, 0.9)),
            "context_cut": 12 if condition == "original" and number % 4 == 0 else 0,
            "accurate": bool(rng.random() < 0.4),
            "verdict": "context" if rng.random() < 0.5 else "neither",
        }
        if condition != "none":
            row |= {
                "coherent_persuasion": persuasion,
                "coherent_persuasion_standard_error": persuasion / 10,
                "outcome": outcome,
                "persuaded_as_published": bool(rng.random() < 0.4),
                "stubborn_as_published": bool(rng.random() < 0.4),
            }
        rows.append(row)
    return pd.DataFrame(rows).assign(**COMMON["answers_of_questions"])


def _answers(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a greedy answer and ten samples in three clusters for each score; some samples are empty or truncated."""
    rows: list[dict[str, Any]] = []
    for keys, sample in product(scores[KEYS].to_dict("records"), (None, *range(SAMPLES))):
        number, cluster = int(keys["question_id"][1:]), None if sample is None else CLUSTERS[sample]
        text = f"A town {cluster} of subject {number}, {keys['dtype']}" if cluster else ANSWERS[keys["condition"]]
        answer = {
            "sample": sample,
            "answer_group": cluster,
            "text": "" if sample == 8 and number % 5 == 0 else text,
            "state": "truncated" if sample == 6 and number % 3 == 0 else "complete",
            "log_probability": -len(text) / 4 - (sample == 6),
        }
        rows.append(keys | answer)
    return pd.DataFrame(rows).astype({"sample": "Int64", "answer_group": "Int64"})


def _questions(count: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "question_id": f"q{number}",
            "relation": "P36",
            "partition": PARTITIONS[number % 3],
            "subject": f"Subject {number}",
            "subject_id": f"Q{20 + number}",
            "question": f"What is the capital of subject {number}?",
            "edits": 1 + number % 4,
        }
        for number in range(count)
    )


def _contexts(count: int) -> pd.DataFrame:
    towns = {"original": ("Oslo", '["Oslo","Kristiania"]'), "counter_memory": ("Bergen", '["Bergen"]')}
    return pd.DataFrame(
        {
            "question_id": f"q{number}",
            "context_id": condition,
            "condition": condition,
            "text": f"Subject {number} is a place by the sea. Its capital is {town}.",
            "answers": answers,
        }
        for (condition, (town, answers)), number in product(towns.items(), range(count))
    )
