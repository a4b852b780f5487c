"""Options and undisturbed studies of the drawn faults: `make test-faults ARGS="--count 20 --seed 7"`."""

import random
import shutil
import time
from dataclasses import replace

import pytest

from tests.end_to_end.tiny_study import TinyStudy, new_study
from tests.faults.applications import QUESTIONS, Application
from tests.faults.case import Undisturbed, as_in_a_terminal
from tests.faults.faulty_server import IN_FLIGHT, TIMEOUT_SECONDS, Server, a_letter

JUDGED = 60


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
def undisturbed_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> Undisturbed:
    """A study of a model in a folder."""
    folder = tmp_path_factory.mktemp("finished")
    study = new_study(folder, api).with_fewer_figures(folder / "few.yaml")
    _run(study)  # the first run loads modules and takes longer
    shutil.rmtree(study.workspace)
    began = time.monotonic()
    _run(study)
    return Undisturbed(study, seconds=time.monotonic() - began)


@pytest.fixture(scope="session")
def undisturbed_served_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> Undisturbed:
    """A study of a served model."""
    folder, server = tmp_path_factory.mktemp("served"), Server()
    model = {
        "name": "made-up",
        "endpoint": server.address,
        "requests_in_flight": IN_FLIGHT,
        "timeout_s": TIMEOUT_SECONDS,
    }
    study = TinyStudy.of(folder / "served.yaml", folder / "workspace", api, {
        "name": "tiny",
        "seed": 1,
        "facts": {"relations": ["capital"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1},
        "models": [model],
        "questions": {"partitions": ["static", "disputable"], "per_partition": 4},
        "measures": {"answers": {"samples": 3, "max_new_tokens": 4}, "whose_answer": {}, "accuracy": {}},
    })  # fmt: skip
    with server.listening():
        _run(study)
    return Undisturbed(study, server=server)


@pytest.fixture(scope="session")
def undisturbed_judged_audit(tmp_path_factory: pytest.TempPathFactory, api: str) -> Undisturbed:
    """An audit of recorded replies that a served judge reads."""
    folder, server = tmp_path_factory.mktemp("judged"), Server(a_letter)
    rows = (f"Where is fair {n}?,Hall {n},It is in hall {n}.,supporting,The usual place {n}" for n in range(JUDGED))
    (folder / "log.csv").write_text("\n".join(["question,answer,context,kind,response", *rows]))
    study = replace(TinyStudy.of(folder / "no.yaml", folder / "workspace", api, {}), file=folder / "log.csv")
    command = ("audit", "--replies", "response", "--judge", f"made-up@{server.address}")
    with server.listening():
        assert f"decided {JUDGED} of {JUDGED} undecided" in _run(study, *command)
    return Undisturbed(study, command, server=server)


@pytest.fixture(scope="session")
def undisturbed_application_audit(tmp_path_factory: pytest.TempPathFactory, api: str) -> Undisturbed:
    """An audit of an application."""
    application = Application(tmp_path_factory.mktemp("application"))
    folder = application.file.parent
    study = replace(TinyStudy.of(folder / "no.yaml", folder / "workspace", api, {}), file=application.table)
    command = ("audit", "--model", f"{application.file}:answer", "--timeout", "1")
    _run(study, *command)
    assert application.calls == 2 * len(QUESTIONS)
    return Undisturbed(study, command)


def _run(study: TinyStudy, *command: str) -> str:
    """Run a study to its end and return its output."""
    run = study.run(*(command or ("run",)), before=as_in_a_terminal)
    assert run.code == 0, run.said
    return run.said
