"""Model servers and judges that fail in the middle of a run, which asks for no right response twice."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from tests.end_to_end.tiny_study import until
from tests.faults.case import Case, Disturbance
from tests.faults.faulty_server import FAULTS, FOR_GOOD, IN_FLIGHT


@contextmanager
def faulty(case: Case, kind: str) -> Iterator[None]:
    """Serve some responses with a fault of a kind."""
    fault, reply = case.generator.choice([*FAULTS[kind].items()])
    left = case.generator.choice((1, 3) if kind == "slow" else (1, 3, 9, FOR_GOOD))
    server = case.undisturbed.server.with_fault(case.generator, reply, left)
    print(f"{fault}: {left} responses from request {server.first} on")
    with server.listening():
        with case.start() as running:
            case.check_end(running, server.address.removesuffix("/ask"))
        if not server.reached.is_set():
            pytest.skip("the run was over before the fault")
        server.left = 0
        yield
    assert server.repeated == []


@contextmanager
def gone(case: Case) -> Iterator[None]:
    """End the server in the middle of a run, and start it again during the run or after it."""
    server = case.undisturbed.server.with_fault(case.generator, None)
    with ExitStack() as before, ExitStack() as after:
        before.enter_context(server.listening())
        with case.start() as running:
            until(server.reached.is_set, running)
            before.close()
            server.left = 0
            timer = threading.Timer(case.generator.choice((2.0, 6.0, 20.0)), after.enter_context, [server.listening()])
            timer.start()
            case.check_end(running, server.address.removesuffix("/ask"))
        timer.join()
        yield
    assert server.repeated == []


@contextmanager
def run_killed(case: Case) -> Iterator[None]:
    """Kill the run; only requests in flight may come again."""
    server = case.undisturbed.server.with_fault(case.generator, lambda right: right, 1)
    with server.listening():
        with case.start() as running:
            until(server.reached.is_set, running)
            running.process.kill()
        yield
    assert len(server.repeated) <= IN_FLIGHT


SERVERS: dict[str, Disturbance] = {
    **{f"{kind} server": partial(faulty, kind=kind) for kind in FAULTS},
    "server gone": gone,
    "run killed beside server": run_killed,
}
JUDGES: dict[str, Disturbance] = {
    f"{kind} judge": partial(faulty, kind=kind)
    for kind in FAULTS
    if kind != "slow"  # a judge may be silent for long
}
