"""What score rows are about: the first columns of a row of a query, and of a context before a query."""

from typing import Any

from data.records import Context, Query, is_relevant


def of_query(query: Query) -> dict[str, Any]:
    """The columns that name a query."""
    return {"relation": query.relation, "query_id": query.query_id}


def of_pair(query: Query, context: Context) -> dict[str, Any]:
    """The columns that name a context before a query, and say whether it mentions the query's entity."""
    return {**of_query(query), "context_id": context.context_id, "relevant": is_relevant(context, query)}
