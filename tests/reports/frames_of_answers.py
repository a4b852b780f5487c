"""Made-up frames of sampled answers, and of the questions that they answer."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from data.storage.keys import generator
from tests.reports.study import MODEL

SAMPLES = 10


def draw(name: str) -> np.random.Generator:
    """A generator for one kind of frame."""
    return generator(7, name)


def make_answers(models: list[tuple[str, str]], questions: int) -> pd.DataFrame:
    rng, rows = draw("answers"), []
    for model, dtype in models:
        for number in range(questions):
            partition = ("static", "temporal", "disputable")[number % 3]
            for condition in ("none", "original", "counter_memory"):
                alone = condition == "none"
                moved = rng.gamma(2 + number % 3, 0.8)
                persuaded = None if alone else bool(rng.random() < 0.25 + 0.1 * moved / 2)
                entropy = float(rng.normal(2.4 if alone else 1.2, 0.9))
                rows.append(
                    {
                        "model": model,
                        "dtype": dtype,
                        "partition": partition,
                        "relation": "P36",
                        "question_id": f"q{number}",
                        "subject": f"Subject {number}",
                        "question": f"What is the capital of subject {number}?",
                        "condition": condition,
                        "edits": 1 + number % 4,
                        "subject_popularity": 100.0,
                        "object_popularity": None,
                        "semantic_entropy": entropy,
                        "semantic_entropy_length_normalised": entropy / 3,
                        "semantic_entropy_rao": abs(entropy) / 4,
                        "cluster_assignment_entropy": abs(entropy) / 4,
                        "semantic_entropy_standard_error": 0.2,
                        "groups": 3,
                        "context_cut": 12 if condition == "original" and number % 4 == 0 else 0,
                        "answers": SAMPLES,
                        "empty_answers": int(number % 5 == 0),
                        "unfinished_answers": int(number % 3 == 0),
                        "answer": "Oslo",
                        "accurate": bool(rng.random() < 0.4),
                        "coherent_persuasion": None if alone else moved,
                        "coherent_persuasion_standard_error": None if alone else moved / 10,
                        "persuaded": persuaded,
                        "stubborn": None if alone else (not persuaded and bool(rng.random() < 0.4)),
                        "stand_in": "all-MiniLM-L6-v2 for deberta-large-mnli",
                    }
                )
    missing = ("coherent_persuasion", "coherent_persuasion_standard_error", "object_popularity")
    return pd.DataFrame(rows).astype(dict.fromkeys(missing, float))


def make_answers_to_read(answers: pd.DataFrame) -> pd.DataFrame:
    """The greedy answer and ten samples in three groups; here and there an empty one, or one that was cut short."""
    words = {"none": "Oslo", "original": "It is Oslo", "counter_memory": "Bergen"}
    rows = []
    for one in answers.to_dict("records"):
        number = int(one["question_id"][1:])
        keys = {name: one[name] for name in ("model", "dtype", "relation", "question_id", "condition")}
        for sample in (None, *range(SAMPLES)):
            group = None if sample is None else (0, 0, 0, 1, 0, 1, 2, 0, 2, 0)[sample]
            text = words[one["condition"]] if not group else f"A town {group} of subject {number}, {one['dtype']}"
            empty = sample == 8 and one["empty_answers"]
            cut = sample == 6 and one["unfinished_answers"]
            rows.append(
                {
                    **keys,
                    "sample": sample,
                    "text": "" if empty else text,
                    "answer_group": group,
                    "log_probability": -len(text) / 4 - (sample == 6),
                    "finished": not cut,
                }
            )
    return pd.DataFrame(rows).astype({"sample": "Int64", "answer_group": "Int64"})


def make_questions_to_read(answers: pd.DataFrame) -> pd.DataFrame:
    asked = answers.drop_duplicates("question_id").reset_index(drop=True)
    said = asked["subject"] + " is a place by the sea. Its capital is "
    return asked[
        [
            "question_id",
            "relation",
            "partition",
            "subject",
            "question",
            "edits",
            "subject_popularity",
            "object_popularity",
        ]
    ].assign(
        subject_id=[f"Q{20 + at}" for at in asked.index],
        property_id="P36",
        object="Oslo",
        object_id="Q585",
        accepted="Oslo; Kristiania",
        replacement="Bergen",
        original_context=said + "Oslo.",
        counter_memory_context=said + "Bergen.",
    )


def frames_of_answers(
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),), questions: int = 6
) -> dict[str, pd.DataFrame]:
    """What the page of answers reads: every answer, question and score of these models."""
    answers = make_answers(list(models), questions)
    return {
        "answers_of_questions": answers,
        "answers_to_read": make_answers_to_read(answers),
        "questions_to_read": make_questions_to_read(answers),
    }
