"""No test reaches another machine: a connection or look-up beyond this one is refused, and fails the test.

What a test starts as a process is not covered. The study of whole runs is run once for all tests. A thread each for the
models of the tests, which are tiny: the threads of test processes side by side would wait for each other.
"""

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported
os.environ.setdefault("DO_NOT_TRACK", "1")  # before huggingface_hub is: its telemetry opens a connection

refused: list[str] = []
"""Addresses that the test in progress tried to reach."""

_connect, _connect_ex, _getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def is_here(host: Any) -> bool:
    """Whether a host is this machine, so that nothing leaves it."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_unless_here(host: Any) -> None:
    if not is_here(host):
        refused.append(str(host))
        raise PermissionError(f"tests reach this machine alone, not {host}")


def _is_internet(connecting: socket.socket) -> bool:
    return connecting.family in (socket.AF_INET, socket.AF_INET6)


def connect(self: socket.socket, address: Any) -> None:
    if _is_internet(self):
        _refuse_unless_here(address[0])
    _connect(self, address)


def connect_ex(self: socket.socket, address: Any) -> int:
    if _is_internet(self):
        _refuse_unless_here(address[0])
    return _connect_ex(self, address)


def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
    _refuse_unless_here(host)
    return _getaddrinfo(host, *arguments, **options)


socket.socket.connect = connect  # type: ignore[assignment, method-assign]
socket.socket.connect_ex = connect_ex  # type: ignore[assignment, method-assign]
socket.getaddrinfo = getaddrinfo


@pytest.fixture(autouse=True)
def no_other_machine() -> Iterator[None]:
    """Fails a test that tried to reach another machine, also where the code under test caught the error."""
    yield
    addresses = ", ".join(refused)
    refused.clear()
    if addresses:
        pytest.fail(f"the test tried to reach {addresses}", pytrace=False)


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prefect server for many commands; no process of these may be left when it ends."""
    import psutil

    from tests.end_to_end.tiny_study import prefect_server, processes_below  # loads much, which most tests do without

    with prefect_server(tmp_path_factory.getbasetemp()) as url:
        yield url
    _, alive = psutil.wait_procs(processes_below(tmp_path_factory.getbasetemp()), timeout=30)
    assert [process.cmdline() for process in alive] == []


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, api: str) -> Any:
    """A study after a run that nothing disturbed, and what that run said; not to be changed."""
    from tests.end_to_end.tiny_study import new_study

    study = new_study(tmp_path_factory.mktemp("tiny"), api)
    run = study.run("run")
    assert run.code == 0, run.said
    return study, run


@pytest.fixture
def study(undisturbed: Any, tmp_path: Path) -> Any:
    """A finished study in a workspace of the test's own."""
    return undisturbed[0].elsewhere(tmp_path / "workspace")
