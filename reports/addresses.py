"""Where a query, a question or a relation is read in full: addresses within the report's folder."""

from urllib.parse import urlencode

from reports.frames import Model, file_slug

ANSWERS, QUERIES = "answers.html", "queries.html"


def of_question(question: str, model: Model) -> str:
    """A question with all that a model answered to it, on the page of answers."""
    return f"{ANSWERS}#{urlencode({'model': str(model), 'open': question})}"


def of_query(query: str) -> str:
    """A query with its contexts, on the page of queries."""
    return f"{QUERIES}#q-{file_slug(query)}"


def of_relation(relation: str) -> str:
    """The queries of a relation, on their page."""
    return f"{QUERIES}#relation-{file_slug(relation)}"
