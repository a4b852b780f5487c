"""Ctrl-C and SIGTERM, in separate processes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swaymeter.flows.execution import interrupt
from tests.data.sources.servers.faults import ServedResponse, serving

WAITING_SCRIPT = """
import signal, sys, threading, time
from pathlib import Path
from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.services import Service
from swaymeter.data.sources.http.session import shared_session
from swaymeter.flows.execution import interrupt

def ask(number):
    service = Service("YAGO", sys.argv[1], max_concurrency=2, requests_per_minute=60_000)
    try:
        shared_session(service, contact="tests@example.org", cache=Path(sys.argv[2])).ask({"q": str(number)})
    except ServiceError as error:
        print(error, flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
interrupt.SECONDS = float(sys.argv[3])
interrupt.end_when_interrupted()
threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
threads += [threading.Thread(target=time.sleep, args=(60,))] if sys.argv[4] == "computes" else []
try:
    for thread in threads:
        thread.start()
    time.sleep(60)
except KeyboardInterrupt:
    for thread in threads:  # a flow waits for the steps that it has begun
        thread.join()
"""
SLOW = ServedResponse(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", endless=b" ", pause_s=0.5)


# Fetching threads end at the signal, and then the process ends. A computing thread does not end, so a timer ends the
# process after `seconds`.
@pytest.mark.parametrize(("last_thread", "seconds", "code"), [("fetches", 30.0, 0), ("computes", 1.0, 130)])
def test_the_first_interrupt_ends_waiting_and_computing_threads(
    last_thread: str, seconds: float, code: int, tmp_path: Path
) -> None:
    with serving(SLOW) as server:
        arguments = [server.address, str(tmp_path), str(seconds), last_thread]
        with subprocess.Popen(
            [sys.executable, "-c", WAITING_SCRIPT, *arguments], stdout=subprocess.PIPE, text=True
        ) as process:
            server.wait_for_requests(2, 60)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=60)
    assert (process.returncode, printed.count("the session is closed")) == (code, 3)
    assert time.monotonic() - began < 5


def test_an_interactive_session_ends_only_at_sigterm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupt, "close_sessions", lambda: None)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert interrupt.end_in_time(interrupt.STOPPED) is None
    timer = interrupt.end_in_time(interrupt.TERMINATED)
    assert timer is not None
    timer.cancel()


RUN_SCRIPT = """
import signal, sys, threading, time
from concurrent.futures import Future
from pathlib import Path
from swaymeter.flows.execution import interrupt
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.graph.selection import Selection
from tests.flows.graph.toy import Toy

class Terminated(BaseException):  # like TerminationSignal of Prefect
    pass

def terminate(number, frame):
    raise Terminated

signal.signal(signal.SIGTERM, terminate)
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupt.SECONDS = 1.0
toy = Toy(Path(sys.argv[1]))
print("computes", flush=True)
Executor(toy.graph, Selection(), lambda *task: Future(), Progress()).run()  # no task ever ends
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_waits_for_no_step(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN_SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)  # until the run waits for its tasks
        process.send_signal(number)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (128 + number, f"{interrupt.GO_ON}\n")
