"""docs/extending.md is true: its four modules, and a named query, extend a study through the registries alone."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.stages.resolve import graph_of
from swaymeter.reports.figures import FIGURES
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS
from tests.extensions import comparison, figure, measure, source
from tests.flows.small_study import run
from tests.registered import added
from tests.tasks.models.tiny import save_language_model

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "extending.md").read_text(encoding="utf-8")
QUOTED = ("measure.py", "source.py", "comparison.py", "persuasion_range_of_queries.sql", "figure.py")
FACTS = """\
relation,subject,object
capital,Norvania,Tesk
capital,Bellamarca,Quorin
capital,Ulm Vale,Sarrow
capital,Great Hestonia,Ostrakine
officialLanguage,Norvania,Norvanic
officialLanguage,Bellamarca,Marcan
officialLanguage,Ulm Vale,Valish
officialLanguage,Great Hestonia,Hestonian
"""


@pytest.fixture(scope="module", autouse=True)
def extended() -> Iterator[None]:
    """The package with the four modules and their query, named in its registries."""
    name = "persuasion_range_of_queries"
    sql = (TESTS / "extensions" / f"{name}.sql").read_text(encoding="utf-8")
    with ExitStack() as stack:
        stack.enter_context(added(FACT_SOURCES, source.SOURCE))
        stack.enter_context(added(MEASURES, measure.MEASURE))
        stack.enter_context(added(NAMED_QUERIES, NamedQuery.of_text(name, sql)))
        stack.enter_context(added(STATISTICS, comparison.STATISTIC))
        stack.enter_context(added(FIGURES, figure.FIGURE))
        yield


@pytest.fixture(scope="module")
def selected(extended: None, tmp_path_factory: pytest.TempPathFactory) -> Selected:
    """A study with the new source and measure."""
    folder = tmp_path_factory.mktemp("extended")
    model = save_language_model(folder / "tiny-model")
    (folder / "facts.csv").write_text(FACTS, encoding="utf-8")
    facts = {"source": "csv", "file": str(folder / "facts.csv"), "relations": ["capital", "officialLanguage"]}
    study = {
        "name": "extended",
        "facts": {**facts, "real_entities": 4, "invented_entities": 0},
        "contexts": {"base": 1, "assertive": 0, "negation": 0},
        "models": [{"name": str(model), "dtype": "float32", "device": "cpu"}],
        "measures": ["persuasion_range"],
    }
    file = folder / "extended.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return Selected.of(str(file), str(folder / "workspace"))


@pytest.fixture(scope="module")
def graph(selected: Selected) -> Graph:
    """The graph after a run."""
    memory: dict[Any, Any] = {}
    return run(lambda: graph_of(selected.plan, memory))


@pytest.fixture
def database(graph: Graph, selected: Selected) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(selected.workspace.database, read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("name", QUOTED)
def test_the_page_quotes_short_modules_as_they_are(name: str) -> None:
    text = (TESTS / "extensions" / name).read_text(encoding="utf-8")
    assert f"```{'sql' if name.endswith('.sql') else 'python'}\n{text}```\n" in PAGE
    assert len(text.splitlines()) <= 60


def test_every_step_is_done(graph: Graph) -> None:
    assert {str(node.id): node.reason for node in graph if node.state != "done"} == {}


def test_facts_of_the_source_are_in_the_database(database: duckdb.DuckDBPyConnection) -> None:
    rows = database.sql("SELECT relation, subject, object FROM facts ORDER BY ALL").fetchall()
    assert rows == sorted(tuple(line.split(",")) for line in FACTS.splitlines()[1:])


def test_the_measure_has_a_documented_table(database: duckdb.DuckDBPyConnection) -> None:
    by_hand = database.sql(
        "SELECT query_id, max(persuasion) - min(persuasion) FROM persuasion GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    stored = database.sql("SELECT query_id, persuasion_range FROM persuasion_range ORDER BY ALL").fetchall()
    assert len(stored) == 32
    assert stored == by_hand
    comments = dict(
        database.sql(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'persuasion_range'"
        ).fetchall()
    )
    assert comments["persuasion_range"] == "largest minus smallest persuasion of the contexts (nats)"
    assert database.sql("SELECT count(*) FROM runs WHERE measure = 'persuasion_range'").fetchall() == [(2,)]


def test_the_comparison_has_its_rows(database: duckdb.DuckDBPyConnection) -> None:
    rows = database.sql(
        "SELECT unit_of_analysis, relation, query_type, n_a, n_b, p IS NULL "
        "FROM statistics WHERE comparison = 'name_length' ORDER BY ALL"
    ).fetchall()
    about = product((("entity", 2), ("query", 4)), ("capital", "officialLanguage"), ("closed", "open"))
    # Two against two cannot reach p <= 0.05; four against four can.
    assert rows == [(unit, relation, kind, n, n, n == 2) for (unit, n), relation, kind in about]


def test_the_figure_is_in_the_page(graph: Graph, selected: Selected) -> None:
    report = selected.workspace.report
    (svg,) = report.glob("figures/persuasion-range-by-relation-*.svg")
    assert "persuasion_range" in svg.with_suffix(".csv").read_text(encoding="utf-8").splitlines()[0]
    page = (report / "index.html").read_text(encoding="utf-8")
    assert figure.FIGURE.question in page
    assert "n = 32 queries in 2 relations." in page


def test_status_lists_the_measure(graph: Graph, selected: Selected) -> None:
    found = [(row.subject, row.state) for row in selected.rows() if row.measure == "persuasion_range"]
    assert found == [("capital", "done"), ("officialLanguage", "done")]


def test_the_page_is_drawn_again_without_the_figure(graph: Graph, selected: Selected) -> None:
    del FIGURES[figure.FIGURE.name]
    try:
        states = {str(node.id): node.state for node in graph_of(selected.plan)}
    finally:
        FIGURES.add(figure.FIGURE)
    assert {name for name, state in states.items() if state != "done"} == {"report · study · page"}
