"""The declared needs of named queries, against needs that follow from the syntax trees of DuckDB."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import duckdb
import pytest

from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import Schema
from swaymeter.flows.stages.aggregate import schema

VIEWS = {query.name for query in NAMED_QUERIES.values() if query.is_view}
READABLE = VIEWS | Schema(schema()).by_name.keys()
Needs = Mapping[str, set[str]]


@cache
def _aggregates() -> set[str]:
    """Return the names of functions that make one row of many."""
    names = "SELECT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    return {name for (name,) in duckdb.sql(names).fetchall()} | {"count_star"}


def needs_of(sql: str) -> set[str]:
    """Return the tables and views that a query needs: if any of them is empty, the query returns no rows."""
    ((tree,),) = duckdb.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    (statement,) = json.loads(tree)["statements"]
    return _needs_of_node(statement["node"], {})


def _needs_of_node(node: Any, outer_cte_needs: Needs) -> set[str]:
    """Return the needs of a SELECT or of a set operation; `outer_cte_needs` has the needs of outer CTEs."""
    cte_needs = dict(outer_cte_needs)
    for each in node["cte_map"]["map"]:
        cte_needs[each["key"].lower()] = _needs_of_node(each["value"]["query_node"], cte_needs)
    if node["type"] == "SET_OPERATION_NODE":
        children = [_needs_of_node(child, cte_needs) for child in node["children"]]
        return set.intersection(*children) if node["setop_type"] == "UNION" else children[0]
    assert node["type"] == "SELECT_NODE"
    has_groups = node["aggregate_handling"] != "STANDARD_HANDLING" or (node["group_sets"] and all(node["group_sets"]))
    if not has_groups and _has_aggregate(node["select_list"]):  # one row, even of empty tables
        return set()
    return _needs_of_source(node["from_table"], cte_needs)


def _needs_of_source(source: Any, cte_needs: Needs) -> set[str]:
    """Return the needs of what stands after FROM: a table, a subquery or a join."""
    if source["type"] == "BASE_TABLE":
        name = source["table_name"].lower()
        return cte_needs.get(name, {name} & READABLE)
    if source["type"] == "SUBQUERY":
        return _needs_of_node(source["subquery"]["node"], cte_needs)
    if source["type"] != "JOIN":
        return set()
    left, right = (_needs_of_source(source[side], cte_needs) for side in ("left", "right"))
    by_join = {"INNER": left | right, "SEMI": left | right, "LEFT": left, "ANTI": left, "RIGHT": right}
    return by_join.get(source["join_type"], set())


def _has_aggregate(node: Any) -> bool:
    """Return True if an expression aggregates rows; aggregates of subqueries do not count."""
    if isinstance(node, list):
        return any(_has_aggregate(each) for each in node)
    if not isinstance(node, dict) or "subquery" in node:
        return False
    is_aggregate = node.get("class") == "FUNCTION" and node["function_name"] in _aggregates()
    return is_aggregate or _has_aggregate([*node.values()])


@pytest.mark.parametrize("query", NAMED_QUERIES.values(), ids=lambda query: query.name)
def test_declared_needs_follow_from_sql(query: NamedQuery) -> None:
    assert query.needs == needs_of(query.sql)


@pytest.mark.parametrize(
    ("sql", "needs"),
    [
        ("SELECT * FROM facts JOIN queries USING (query_id)", {"facts", "queries"}),
        ("SELECT * FROM facts LEFT JOIN queries USING (query_id)", {"facts"}),
        ("SELECT * FROM facts FULL JOIN queries USING (query_id)", set()),
        ("WITH facts AS (SELECT * FROM contexts) SELECT * FROM facts", {"contexts"}),
        ("SELECT count(*) FROM facts", set()),
        ("SELECT relation, count(*) FROM facts GROUP BY ALL", {"facts"}),
        ("SELECT 1 FROM facts UNION ALL SELECT 1 FROM queries", set()),
    ],
)
def test_needs_of_hand_worked_queries(sql: str, needs: set[str]) -> None:
    assert needs_of(sql) == needs
