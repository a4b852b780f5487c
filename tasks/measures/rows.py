"""What score rows are about: their first columns, as row types to derive from, keys and values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records import Case, Condition, Context, Query, Question, is_relevant
from swaymeter.data.records.row import Meaning
from swaymeter.data.records.score import Score
from swaymeter.tasks.measures.measure import Row

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
    context_id: Annotated[str, Meaning("the context before the question, unique in it; none for the question alone")]
    condition: Annotated[Condition, Meaning("the kind of this context; none for the question alone")]


def pair_rows(
    queries: Sequence[Query], contexts: Sequence[Context], engine: str, **scores: NDArray[np.floating[Any]]
) -> Iterator[Row]:
    """A row for each context before each query; scores: by column, (n_queries, n_contexts) each."""
    for i, query in enumerate(queries):
        for j, context in enumerate(contexts):
            yield of_pair(query, context) | {"engine": engine} | {name: float(of[i, j]) for name, of in scores.items()}


def of_case(question: Question, case: Case) -> dict[str, Any]:
    """The columns that name a question alone, or with one of its contexts."""
    return {"question_id": question.question_id, "context_id": case.context_id, "condition": case.condition}


def of_pair(query: Query, context: Context) -> dict[str, Any]:
    """The columns that name a context before a query."""
    return {"query_id": query.query_id, "context_id": context.context_id, "relevant": is_relevant(context, query)}
