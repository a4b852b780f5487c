"""The automation that marks the runs of killed processes as Crashed, and deployments that depend on it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prefect.server.utilities.user_templates import render_user_template_sync

from swaymeter.flows.server.settings import HEARTBEAT_SECONDS
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
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


@dataclass(frozen=True)
class FlowRun:
    """The part of a flow run that templates of Prefect read."""

    parameters: dict[str, Any]


@pytest.fixture
def automation(server_client: httpx.Client, server_environment: dict[str, str], tmp_path: Path) -> Iterator[None]:
    """Create the automation on the server, with ten seconds in place of the time of four heartbeats."""
    content = yaml.safe_load((ROOT / "automations.yaml").read_text())
    content["trigger"]["within"] = 10
    (tmp_path / "automations.yaml").write_text(yaml.safe_dump(content))
    api = {"PREFECT_API_URL": str(server_client.base_url).rstrip("/"), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-m", "prefect", "automation", "create", "--from-file", "automations.yaml"]
    subprocess.run(command, cwd=tmp_path, env=server_environment | api, check=True, capture_output=True)
    yield
    for created in server_client.post("/automations/filter", json={}).json():
        server_client.delete(f"/automations/{created['id']}").raise_for_status()


@pytest.mark.usefixtures("automation")
def test_a_killed_run_becomes_crashed(
    server_client: httpx.Client, program: Callable[..., subprocess.Popen[str]]
) -> None:
    def state_of(run: str) -> str:
        filters = {"flow_runs": {"name": {"any_": [f"study, run, {run}"]}}}
        return str((server_client.post("/flow_runs/filter", json=filters).json() or [{}])[0].get("state_name"))

    def has_sent() -> bool:
        heartbeats = {"filter": {"event": {"name": ["prefect.flow-run.heartbeat"]}}}
        events = server_client.post("/events/filter", json=heartbeats).json().get("events", ())
        return "study, run, killed" in [event["resource"]["prefect.resource.name"] for event in events]

    with program(STUDY, "killed", PREFECT_FLOWS_HEARTBEAT_FREQUENCY=str(HEARTBEAT_SECONDS)) as killed:
        try:
            wait_until(has_sent)
            assert state_of("killed") == "Running"
        finally:
            killed.kill()
    for run in ("fails", "ends"):
        with program(STUDY, run) as ended:
            assert ended.communicate(timeout=60) == ("", "")
    wait_until(lambda: state_of("killed") == "Crashed")
    assert [state_of(run) for run in ("fails", "ends")] == ["Failed", "Completed"]


def test_deployments_send_the_heartbeats_of_the_automation() -> None:
    deployments = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
    environments = [deployment["work_pool"]["job_variables"]["env"] for deployment in deployments]
    assert {variables["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] for variables in environments} == {str(HEARTBEAT_SECONDS)}
    within = yaml.safe_load((ROOT / "automations.yaml").read_text())["trigger"]["within"]
    assert within >= 3 * HEARTBEAT_SECONDS


def test_rerun_of_failed_relations_keeps_run_parameters() -> None:
    deployments = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
    (trigger,) = next(deployment["triggers"] for deployment in deployments if deployment["name"] == "failed")
    assert trigger["schedule_after"] >= 60  # an outage of a minute is over by then
    assert "prefect.flow-run.Refused" not in trigger["expect"]
    options = {"relations": ["capital"], "models": ["m"], "measures": ["persuasion"], "runner": "dask", "offline": True}
    for parameters, expected in ((options, options), ({}, {**dict.fromkeys(options), "offline": False})):
        context = {"flow_run": FlowRun({"study": "small.yaml", "workspace": None, **parameters})}
        rendered = {
            name: json.loads(render_user_template_sync(value["value"]["template"], context))
            for name, value in trigger["parameters"].items()
            if isinstance(value, dict)
        }
        assert rendered == {"workspace": None, **expected}
