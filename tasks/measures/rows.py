"""What score rows are about: their first columns, as row types to derive from, keys and values."""

from dataclasses import dataclass
from typing import Annotated

from data.records import Condition, Context, Query, is_relevant
from data.records.row import Meaning
from data.records.score import Score
from tasks.measures.measure import Row

QUERY_KEY = ("model", "dtype", "relation", "query_id")
QUESTION_KEY = ("model", "dtype", "relation", "question_id", "condition")


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
    """A score of a question under a condition."""

    question_id: Annotated[str, Meaning("the question")]
    condition: Annotated[Condition, Meaning("none, original or counter_memory: the context before the question")]


def of_pair(query: Query, context: Context) -> Row:
    """The columns that name a context before a query."""
    return {
        "query_id": query.query_id,
        "context_id": context.context_id,
        "relevant": is_relevant(context, query),
    }
