"""SPARQL responses like those of Oxigraph 0.5.13, served on 127.0.0.1, and hostile texts in queries."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

from swaymeter.data.errors import InputError, ServiceError, ServiceTimeout
from swaymeter.data.sources.graph.sparql import RESULTS, Endpoint, Literal, Uri, bound, iris, is_iri, string
from tests.data.sources.graph.sparql_server import FORM, endpoint_at
from tests.data.sources.graph.yago_graph import NASTY_NAMES
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, serving

XSD = "http://www.w3.org/2001/XMLSchema#"
ADA = {"type": "uri", "value": "http://yago-knowledge.org/resource/Ada_Example"}


def result(*bindings: object) -> str:
    """Return the result of a query in JSON."""
    return json.dumps({"head": {"vars": []}, "results": {"bindings": bindings}})


def literal(value: str, **keys: object) -> dict[str, object]:
    return {"type": "literal", "value": value, **keys}


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """Yield an endpoint that responds with the text of a query, and refuses a query that begins with "error at"."""

    def echo(request: ServedRequest) -> ServedResponse:
        is_sound = (request.headers["accept"], request.headers["content-type"]) == (RESULTS, FORM)
        query = request.form["query"]
        return ServedResponse(query, status=400 if query.startswith("error at") or not is_sound else 200)

    with serving(play=echo) as server, endpoint_at(server.address, tmp_path) as endpoint:
        yield endpoint


def test_rows_hold_iris_and_typed_literals(endpoint: Endpoint) -> None:
    values = [
        literal("1970-01-01", datatype=XSD + "date"),
        literal('Déborah "Café"', **{"xml:lang": "en"}),
        literal("646e18"),
        literal("8", datatype=XSD + "integer") | {"type": "typed-literal"},
    ]
    rows = endpoint.select(result(*({"s": ADA, "o": value} for value in values)))
    assert {row["s"] for row in rows.rows} == {Uri(ADA["value"])}
    assert [row["o"] for row in rows.rows] == [
        Literal("1970-01-01", XSD + "date"),
        Literal('Déborah "Café"', None, "en"),
        Literal("646e18"),
        Literal("8", XSD + "integer"),
    ]


def test_an_unbound_variable_is_an_absent_key(endpoint: Endpoint) -> None:
    named, unnamed = endpoint.select(result({"s": ADA, "l": literal("Ada")}, {"s": ADA})).rows
    assert bound(named, "l") == Literal("Ada")
    assert "l" not in unnamed
    with pytest.raises(ServiceError, match=r"without the variable \?l"):
        bound(unnamed, "l")


def test_row_with_blank_node_is_dropped_and_counted(endpoint: Endpoint) -> None:
    rows = endpoint.select(result({"s": {"type": "bnode", "value": "b0"}}, {"s": ADA}))
    assert [row["s"] for row in rows.rows] == [ADA["value"]]
    assert (rows.rejected, len(rows)) == (1, 2)
    assert len(endpoint.select(result())) == 0


def test_error_of_refused_query_has_server_message(endpoint: Endpoint) -> None:
    with pytest.raises(ServiceError, match=r"400 Bad Request.*error at 1:26: expected one of LATERAL") as refused:
        endpoint.select("error at 1:26: expected one of LATERAL, SERVICE, [_]")
    assert not isinstance(refused.value, ServiceTimeout)


@pytest.mark.parametrize(
    "content",
    [
        '{"head":{},"boolean":true}',
        "<!doctype html><title>Hello</title>",
        "[1, 2]",
        result(["Ada"]),
        result({"s": {"type": "uri", "value": 7}}),
        result({"s": {"type": ["uri"], "value": "urn:x:1"}}),
        result({"s": literal("1", datatype=5)}),
        result({"s": literal("1", **{"xml:lang": []})}),
        result({"s": literal("\ud800")}),
        '{"error": "busy"}',
        '{"error": {"code": 7}, "results": {"bindings": []}}',
    ],
)
def test_invalid_result_is_error_of_service(content: str, endpoint: Endpoint) -> None:
    with pytest.raises(ServiceError, match=r"YAGO \(http://127") as refused:
        endpoint.select(content)
    assert refused.type is ServiceError


@pytest.mark.parametrize(
    "content", [{"error": "Operation timed out."}, {"exception": {"message": "the query was cancelled"}}]
)
def test_an_error_about_time_is_a_timeout(content: object, endpoint: Endpoint) -> None:
    with pytest.raises(ServiceTimeout, match=r"YAGO \(http.*(timed out|cancelled).*; choose fewer entities or pairs"):
        endpoint.select(json.dumps(content))


# Texts that would end a string, an IRI or a pattern in a query without escapes.
ATTACKS = [
    *NASTY_NAMES.values(),
    '"',
    "'",
    "\\",
    '\\"',
    "\\\\",
    "\\\\\\",
    "\n",
    "\r",
    "\t\b\f",
    "}",
    '" } #',
    '"@en ?x',
    "'''",
    '"""',
    "\\u0022",
    "\\\\u0022 } SELECT",
    "\\U00000022",
    "\\uD800",
    "x\\",
    "?x $y",
    "%s{0}",
    "<>",
    "日本 \u2028 🎭",
    "a\x00b\x01",
]


def unescaped_first(query: str) -> str:
    """Return a query as read by services that first replace every \\uXXXX."""
    return re.sub(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})", lambda match: chr(int(match[1] or match[2], 16)), query)


@pytest.mark.parametrize("language", ["en", None])
@pytest.mark.parametrize("read", [str, unescaped_first])
def test_no_text_can_change_a_query(language: str | None, read: Callable[[str], str]) -> None:
    label, other = ox.NamedNode("http://a.example/label"), ox.NamedNode("http://a.example/other")
    store = ox.Store()
    nodes = {name: ox.NamedNode(f"http://a.example/{number}") for number, name in enumerate(ATTACKS)}
    for name, node in (*nodes.items(), ("other", other)):
        store.add(ox.Quad(node, label, ox.Literal(name, language=language)))
    for name, node in nodes.items():
        query = f"SELECT ?e WHERE {{ VALUES ?l {{ {string(name, language)} }} ?e <http://a.example/label> ?l }}"
        solutions = store.query(read(query))
        assert isinstance(solutions, ox.QuerySolutions)
        assert [solution["e"] for solution in solutions] == [node], name


NOT_IRIS = [
    "",
    "Oslo",
    "//a.example/x",
    "http:",
    "1a:x",
    "http://a/b c",
    "http://a/\n",
    "http://a/\\u003E",
    "http://a/<",
    "http://a/> } ; DROP ALL #",
    'http://a/"',
    "http://a/{x}",
    "http://a/|",
    "http://a/^",
    "http://a/`",
    "http://a/\ud800",
]


def test_an_invalid_iri_is_refused() -> None:
    for value in NOT_IRIS:
        assert not is_iri(value), value
        with pytest.raises(InputError, match="is not a valid absolute IRI"):
            iris(["http://a.example/fine", value])
