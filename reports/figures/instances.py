"""Instances of DynamicQA for drawing: a question with a context, its entropy without and with it, and what it did."""

import pandas as pd

from data.errors import InputError
from data.records import CONDITIONS, PARTITIONS
from reports.frames import is_true

KEYS = ["partition", "relation", "question_id"]
CONTEXTS = tuple(condition for condition in CONDITIONS if condition != "none")


def instances(answers: pd.DataFrame) -> pd.DataFrame:
    """One row per question and context, with entropy_without, entropy_with, coherent_persuasion and outcome:
    persuaded, stubborn, other, or unmeasured.

    `answers` are one model's; InputError where a question occurs twice under one condition.
    """
    twice = answers.duplicated([*KEYS, "condition"])
    if twice.any():
        raise InputError(
            f"answers_of_questions has question {answers.loc[twice, 'question_id'].iloc[0]!r} twice under one "
            "condition; make the database again from the files"
        )
    alone = answers[answers["condition"] == "none"][[*KEYS, "semantic_entropy"]]
    asked = answers[answers["condition"] != "none"].rename(columns={"semantic_entropy": "entropy_with"})
    both = asked.merge(alone.rename(columns={"semantic_entropy": "entropy_without"}), on=KEYS, how="left")
    both["outcome"] = "other"
    both.loc[both["stubborn"].isna() & both["persuaded"].isna(), "outcome"] = "unmeasured"
    both.loc[is_true(both["stubborn"]), "outcome"] = "stubborn"
    both.loc[is_true(both["persuaded"]), "outcome"] = "persuaded"
    return (
        both[[*KEYS, "condition", "entropy_without", "entropy_with", "coherent_persuasion", "outcome"]]
        .sort_values([*KEYS, "condition"])
        .reset_index(drop=True)
    )


def present(rows: pd.DataFrame, column: str, order: tuple[str, ...]) -> list[str]:
    """The values of `order` that occur in a column, in that order; then any others, sorted."""
    found = set(rows[column].astype(str))
    return [value for value in order if value in found] + sorted(found - set(order))


def partitions(rows: pd.DataFrame) -> list[str]:
    """The partitions that occur, in their fixed order."""
    return present(rows, "partition", PARTITIONS)


def conditions(rows: pd.DataFrame) -> list[str]:
    """The contexts that occur, in their fixed order."""
    return present(rows, "condition", CONTEXTS)
