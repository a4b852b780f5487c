import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import psutil
import pytest

from swaymeter.flows.server.process import wait_until_ready
from tests.flows.server.conftest import Start

AS_PREFECT = "import sys; sys.path.insert(0, ''); import swaymeter.flows.execution.flow, swaymeter.reports.report"


@pytest.mark.parametrize("arguments", [("-m", "swaymeter.flows.server.ui", "--help"), ("-c", AS_PREFECT)])
def test_packages_of_the_user_are_not_ours(
    arguments: tuple[str, ...], start: Start, environment: dict[str, str], folder: Path
) -> None:
    process = start(*arguments, PYTHONPATH=os.pathsep.join([environment["PYTHONPATH"], str(folder)]))
    output = process.communicate(timeout=60)
    assert process.returncode == 0, output


WORKER = """
import subprocess, sys, time
from swaymeter.flows.server.child import lead
lead()
run = [sys.executable, "-c", "import time; print('at work', flush=True); time.sleep(60)"]
subprocess.Popen(run, start_new_session=True)
time.sleep(60)
"""


def test_a_flow_run_ends_with_its_killed_worker(start: Start) -> None:
    with start("-c", WORKER) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == "at work\n"
        (run,) = psutil.Process(worker.pid).children()
        worker.kill()
        _, alive = psutil.wait_procs([run], timeout=10)
    assert alive == []


def test_imports_go_on_until_the_api_answers() -> None:
    done: list[int] = []

    class Starting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/ready" and len(done) > 2 else 503)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Starting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        running = SimpleNamespace(poll=lambda: None)
        work = (done.append(number) or time.sleep(0.05) or number for number in range(1000))  # type: ignore[func-returns-value]
        wait_until_ready(running, f"http://127.0.0.1:{server.server_port}/api", meanwhile=work)  # type: ignore[arg-type]
        server.shutdown()
    assert 3 <= len(done) < 100
