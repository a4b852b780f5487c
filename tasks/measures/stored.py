"""Stored scores of other measures, at the queries and questions that a derived measure needs them at."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.errors import ScoreError
from data.records import CONDITIONS, Condition, Context, Query, Question
from tasks.measures.measure import Inputs, Row

QuestionKey = tuple[str, Condition]


def of_queries(scores: pa.Table, queries: Sequence[Query]) -> pa.Table:
    """The rows of these queries."""
    return scores.filter(pc.is_in(scores["query_id"], pa.array([query.query_id for query in queries], pa.string())))


def matrix(scores: pa.Table, queries: Sequence[Query], contexts: Sequence[Context], column: str) -> NDArray[np.float64]:
    """A column of stored scores of pairs, (n_queries, n_contexts).

    Args:
        scores: rows of these queries and contexts alone.
        queries: the rows of the matrix, in order.
        contexts: its columns.
        column: the name of the score.

    Raises:
        ScoreError: where a score of a query and a context is not stored.
    """
    row = {query.query_id: number for number, query in enumerate(queries)}
    place = {context.context_id: number for number, context in enumerate(contexts)}
    values = np.full((len(queries), len(contexts)), np.nan)
    for query_id, context_id, score in zip(
        *(scores[name].to_pylist() for name in ("query_id", "context_id", column)), strict=True
    ):
        values[row[query_id], place[context_id]] = score
    missing = np.argwhere(np.isnan(values))
    if len(missing):
        query, context = queries[missing[0][0]], contexts[missing[0][1]]
        raise ScoreError(
            f"relation {query.relation}: {len(missing)} values of {column} are not stored, the first of the query "
            f"{query.text!r} after the context {context.text!r}; score it again with --force"
        )
    return values


def of_questions(
    inputs: Inputs, measure: str, questions: Sequence[Question], *columns: str, greedy: bool = False
) -> dict[QuestionKey, list[Row]]:
    """Rows about sampled answers by question and condition, in the order of the samples; or the greedy answers' rows.

    Args:
        inputs: whose stored scores are read.
        measure: answers, or another measure with the column `sample`.
        questions: whose rows are read.
        columns: what is read of a row.
        greedy: whether the greedy answers are read, in place of the samples.

    Raises:
        ScoreError: where a question under a condition has no such row.
    """
    scores = rows_of(inputs.scores[measure], questions).select(["question_id", "condition", "sample", *columns])
    is_greedy = pc.is_null(scores["sample"])
    scores = scores.filter(is_greedy if greedy else pc.invert(is_greedy)).sort_by("sample")
    by_question: dict[QuestionKey, list[Row]] = {}
    for row in scores.to_pylist():
        by_question.setdefault((row["question_id"], row["condition"]), []).append(row)
    for question in questions:
        for condition in CONDITIONS:
            if (question.question_id, condition) not in by_question:
                raise ScoreError(
                    f"relation {inputs.relation}: {measure} of the question {question.question!r} under the condition "
                    f"{condition} are not stored; score them again with --force"
                )
    return by_question


def rows_of(scores: pa.Table, questions: Sequence[Question]) -> pa.Table:
    """The rows of these questions."""
    ids = pa.array([question.question_id for question in questions], pa.string())
    return scores.filter(pc.is_in(scores["question_id"], ids))
