"""A guard that fails tests which try to reach other machines, and fixtures of Prefect's server and a finished study.

The guard does not cover processes that a test starts. Models compute with one thread, because the threads of parallel
test processes would wait for each other.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# torch and huggingface_hub read these variables on import; telemetry would open a connection
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DO_NOT_TRACK", "1")

refused: list[str] = []
"""Addresses that the test in progress tried to reach."""


def is_this_machine(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_other_machines(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a connection to another machine and the look-up of its name; Python calls this hook before each event."""
    if event == "socket.connect" and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not is_this_machine(host):
        refused.append(str(host))
        raise PermissionError(f"tests may connect only to this machine, not to {host}")


sys.addaudithook(_refuse_other_machines)


@pytest.fixture(autouse=True)
def no_other_machine() -> Iterator[None]:
    """Fail a test that tried to reach another machine, even if the code under test caught the error."""
    yield
    addresses = ", ".join(refused)
    refused.clear()
    if addresses:
        pytest.fail(f"the test tried to reach {addresses}", pytrace=False)


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a Prefect server that all tests share. At the end, check that no process is left."""
    import psutil

    from tests.end_to_end.tiny_study import prefect_server, processes_below  # a slow import that most tests do not need

    with prefect_server(tmp_path_factory.getbasetemp()) as url:
        yield url
    _, alive = psutil.wait_procs(processes_below(tmp_path_factory.getbasetemp()), timeout=30)
    assert [process.cmdline() for process in alive] == []


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, api: str) -> Any:
    """Return a study after a run that nothing interrupts, and the run; tests must not change the study."""
    from tests.end_to_end.tiny_study import new_study

    study = new_study(tmp_path_factory.mktemp("tiny"), api)
    run = study.run("run")
    assert run.code == 0, run.output
    return study, run


@pytest.fixture
def study(undisturbed: Any, tmp_path: Path) -> Any:
    """Return a copy of the finished study in the test's own workspace."""
    return undisturbed[0].copy(tmp_path / "workspace")
