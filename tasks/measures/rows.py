"""Base classes of the rows of measures, and access to stored rows for derived measures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError
from swaymeter.data.records import Condition, Context, Query, Question, QuestionContext, is_relevant
from swaymeter.data.records.row import Meaning
from swaymeter.data.records.score import Score
from swaymeter.tasks.measures.measure import Inputs, Row
from swaymeter.tasks.models.capabilities import MISSING_STATES

QUERY_KEY = ("model", "dtype", "relation", "query_id")
QUESTION_KEY = ("model", "dtype", "relation", "question_id", "context_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryScore(Score):
    """A score of a query."""

    query_id: Annotated[str, Meaning("the query")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore(QueryScore):
    """A score of a context before a query."""

    context_id: Annotated[str, Meaning("the context")]
    relevant: Annotated[bool, Meaning("whether the context mentions the query's entity")]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionScore(Score):
    """A score of a question alone, or with one of its contexts."""

    question_id: Annotated[str, Meaning("the question")]
    context_id: Annotated[str, Meaning("id of the context, unique within the question; none: the question alone")]
    condition: Annotated[Condition, Meaning("the kind of this context; none: the question alone")]


def pair_rows(
    queries: Sequence[Query], contexts: Sequence[Context], engine: str, **scores: NDArray[np.floating[Any]]
) -> Iterator[Row]:
    """Yield a row for each context before each query; each of `scores` is a column, (n_queries, n_contexts)."""
    for i, query in enumerate(queries):
        for j, context in enumerate(contexts):
            yield (
                pair_columns(query, context)
                | {"engine": engine}
                | {name: float(values[i, j]) for name, values in scores.items()}
            )


def case_columns(question: Question, case: QuestionContext) -> dict[str, Any]:
    """Return the columns that identify a question alone, or with one of its contexts."""
    return {"question_id": question.question_id, "context_id": case.context_id, "condition": case.condition}


def pair_columns(query: Query, context: Context) -> dict[str, Any]:
    """Return the columns that identify a context before a query."""
    return {"query_id": query.query_id, "context_id": context.context_id, "relevant": is_relevant(context, query)}


QuestionKey = tuple[str, str]
"""The ids of a question and of the context before it."""

PROVENANCE = tuple(field.name for field in fields(Score) if field.name != "relation")
"""The columns with the origin of a score: model, revision, engine and so on."""


def provenance(scores: pa.Table, *by: str) -> dict[Any, Row]:
    """Return a row with the columns `by` and `PROVENANCE` for each group of stored rows with equal values of `by`.

    The key of a group is its value of `by`, or a tuple of its values of several columns. If the rows of a group differ
    in a column, the returned row lists the different values, such as "cpu, cuda:0".
    """
    # Most columns have one value in the whole table, so only the other columns are grouped.
    values = {name: scores[name].unique().to_pylist() for name in PROVENANCE}
    varying = [name for name in PROVENANCE if len(values[name]) > 1]
    common = {name: _listed(values[name]) for name in PROVENANCE}
    grouped = scores.group_by(list(by)).aggregate([(name, "distinct") for name in varying])
    return {
        itemgetter(*by)(row): {name: row[name] for name in by}
        | common
        | {name: _listed(row[f"{name}_distinct"]) for name in varying}
        for row in grouped.to_pylist()
    }


def _listed(values: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({value for value in values if value is not None})) or None


def question_provenance(scores: pa.Table, questions: Sequence[Question]) -> dict[QuestionKey, Row]:
    """Return the columns `PROVENANCE` of stored rows by question and context, with the columns that identify both."""
    rows = provenance(rows_of(scores, questions), "question_id", "context_id", "condition")
    return {(question, context): row for (question, context, _), row in rows.items()}


def rows_of(scores: pa.Table, prompts: Sequence[Query] | Sequence[Question]) -> pa.Table:
    """Return the stored rows of the given queries or questions."""
    column = "query_id" if "query_id" in scores.column_names else "question_id"
    return scores.filter(
        pc.is_in(scores[column], pa.array([getattr(prompt, column) for prompt in prompts], pa.string()))
    )


def matrix(scores: pa.Table, queries: Sequence[Query], contexts: Sequence[Context], column: str) -> NDArray[np.float64]:
    """Return a column of stored scores of pairs, (n_queries, n_contexts); ScoreError for a missing pair."""
    stored = rows_of(scores, queries).select(["query_id", "context_id", column]).to_pandas()
    by_pair = stored.pivot(index="query_id", columns="context_id", values=column)
    ids = {"index": [query.query_id for query in queries], "columns": [context.context_id for context in contexts]}
    values = np.ascontiguousarray(by_pair.reindex(**ids).to_numpy(np.float64))
    if len(missing := np.argwhere(np.isnan(values))):
        query, context = queries[missing[0][0]], contexts[missing[0][1]]
        raise ScoreError(
            f"relation {query.relation}: values of {column} are missing: {len(missing)} in all, the first for the "
            f"query {query.text!r} after the context {context.text!r}; score the relation again with --force"
        )
    return values


def _is_missing(answers: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(answers["state"], pa.array(MISSING_STATES))


def rows_by_question(
    inputs: Inputs, measure: str, questions: Sequence[Question], *columns: str, greedy: bool = False
) -> dict[QuestionKey, list[Row]]:
    """Return stored rows of sampled or greedy replies by question and context, in the order of the samples.

    Replies without an answer (`MISSING_STATES`), such as withheld replies, are left out. The list of a question may
    therefore be empty.

    Args:
        inputs: the inputs of the pass.
        measure: "answers", or another measure with the column `sample`.
        questions: the questions.
        *columns: the columns to read.
        greedy: read greedy replies in place of samples.

    Raises:
        ScoreError: a question with a context has no stored row.
    """
    answers = rows_of(inputs.scores["answers"], questions)
    # A question whose stored replies are all left out has an empty list. Other measures than `answers` store no row for
    # a reply that lacks an answer. A question with such a reply may therefore have no rows of the measure.
    replies = answers if measure == "answers" else answers.filter(_is_missing(answers))
    keys = replies.select(["question_id", "context_id"]).to_pylist()
    by_question: dict[QuestionKey, list[Row]] = {(row["question_id"], row["context_id"]): [] for row in keys}
    scores = rows_of(inputs.scores[measure], questions)
    if measure == "answers":
        scores = scores.filter(pc.invert(_is_missing(scores)))
    is_greedy = pc.is_null(scores["sample"])
    scores = scores.filter(is_greedy if greedy else pc.invert(is_greedy)).sort_by("sample")
    for row in scores.select(["question_id", "context_id", "sample", *columns]).to_pylist():
        by_question.setdefault((row["question_id"], row["context_id"]), []).append(row)
    for question in questions:
        for case in question.cases:
            if (question.question_id, case.context_id) not in by_question:
                raise ScoreError(
                    f"relation {inputs.relation}: no row of {measure} is stored for the question {question.question!r} "
                    f"with the context {case.context_id}; score the relation again with --force"
                )
    return by_question
