"""The page of queries: its contexts, its models side by side, and the links to it."""

import dataclasses
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from swaymeter.data.warehouse.queries import NAMED_QUERIES
from swaymeter.reports.models import Model, query_address, question_address, relation_address
from swaymeter.reports.queries import READ_QUERIES, write_queries
from swaymeter.reports.report import PAGE_QUERIES
from tests.reports.page_parser import PageParser
from tests.reports.study import CARD, MODEL, frames, tables

MARKUP = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def two_models() -> dict[str, pd.DataFrame]:
    """Return the frames of two models. Their relation has 40 queries and 20 contexts."""
    models = [(MODEL, "float32"), ("other", "float32")]
    rows = tables(models, relations=["capital"], entities=10, questions=6)
    rows["contexts"] = [row for row in rows["contexts"] if row["kind"] != "negation"]
    context_ids = {row["context_id"] for row in rows["contexts"]}
    for table in ("persuasion", "greedy_answers"):
        rows[table] = [row for row in rows[table] if row["context_id"] in context_ids]
    rows["contexts"][0]["text"] = rows["queries"][0]["answer"] = MARKUP
    return frames(rows, {*READ_QUERIES, *PAGE_QUERIES})


@pytest.mark.parametrize(("count", "places"), [(600, [1, 75, 150, 225, 300]), (8, [1, 2, 3, 4])])
def test_at_most_five_queries_a_type_are_shown(count: int, places: list[int]) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"""CREATE TABLE queries AS SELECT 'capital' AS relation, i::VARCHAR AS query_id, 1 AS form,
            if(i % 2 = 0, 'open', 'closed') AS query_type, '' AS entity, false AS invented, '' AS answer, '' AS "text"
            FROM range({count}) AS of(i);
            CREATE TABLE susceptibility AS SELECT relation, query_id, query_id::DOUBLE AS susceptibility FROM queries"""
        )
        shown = connection.sql(NAMED_QUERIES["chosen_queries"].sql).df()
    assert list(shown[shown["query_type"] == "open"]["place"]) == places
    assert shown["query_id"].iloc[0] == str(count - 2)  # the open query of the largest susceptibility


def test_most_and_least_persuasive_contexts_are_shown(two_models: dict[str, pd.DataFrame]) -> None:
    rows = two_models["contexts_of_chosen_queries"]
    first_query = rows[rows["query_id"] == rows["query_id"].iloc[0]]
    assert sorted(set(first_query["place"])) == [1, 2, 3, 4, 5, 6, 18, 19, 20]
    means = first_query.groupby("place")["persuasion"].mean()
    assert list(means) == sorted(means, reverse=True)
    assert first_query.groupby("place")["model"].nunique().eq(2).all()


def test_page_is_self_contained_and_escapes_markup(tmp_path: Path, two_models: dict[str, pd.DataFrame]) -> None:
    text = (tmp_path / write_queries(two_models, tmp_path, dataclasses.replace(CARD, name=MARKUP))).read_text("utf-8")
    page = PageParser(text)
    page.assert_self_contained()
    assert MARKUP not in text
    assert "11 contexts between" in text  # 20 contexts, of which 9 are shown
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    for query in two_models["chosen_queries"]["query_id"]:
        assert query_address(query).partition("#")[2] in ids
    assert relation_address("capital").partition("#")[2] in ids


def test_missing_scores_of_a_model_are_dashes(tmp_path: Path, two_models: dict[str, pd.DataFrame]) -> None:
    first, second = two_models["chosen_queries"]["query_id"].iloc[:2]
    incomplete = {**two_models}
    for name in READ_QUERIES[1:]:
        rows = two_models[name]
        incomplete[name] = rows[
            (rows["query_id"] != second) & ((rows["query_id"] != first) | (rows["model"] != "other"))
        ]
    text = (tmp_path / write_queries(incomplete, tmp_path, CARD)).read_text("utf-8")
    assert "<td>–</td>" in text.partition("<tfoot>")[2].partition("</tfoot>")[0]
    assert query_address(second).partition("#")[2] not in text


def test_page_without_scores_is_not_written(tmp_path: Path, two_models: dict[str, pd.DataFrame]) -> None:
    assert write_queries({**two_models, "contexts_of_chosen_queries": pd.DataFrame()}, tmp_path, CARD) == ""
    assert list(tmp_path.iterdir()) == []


def test_marks_of_figures_link_to_queries_and_questions(report: Path, html: str) -> None:
    links = [
        attributes["href"] for tag, attributes in PageParser(html).elements if tag == "a" and "tabindex" in attributes
    ]
    question_link = question_address("question 0", Model(MODEL, "float32"))
    assert {question_link, query_address("capital open 1 0")} <= set(links)
    ids = {attributes.get("id") for _, attributes in PageParser((report / "queries.html").read_text("utf-8")).elements}
    assert {link.partition("#")[2] for link in links if link.startswith("queries.html")} <= ids
    assert f'<a href="{relation_address("capital")}"><bdi>capital</bdi></a>' in html
