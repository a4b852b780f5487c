"""Instances of DynamicQA: a question with a context. Partitions and contexts in their fixed orders."""

import pandas as pd

from data.records import CONDITIONS, PARTITIONS

CONTEXTS = tuple(condition for condition in CONDITIONS if condition != "none")


def present(rows: pd.DataFrame, column: str, order: tuple[str, ...]) -> list[str]:
    """The values of `order` that occur in a column, in that order; then any others, sorted."""
    values = set(rows[column].astype(str)) if len(rows) else set()
    return [value for value in order if value in values] + sorted(values - set(order))


def partitions(rows: pd.DataFrame) -> list[str]:
    """The partitions that occur, in their fixed order."""
    return present(rows, "partition", PARTITIONS)


def conditions(rows: pd.DataFrame) -> list[str]:
    """The contexts that occur, in their fixed order."""
    return present(rows, "condition", CONTEXTS)
