"""Options, draws and studies of the faults: `make test-faults ARGS="--count 20 --seed 7"`."""

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.end_to_end import worker_preload
from tests.end_to_end.tiny_study import TinyStudy, new_study
from tests.faults.case import Case
from tests.faults.faulty_server import IN_FLIGHT, TIMEOUT_SECONDS, Server

REPLIES = 60


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--count", type=int, default=1, help="draws of each fault (1)")
    parser.addoption("--seed", type=int, default=0, help="seed of all draws (0)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with `generator` once for each draw, and mark it."""
    if "generator" in metafunc.fixturenames:
        draws = [pytest.param(draw, marks=pytest.mark.faults) for draw in range(metafunc.config.getoption("--count"))]
        metafunc.parametrize("generator", draws, indirect=True)


@pytest.fixture
def generator(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of the test, decided by its name and the seed."""
    return random.Random(f"{request.node.name} {request.config.getoption('--seed')}")


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Case]:
    """The study of `local_study`, or of the fixture that a parameter names, in an empty workspace."""
    # Dask workers use chunks of the same size as the command
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", json.dumps([worker_preload.__name__]))
    finished: Case = request.getfixturevalue(getattr(request, "param", "local_study"))
    case = replace(finished, study=finished.study.copy(tmp_path / "workspace", with_files=False))
    yield case
    for process in case.study.processes():
        process.kill()


@pytest.fixture(scope="session")
def local_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> Case:
    """A study of a model in a folder."""
    folder = tmp_path_factory.mktemp("local")
    study = new_study(folder, api).with_two_measures(folder / "few.yaml")
    Case.of(study, "run")  # the first run loads modules and takes longer
    shutil.rmtree(study.workspace)
    return Case.of(study, "run")


@pytest.fixture(scope="session")
def served_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> Case:
    folder, server = tmp_path_factory.mktemp("served"), Server()
    limits = {"requests_in_flight": IN_FLIGHT, "timeout_s": TIMEOUT_SECONDS}
    study = TinyStudy.of(
        folder / "served.yaml",
        folder / "workspace",
        api,
        {
            "name": "tiny",
            "seed": 1,
            "facts": {"relations": ["capital"], "real_entities": 2, "invented_entities": 1},
            "contexts": {"base": 1, "assertive": 1},
            "models": [{"name": "made-up", "endpoint": server.address, **limits}],
            "questions": {"partitions": ["static", "disputable"], "per_partition": 4},
            "measures": {"answers": {"samples": 3, "max_new_tokens": 4}, "whose_answer": {}, "accuracy": {}},
        },
    )
    return Case.of(study, "run", server=server)


@pytest.fixture(scope="session")
def judged_audit(tmp_path_factory: pytest.TempPathFactory, api: str) -> Case:
    """An audit of recorded replies that a served judge reads."""
    folder, server = tmp_path_factory.mktemp("judged"), Server()
    rows = (f"Where is fair {n}?,Hall {n},It is in hall {n}.,supporting,The usual place {n}" for n in range(REPLIES))
    (folder / "log.csv").write_text("\n".join(["question,answer,context,kind,response", *rows]))
    study = replace(TinyStudy.of(folder / "unused.yaml", folder / "workspace", api, {}), file=folder / "log.csv")
    case = Case.of(study, "audit", "--replies", "response", "--judge", f"made-up@{server.address}", server=server)
    assert len(server.answered) == REPLIES
    return case
