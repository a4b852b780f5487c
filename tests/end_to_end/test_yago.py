"""Facts of a graph on a real server, all the way to the page; through kills, from a dump, and without a network."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.data.sources.graph.sparql_server import SparqlService, served
from tests.data.sources.graph.yago_graph import RELATIONS, write_graph
from tests.data.sources.servers.faults import Say, ServedRequest, serving
from tests.end_to_end.tiny_study import Run, TinyStudy, until
from tests.tasks.models.tiny import save_language_model

KILLS_AFTER = (3, 30, 60)
"""How many requests are answered before each kill."""


@pytest.fixture(scope="session")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "yago-facts.ttl"
    assert write_graph(path) >= 1_000
    return path


@pytest.fixture(scope="session")
def service(turtle: Path) -> Iterator[str]:
    with served(turtle) as server:
        yield server.address


Studies = Callable[..., TinyStudy]


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory, api: str) -> Studies:
    """Makes studies of all relations of the graph, each with a workspace of its own."""

    def made(address: str | None, **facts: Any) -> TinyStudy:
        folder = tmp_path_factory.mktemp("graph-study")
        content = {
            "name": "graph",
            "seed": 3,
            "services": {"contact": "tests@example.org"},
            "facts": {
                "source": "yago",
                "relations": list(RELATIONS),
                "pairs": 8,
                "real_entities": 2,
                "invented_entities": 1,
                "invented": "names",
                **facts,
            },
            "contexts": {"base": 1, "assertive": 0, "negation": 0},
            "models": [{"name": str(save_language_model(folder / "tiny-model")), "dtype": "float32", "device": "cpu"}],
            "measures": {"persuasion": {}, "susceptibility": {}},
        }
        if address:
            content["services"]["yago"] = {"address": address, "requests_per_minute": 60_000}  # type: ignore[index]
        return TinyStudy.of(folder / "graph.yaml", folder / "workspace", api, content)

    return made


@pytest.fixture(scope="session")
def of_graph(service: str, study: Studies) -> TinyStudy:
    """A study of the server's graph after a run that nothing disturbed; not to be changed."""
    graph = study(service)
    run = graph.run("run")
    assert run.code == 0, run.said
    return graph


@contextmanager
def holding(turtle: Path) -> Iterator[tuple[str, list[str], list[int]]]:
    """A service of the graph that answers so many requests as it is told and holds the next one back.

    Its address, the queries that were answered, and how many may still be.
    """
    answered, left, never = list[str](), [1_000_000], threading.Event()
    service = SparqlService(turtle)

    def play(asked: ServedRequest) -> Say:
        if not left[0]:
            return Say(status=503, hold=never)
        left[0] -= 1
        answered.append(asked.form["query"])
        return service(asked)

    with serving(play=play) as server:
        yield server.address, answered, left


def facts(study: TinyStudy) -> dict[str, list[dict[str, Any]]]:
    """Every relation's facts without when and where they were asked for."""
    return {
        path.name.rsplit("-", 2)[0]: [
            {
                name: value
                for name, value in row.items()
                if name not in ("address", "query", "retrieved_at", "absent_from")
            }
            for row in pq.read_table(path, partitioning=None).to_pylist()
        ]
        for path in sorted(study.workspace.glob("facts/*.parquet"))
    }


def test_relations_of_a_graph_run_to_the_page(service: str, of_graph: TinyStudy) -> None:
    assert len(RELATIONS) >= 10
    page = (of_graph.workspace / "report" / "index.html").read_text(encoding="utf-8")
    assert "Are the entities that a graph knows most of the hardest to sway?" in page
    with duckdb.connect(of_graph.workspace / "study.duckdb", read_only=True) as database:
        found = database.execute(
            "SELECT count(DISTINCT relation), bool_and(retrieved_at IS NOT NULL AND query IS NOT NULL), "
            "bool_and(address = ?), min(subject_degree), any_value(licence) FROM facts",
            [service],
        ).fetchone()
        assert found == (len(RELATIONS), True, True, found[3], "CC BY 4.0")
        assert found[3] > 0
        degrees = database.execute(
            "SELECT invented, min(degree), min(relation_degree) FROM degree_of_queries GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        assert degrees[1] == (True, 0, 0)
        assert min(degrees[0][1:]) > 0
        measured = database.execute("SELECT count(*) FROM correlations WHERE measure_a = 'log_degree'").fetchone()
        assert measured
        assert measured[0] > 0


def test_killed_fetch_ends_alike_and_asks_nothing_twice(turtle: Path, of_graph: TinyStudy, study: Studies) -> None:
    with holding(turtle) as (address, answered, left):
        disturbed = study(address)
        for count in KILLS_AFTER:
            left[0] = count - len(answered)
            with disturbed.start("run", "--stage", "fetch") as running:
                until(lambda reached=count: len(answered) == reached, running)
                time.sleep(2)  # what was answered is kept meanwhile; the next request is held back
                os.kill(running.pid, signal.SIGKILL)
            for other in disturbed.processes():
                other.kill()
        left[0] = 1_000_000
        assert (run := disturbed.run("run", "--stage", "fetch")).code == 0, run.said
        assert len(answered) > max(KILLS_AFTER)
        assert Counter(answered).most_common(1)[0][1] == 1
        once = len(answered)
        assert disturbed.run("run", "--stage", "fetch").code == 0
        assert len(answered) == once
    assert facts(disturbed) == facts(of_graph)


def test_the_same_facts_come_from_a_dump(turtle: Path, of_graph: TinyStudy, study: Studies) -> None:
    loaded = study(None, dump=[str(turtle)])
    assert (run := loaded.run("run", "--stage", "fetch")).code == 0, run.said
    assert facts(loaded) == facts(of_graph)


def test_unreachable_service_is_named_with_way_out(study: Studies) -> None:
    unreachable = study("http://yago.invalid/sparql")  # a name that is reserved for never being one
    start = time.monotonic()
    run: Run = unreachable.run("run")
    assert time.monotonic() - start < 120
    assert run.code == 1
    assert "YAGO (http://yago.invalid/sparql) cannot be reached" in run.said
    assert "source: sample" in run.said
    assert "dump" in run.said


def test_a_relation_that_fails_stops_no_other(service: str, study: Studies) -> None:
    """Of parallax the graph holds nothing."""
    lacking = study(service, relations=["capital", "parallax"])
    run = lacking.run("run", "--stage", "fetch")
    assert run.code == 1
    assert "relation parallax" in run.said
    assert [name for name in facts(lacking) if name.startswith("facts-")] == ["facts-capital"]
