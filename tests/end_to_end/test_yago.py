"""Facts of a graph from a real server or a dump: from the fetch to the page, with kills, and without a network."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.data.sources.graph.sparql_server import answer_query
from tests.data.sources.graph.yago_graph import GRAPH, RELATIONS
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, serving
from tests.end_to_end.tiny_study import Run, TinyStudy, wait_until
from tests.tasks.models.tiny import save_language_model

KILLS_AFTER = (3, 30, 60)
"""Total numbers of requests with a response before each kill."""
NO_LIMIT = 1_000_000
_SOURCE_COLUMNS = ("address", "query", "retrieved_at", "absent_from")


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    with serving(play=answer_query) as server:
        yield server.address


NewGraphStudy = Callable[..., TinyStudy]


@pytest.fixture(scope="session")
def new_graph_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> NewGraphStudy:
    """Return a function that creates a study of all relations of the graph with a new workspace."""

    def create(address: str | None, **facts: Any) -> TinyStudy:
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

    return create


@pytest.fixture(scope="session")
def graph_study(service: str, new_graph_study: NewGraphStudy) -> TinyStudy:
    """Return a study of the server's graph after an undisturbed run; tests must not change it."""
    graph = new_graph_study(service)
    run = graph.run("run")
    assert run.code == 0, run.output
    return graph


@contextmanager
def limited_service() -> Iterator[tuple[str, list[str], list[int]]]:
    """Serve the graph for a number of requests, and hold back the responses to later requests.

    Yields:
        The address, the queries with a response, and a list with the number of requests that are left.
    """
    answered, left, never = list[str](), [NO_LIMIT], threading.Event()

    def play(request: ServedRequest) -> ServedResponse:
        if not left[0]:
            return ServedResponse(status=503, hold=never)
        left[0] -= 1
        answered.append(request.form["query"])
        return answer_query(request)

    with serving(play=play) as server:
        yield server.address, answered, left


def fetched_rows(study: TinyStudy) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each fetched file, without columns about the source."""
    return {
        path.name.rsplit("-", 2)[0]: [
            {name: value for name, value in row.items() if name not in _SOURCE_COLUMNS}
            for row in pq.read_table(path, partitioning=None).to_pylist()
        ]
        for path in sorted(study.workspace.glob("facts/*.parquet"))
    }


def test_relations_of_a_graph_run_to_the_page(service: str, graph_study: TinyStudy) -> None:
    assert len(RELATIONS) >= 10
    page = (graph_study.workspace / "report" / "index.html").read_text(encoding="utf-8")
    assert "Are the entities that a graph knows most of the hardest to sway?" in page
    with duckdb.connect(graph_study.workspace / "study.duckdb", read_only=True) as database:
        summary = database.execute(
            "SELECT count(DISTINCT relation), bool_and(retrieved_at IS NOT NULL AND query IS NOT NULL), "
            "bool_and(address = ?), min(subject_degree), any_value(licence) FROM facts",
            [service],
        ).fetchone()
        assert summary
        relation_count, has_origins, has_address, smallest_degree, licence = summary
        assert (relation_count, has_origins, has_address, licence) == (len(RELATIONS), True, True, "CC BY 4.0")
        assert smallest_degree > 0
        degrees = database.execute(
            "SELECT invented, min(degree), min(relation_degree) FROM degree_of_queries GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        assert degrees[1] == (True, 0, 0)
        assert min(degrees[0][1:]) > 0
        correlations = database.execute("SELECT count(*) FROM correlations WHERE measure_a = 'log_degree'").fetchone()
        assert correlations
        assert correlations[0] > 0


def test_killed_fetch_loses_and_repeats_nothing(graph_study: TinyStudy, new_graph_study: NewGraphStudy) -> None:
    with limited_service() as (address, answered, left):
        disturbed = new_graph_study(address)
        for count in KILLS_AFTER:
            left[0] = count - len(answered)
            with disturbed.start("run", "--stage", "fetch") as running:
                wait_until(lambda count=count: len(answered) == count, running)
                time.sleep(2)  # the study stores the responses meanwhile, and the next response is held back
                os.kill(running.pid, signal.SIGKILL)
            for process in disturbed.processes():
                process.kill()
        left[0] = NO_LIMIT
        assert (run := disturbed.run("run", "--stage", "fetch")).code == 0, run.output
        assert len(answered) > max(KILLS_AFTER)
        assert Counter(answered).most_common(1)[0][1] == 1  # no query is repeated
        request_count = len(answered)
        assert disturbed.run("run", "--stage", "fetch").code == 0
        assert len(answered) == request_count
    assert fetched_rows(disturbed) == fetched_rows(graph_study)


def test_the_same_facts_come_from_a_dump(graph_study: TinyStudy, new_graph_study: NewGraphStudy) -> None:
    loaded = new_graph_study(None, dump=[str(GRAPH)])
    assert (run := loaded.run("run", "--stage", "fetch")).code == 0, run.output
    assert fetched_rows(loaded) == fetched_rows(graph_study)


def test_error_names_unreachable_service_and_other_sources(new_graph_study: NewGraphStudy) -> None:
    unreachable = new_graph_study("http://yago.invalid/sparql")  # the domain .invalid never exists
    start = time.monotonic()
    run: Run = unreachable.run("run")
    assert time.monotonic() - start < 120
    assert run.code == 1
    assert "YAGO (http://yago.invalid/sparql) cannot be reached" in run.output
    assert "source: sample" in run.output
    assert "dump" in run.output


def test_a_relation_that_fails_stops_no_other(service: str, new_graph_study: NewGraphStudy) -> None:
    lacking = new_graph_study(service, relations=["capital", "parallax"])  # the graph has no facts of parallax
    run = lacking.run("run", "--stage", "fetch")
    assert run.code == 1
    assert "relation parallax" in run.output
    assert [name for name in fetched_rows(lacking) if name.startswith("facts-")] == ["facts-capital"]
