"""Options and fixtures of the drawn faults: `make test-faults ARGS="--count 20 --seed 7"`."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import TinyStudy, new_study
from tests.faults.case import Case, as_in_a_terminal, empty_case
from tests.faults.faulty_server import IN_FLIGHT, TIMEOUT_SECONDS, Server, listening


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the drawn faults."""
    parser.addoption("--count", type=int, default=1, help="draws of each fault (1)")
    parser.addoption("--seed", type=int, default=0, help="seed of all draws (0)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat tests with the argument `draw`."""
    if "draw" in metafunc.fixturenames:
        metafunc.parametrize("draw", range(metafunc.config.getoption("--count")))


@pytest.fixture
def generator(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of the test, decided by its name and the seed."""
    return random.Random(f"{request.node.name} {request.config.getoption('--seed')}")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, api: str) -> tuple[TinyStudy, float]:
    """A study after an undisturbed run, and the seconds of such a run."""
    folder = tmp_path_factory.mktemp("finished")
    study = new_study(folder, api).with_fewer_figures(folder / "few.yaml")
    for _ in range(2):  # the first run loads modules and takes longer
        shutil.rmtree(study.workspace, ignore_errors=True)
        began = time.monotonic()
        run = study.run("run", before=as_in_a_terminal)
        assert run.code == 0, run.said
    return study, time.monotonic() - began


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, api: str) -> tuple[TinyStudy, Server, int]:
    """A finished study of a served model, the server of its run, and the port."""
    folder, server, port = tmp_path_factory.mktemp("served"), Server(), free_port()
    address = f"http://127.0.0.1:{port}/ask"
    model = {"name": "made-up", "endpoint": address, "requests_in_flight": IN_FLIGHT, "timeout_s": TIMEOUT_SECONDS}
    study = TinyStudy.of(folder / "served.yaml", folder / "workspace", api, {
        "name": "tiny",
        "seed": 1,
        "facts": {"relations": ["capital"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1},
        "models": [model],
        "questions": {"partitions": ["static", "disputable"], "per_partition": 4},
        "measures": {"answers": {"samples": 3, "max_new_tokens": 4}, "whose_answer": {}, "accuracy": {}},
    })  # fmt: skip
    with listening(server, port):
        run = study.run("run", before=as_in_a_terminal)
    assert run.code == 0, run.said
    return study, server, port


@pytest.fixture
def case(finished: tuple[TinyStudy, float], tmp_path: Path, generator: random.Random) -> Iterator[Case]:
    """The study in an empty workspace."""
    with empty_case(finished[0], tmp_path, generator) as case:
        yield case


@pytest.fixture
def served_case(served: tuple[TinyStudy, Server, int], tmp_path: Path, generator: random.Random) -> Iterator[Case]:
    """The study of a served model in an empty workspace."""
    with empty_case(served[0], tmp_path, generator) as case:
        yield case
