"""Where a query, a question or a relation is read in full: addresses within the report's folder."""

from urllib.parse import urlencode

import pandas as pd

from swaymeter.reports.frames import Model, file_slug

ANSWERS_PAGE, QUERIES_PAGE = "answers.html", "queries.html"


def of_question(question: str, model: Model) -> str:
    """A question with all that a model answered to it, on the page of answers."""
    return f"{ANSWERS_PAGE}#{urlencode({'model': str(model), 'open': question})}"


def of_query(query: str) -> str:
    """A query with its contexts, on the page of queries."""
    return f"{QUERIES_PAGE}#q-{file_slug(query)}"


def of_relation(relation: str) -> str:
    """The queries of a relation, on their page."""
    return f"{QUERIES_PAGE}#relation-{file_slug(relation)}"


def of_each(rows: pd.DataFrame) -> list[str]:
    """Where each row's question is read; the rows have question_id, model and dtype."""
    names = rows[["question_id", "model", "dtype"]].itertuples(index=False)
    return [of_question(question, Model(model, dtype)) for question, model, dtype in names]
