"""The page to read queries: contexts by persuasion, models side by side, and what leads there."""

import dataclasses
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from swaymeter.data.warehouse.queries import NAMED_QUERIES
from swaymeter.reports.models import Model, query_address, question_address, relation_address
from swaymeter.reports.queries import READ_QUERIES, write_queries
from swaymeter.reports.report import PAGE_QUERIES
from tests.reports.parsed import Parsed
from tests.reports.study import CARD, MODEL, frames, tables

MARKUP = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def two() -> dict[str, pd.DataFrame]:
    """The frames of two models, whose one relation has 40 queries and 20 contexts."""
    models = [(MODEL, "float32"), ("other", "float32")]
    rows = tables(models, relations=["capital"], entities=10, questions=6)
    rows["contexts"] = [row for row in rows["contexts"] if row["kind"] != "negation"]
    known = {row["context_id"] for row in rows["contexts"]}
    for table in ("persuasion", "greedy_answers"):
        rows[table] = [row for row in rows[table] if row["context_id"] in known]
    rows["contexts"][0]["text"] = rows["queries"][0]["answer"] = MARKUP
    return frames(rows, {*READ_QUERIES, *PAGE_QUERIES})


@pytest.mark.parametrize(("queries", "places"), [(600, [1, 75, 150, 225, 300]), (8, [1, 2, 3, 4])])
def test_of_many_queries_five_of_type_are_shown(queries: int, places: list[int]) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"""CREATE TABLE queries AS SELECT 'capital' AS relation, i::VARCHAR AS query_id, 1 AS form,
            if(i % 2 = 0, 'open', 'closed') AS query_type, '' AS entity, false AS invented, '' AS answer, '' AS "text"
            FROM range({queries}) AS of(i);
            CREATE TABLE susceptibility AS SELECT relation, query_id, query_id::DOUBLE AS susceptibility FROM queries"""
        )
        shown = connection.sql(NAMED_QUERIES["chosen_queries"].sql).df()
    assert list(shown[shown["query_type"] == "open"]["place"]) == places
    assert shown["query_id"].iloc[0] == str(queries - 2)


def test_contexts_are_those_that_persuade_most_and_least(two: dict[str, pd.DataFrame]) -> None:
    rows = two["contexts_of_chosen_queries"]
    of_one = rows[rows["query_id"] == rows["query_id"].iloc[0]]
    assert sorted(set(of_one["place"])) == [1, 2, 3, 4, 5, 6, 18, 19, 20]
    means = of_one.groupby("place")["persuasion"].mean()
    assert list(means) == sorted(means, reverse=True)
    assert of_one.groupby("place")["model"].nunique().eq(2).all()


def test_the_page_is_self_contained_and_escapes(tmp_path: Path, two: dict[str, pd.DataFrame]) -> None:
    text = (tmp_path / write_queries(two, tmp_path, dataclasses.replace(CARD, name=MARKUP))).read_text("utf-8")
    page = Parsed(text)
    page.assert_self_contained()
    page.assert_inner_links_arrive()
    assert MARKUP not in text
    assert "11 contexts between" in text
    ids = {attributes["id"] for _, attributes in page.found if "id" in attributes}
    for query in two["chosen_queries"]["query_id"]:
        assert query_address(query).partition("#")[2] in ids
    assert relation_address("capital").partition("#")[2] in ids


def test_what_model_lacks_of_query_is_dash(tmp_path: Path, two: dict[str, pd.DataFrame]) -> None:
    first, second = two["chosen_queries"]["query_id"].iloc[:2]
    left = {**two}
    for name in READ_QUERIES[1:]:
        rows = two[name]
        left[name] = rows[(rows["query_id"] != second) & ((rows["query_id"] != first) | (rows["model"] != "other"))]
    text = (tmp_path / write_queries(left, tmp_path, CARD)).read_text("utf-8")
    assert "<td>–</td>" in text.partition("<tfoot>")[2].partition("</tfoot>")[0]
    assert query_address(second).partition("#")[2] not in text


def test_without_scores_there_is_no_page(tmp_path: Path, two: dict[str, pd.DataFrame]) -> None:
    assert write_queries({**two, "contexts_of_chosen_queries": pd.DataFrame()}, tmp_path, CARD) == ""
    assert list(tmp_path.iterdir()) == []


def test_marks_of_figure_lead_to_queries_and_questions(report: Path, html: str) -> None:
    places = [attributes["href"] for tag, attributes in Parsed(html).found if tag == "a" and "tabindex" in attributes]
    question = question_address("question 0", Model(MODEL, "float32"))
    assert {question, query_address("capital open 1 0")} <= set(places)
    ids = {attributes.get("id") for _, attributes in Parsed((report / "queries.html").read_text("utf-8")).found}
    assert {place.partition("#")[2] for place in places if place.startswith("queries.html")} <= ids
    assert f'<a href="{relation_address("capital")}"><bdi>capital</bdi></a>' in html
