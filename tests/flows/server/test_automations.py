"""What a lasting server does by itself about runs: a real one, told of them by real runs, calls a webhook."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import yaml

from swaymeter.flows.server import automations
from swaymeter.flows.server.settings import HEARTBEAT_SECONDS, client_of
from tests.flows.conftest import until

DEPLOYMENTS = Path(__file__).resolve().parents[3] / "prefect.yaml"
STUDY = """
import sys, time
from prefect import flow

@flow(name="study", flow_run_name="study, run, " + sys.argv[1])
def study():
    if sys.argv[1] == "fails":
        raise ValueError('no "facts"')
    if sys.argv[1] == "killed":
        time.sleep(600)

study(return_state=True)
"""
UNMET = """
from prefect.events import emit_event
from prefect.events.worker import EventsWorker
resource = {"prefect.resource.id": "swaymeter.study.nightly", "prefect.resource.name": "nightly"}
emit_event(event="swaymeter.watch.unmet", resource=resource, payload={"message": 'follow.supporting is "80%"'})
EventsWorker.instance().drain()
"""


@pytest.fixture
def calls() -> Iterator[tuple[str, list[Any]]]:
    """The address of a webhook, and the documents that were sent to it."""
    sent: list[Any] = []

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Webhook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", sent
        server.shutdown()


@pytest.fixture
def registered(
    lasting: httpx.Client, calls: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Any]]:
    """The documents that the webhook gets once both are registered, twice; four heartbeats are ten seconds."""
    monkeypatch.setattr(automations, "HEARTBEAT_SECONDS", 10 / automations.MISSED)
    monkeypatch.setenv("SWAYMETER_WEBHOOK", calls[0])
    with client_of(str(lasting.base_url).rstrip("/")):
        automations.register()
        automations.register()
    names = [one["name"] for one in lasting.post("/automations/filter", json={}).json()]
    assert sorted(names) == sorted([automations.CRASHED, automations.NOTIFIED, automations.OUT_OF_BOUNDS])
    yield calls[1]
    for one in lasting.post("/automations/filter", json={}).json():
        lasting.delete(f"/automations/{one['id']}").raise_for_status()


def test_a_killed_run_becomes_crashed_and_is_reported(
    registered: list[Any], lasting: httpx.Client, program: Callable[..., subprocess.Popen[str]]
) -> None:
    def state_of(run: str) -> str:
        asked = {"flow_runs": {"name": {"any_": [f"study, run, {run}"]}}}
        return str((lasting.post("/flow_runs/filter", json=asked).json() or [{}])[0].get("state_name"))

    def has_sent() -> bool:
        heartbeats = {"filter": {"event": {"name": ["prefect.flow-run.heartbeat"]}}}
        events = lasting.post("/events/filter", json=heartbeats).json().get("events", ())
        return "study, run, killed" in [event["resource"]["prefect.resource.name"] for event in events]

    with program(STUDY, "killed", PREFECT_FLOWS_HEARTBEAT_FREQUENCY=str(HEARTBEAT_SECONDS)) as killed:
        try:
            until(has_sent)
            assert state_of("killed") == "Running"
        finally:
            killed.kill()
    for run in ("fails", "ends"):
        with program(STUDY, run) as ended:
            assert ended.communicate(timeout=60) == ("", "")
    until(lambda: len(registered) >= 2)
    time.sleep(2)  # none comes twice
    assert [state_of(run) for run in ("killed", "fails", "ends")] == ["Crashed", "Failed", "Completed"]
    failed, crashed = sorted(one["text"] for one in registered)
    assert failed.startswith("swaymeter: study, run, fails has ended as Failed: ")
    assert 'no "facts"' in failed
    assert crashed.startswith("swaymeter: study, run, killed has ended as Crashed: no heartbeat for 10.0 s: ")


def test_a_number_out_of_its_bounds_is_reported(
    registered: list[Any], program: Callable[..., subprocess.Popen[str]]
) -> None:
    with program(UNMET) as ended:
        out, said = ended.communicate(timeout=60)
    assert out == ""
    assert said in ("", "Still processing items: 1 items remaining...\n"), "Prefect waits for what is still sent"
    until(lambda: registered)
    assert registered == [{"text": 'swaymeter: nightly: follow.supporting is "80%"'}]


def test_runs_of_deployments_send_the_heartbeats_that_are_missed() -> None:
    described = yaml.safe_load(DEPLOYMENTS.read_text())
    variables = [one["work_pool"]["job_variables"]["env"] for one in described["deployments"]]
    assert {one["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] for one in variables} == {str(HEARTBEAT_SECONDS)}
    assert automations.MISSED >= 3
