"""A model server that fails in the middle of a run: the run goes on or names the server, and no reply is paid twice."""

import random
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import TinyStudy, until
from tests.faults.case import Case, as_in_a_terminal, empty_case
from tests.faults.faulty_server import FAULTS, FOR_GOOD, IN_FLIGHT, SLOW, Server, a_letter, listening

pytestmark = pytest.mark.faults
JUDGED = 60
Served = tuple[TinyStudy, Server, int]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_outlasts_a_faulty_server(fault: str, draw: int, served_case: Case, served: Served) -> None:
    _, usual, port = served
    first = served_case.generator.randrange(usual.probes, usual.requests - 1)
    left = served_case.generator.choice((1, 3) if fault in SLOW else (1, 3, 9, FOR_GOOD))
    check_faulty(served_case, Server(FAULTS[fault], first, left), port)


def check_faulty(case: Case, server: Server, port: int) -> None:
    """Run the command beside a faulty server and again beside a right one; no right response is asked for twice."""
    with listening(server, port):
        with case.study.start(*case.command, before=as_in_a_terminal) as running:
            case.check_end(running, f"made-up (http://127.0.0.1:{port}", codes=(0, 1, 2))
        if not server.reached.is_set():
            pytest.skip("the run was over before the fault")
        server.left = 0
        case.complete()
    assert server.repeated == []


@pytest.mark.parametrize("seconds", [2.0, 6.0, None])
def test_a_run_outlasts_a_server_that_goes_away(
    seconds: float | None, draw: int, served_case: Case, served: Served
) -> None:
    case, (_, usual, port) = served_case, served
    server = Server(None, case.generator.randrange(usual.probes, usual.requests - 1), FOR_GOOD)
    with ExitStack() as later, ExitStack() as now:
        now.enter_context(listening(server, port))
        with case.study.start("run", before=as_in_a_terminal) as running:
            until(server.reached.is_set, running)
            now.close()
            server.left = 0
            if seconds is not None:
                timer = threading.Timer(seconds, lambda: later.enter_context(listening(server, port)))
                later.callback(timer.join)
                timer.start()
            case.check_end(running, f"made-up (http://127.0.0.1:{port}", codes=(0, 1, 2))
        if seconds is None:
            later.enter_context(listening(server, port))
        else:
            timer.join()
        case.complete()
    assert server.repeated == []


def test_a_kill_repeats_only_requests_in_flight(draw: int, served_case: Case, served: Served) -> None:
    case, (_, usual, port) = served_case, served
    server = Server()
    with listening(server, port):
        with case.study.start("run", before=as_in_a_terminal) as running:
            last = case.generator.randrange(usual.probes, usual.requests)
            until(lambda: server.requests >= last, running)
            running.process.kill()
        case.complete()
    assert len(server.repeated) <= IN_FLIGHT


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, api: str) -> tuple[TinyStudy, Server, int, tuple[str, ...]]:
    """An audit of recorded replies that a served judge reads, the server, the port and the command."""
    folder, server, port = tmp_path_factory.mktemp("judged"), Server(right=a_letter), free_port()
    rows = (f"Where is fair {n}?,Hall {n},It is in hall {n}.,supporting,The usual place {n}" for n in range(JUDGED))
    (folder / "log.csv").write_text("\n".join(["question,answer,context,kind,response", *rows]))
    study = replace(TinyStudy.of(folder / "no.yaml", folder / "workspace", api, {}), file=folder / "log.csv")
    command = ("audit", "--replies", "response", "--judge", f"made-up@http://127.0.0.1:{port}/ask")
    with listening(server, port):
        run = study.run(*command, before=as_in_a_terminal)
    assert run.code == 0, run.said
    assert f"decided {JUDGED} of {JUDGED} undecided" in run.said
    return study, server, port, command


def test_an_audit_outlasts_a_faulty_judge(
    draw: int, judged: tuple[TinyStudy, Server, int, tuple[str, ...]], tmp_path: Path, generator: random.Random
) -> None:
    finished, usual, port, command = judged
    fault = generator.choice([name for name in FAULTS if name not in SLOW])  # a judge may be silent for ten minutes
    left = generator.choice((1, 3, FOR_GOOD))
    server = Server(FAULTS[fault], generator.randrange(usual.probes, usual.requests), left, a_letter)
    with empty_case(finished, tmp_path, generator, command) as case:
        check_faulty(case, server, port)
