"""docs/extending.md: the files of the page extend a study through the registries alone."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from swaymeter.data.named import Registry
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.warehouse.queries import NAMED_QUERIES
from swaymeter.flows import study_graph
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.study_graph import graph_of
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.tables import TABLES
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS
from tests.extensions import PAGE, figure, files_of, swayed_queries
from tests.flows.small_study import run
from tests.registries import only
from tests.reports.pixels import without_pixels
from tests.tasks.models.tiny import save_language_model

MEASURE_ALONE, _ = PAGE.split("## A measure about questions")
"""The beginning of the page, whose commands run its first measure."""
REGISTRIES: tuple[Registry[Any], ...] = (FACT_SOURCES, MEASURES, NAMED_QUERIES, STATISTICS, FIGURES, TABLES)


def write_files(page: str, folder: Path) -> None:
    """Write the files of the page, with a tiny model in place of the bundled model."""
    model = save_language_model(folder / "tiny-model")
    for name, text in files_of(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("smollm2-135m-instruct", str(model)), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write all files of the page to a folder, and import their package."""
    folder = tmp_path_factory.mktemp("extended")
    write_files(PAGE, folder)
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("mine")
        yield folder
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
            del sys.modules[name]
        for registry in REGISTRIES:
            for name in [*registry.added]:
                del registry[name]


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    """Load a study with the new source, measure, comparison and figure."""
    return Study.load(str(folder / "my-facts.yaml"))


@pytest.fixture(scope="module")
def graph(study: Study) -> Iterator[Graph]:
    """Yield the graph after a run that draws the new figure and one bundled figure."""
    memory: dict[Any, Any] = {}
    with without_pixels(), only(FIGURES, {*FIGURES.added, "susceptibility-by-relation"}):
        yield run(lambda: graph_of(study.plan, memory))


@pytest.fixture
def database(graph: Graph, study: Study) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(study.workspace.database, read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("name", sorted(files_of(PAGE)))
def test_files_of_the_page_are_short(name: str) -> None:
    assert len(files_of(PAGE)[name].splitlines()) <= 60


def test_measure_alone_runs_by_commands_of_page(tmp_path: Path) -> None:
    write_files(MEASURE_ALONE, tmp_path)
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", MEASURE_ALONE, re.MULTILINE | re.DOTALL)
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    completed = subprocess.run(
        ["sh", "-ec", commands], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert re.search(r"score 2 of 2  score · capital · persuasion_range · .* done", completed.stdout + completed.stderr)
    assert len(re.findall(r"^│ .+ │ +\d+\.\d+ │$", completed.stdout, re.MULTILINE)) == 4


def test_measure_of_questions_has_its_values_and_table(folder: Path) -> None:
    study = Study.load(str(folder / "my-questions.yaml"))
    with without_pixels():
        run(lambda: graph_of(study.plan))
    with duckdb.connect(study.workspace.database, read_only=True) as database:
        texts = database.sql("SELECT text FROM answers WHERE sample IS NULL").fetchall()
        words = database.sql("SELECT words FROM answer_length").fetchall()
    assert sorted(words) == sorted((len(text.split()),) for (text,) in texts)
    assert len(words) == 12
    assert "How long are answers?" in (study.workspace.report / "index.html").read_text(encoding="utf-8")


def test_every_step_is_done(graph: Graph) -> None:
    assert {str(node.id): node.reason for node in graph if node.state != "done"} == {}


def test_facts_of_the_source_are_in_the_database(database: duckdb.DuckDBPyConnection) -> None:
    rows = database.sql("SELECT relation, subject, object FROM facts ORDER BY ALL").fetchall()
    assert rows == sorted(tuple(line.split(",")) for line in files_of(PAGE)["facts.csv"].splitlines()[1:])


def test_the_measure_has_a_documented_table(database: duckdb.DuckDBPyConnection) -> None:
    expected = database.sql(
        "SELECT query_id, max(persuasion) - min(persuasion) FROM persuasion GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    stored = database.sql("SELECT query_id, persuasion_range FROM persuasion_range ORDER BY ALL").fetchall()
    assert len(stored) == 32
    assert stored == expected
    comments = dict(
        database.sql(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'persuasion_range'"
        ).fetchall()
    )
    assert comments["persuasion_range"] == "largest minus smallest persuasion of the contexts (nats)"
    assert database.sql("SELECT count(*) FROM runs WHERE measure = 'persuasion_range'").fetchall() == [(2,)]


def test_the_step_of_the_page_writes_its_file(study: Study, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    add_step = swayed_queries.add_swayed_queries
    # The last input of `add_report` is the step that makes the database.
    monkeypatch.setattr(study_graph, "add_report", lambda graph, *inputs: add_step(graph, inputs[-1]))
    run(lambda: graph_of(study.plan))
    rows = pd.read_csv(study.workspace.report.with_name("swayed-queries") / "swayed-queries.csv")
    assert graph_of(study.plan).nodes[swayed_queries.WRITE_SWAYED_QUERIES.id("study")].state == "done"
    assert rows.groupby("relation").size().to_dict() == {"capital": 5, "officialLanguage": 5}
    assert rows.groupby("relation")["susceptibility"].agg(lambda values: values.is_monotonic_decreasing).all()


def test_the_comparison_has_its_rows(database: duckdb.DuckDBPyConnection) -> None:
    rows = database.sql(
        "SELECT unit_of_analysis, relation, query_type, n_a, n_b, p IS NULL "
        "FROM statistics WHERE comparison = 'name_length' ORDER BY ALL"
    ).fetchall()
    about = product((("entity", 2), ("query", 4)), ("capital", "officialLanguage"), ("closed", "open"))
    # Two rows against two cannot reach p <= 0.05. Four rows against four can.
    assert rows == [(unit, relation, query_type, n, n, n == 2) for (unit, n), relation, query_type in about]


def test_the_figure_is_in_the_report(graph: Graph, study: Study) -> None:
    report = study.workspace.report
    (svg,) = report.glob("figures/persuasion-range-by-relation-*.svg")
    assert "persuasion_range" in svg.with_suffix(".csv").read_text(encoding="utf-8").splitlines()[0]
    html = (report / "index.html").read_text(encoding="utf-8")
    assert figure.FIGURE.question in html
    assert "n = 32 queries in 2 relations." in html


def test_status_lists_the_measure(graph: Graph, study: Study) -> None:
    states = [(row.subject, row.state) for row in study.rows() if row.measure == "persuasion_range"]
    assert states == [("capital", "done"), ("officialLanguage", "done")]


def test_a_removed_figure_needs_a_new_report(graph: Graph, study: Study) -> None:
    removed = FIGURES[figure.FIGURE.name]
    del FIGURES[removed.name]
    try:
        states = {str(node.id): node.state for node in graph_of(study.plan)}
    finally:
        FIGURES.add(removed)
    assert {name for name, state in states.items() if state != "done"} == {"report · study · page"}
