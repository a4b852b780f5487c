"""A study as a deployment on a Prefect server: a worker runs it, and Retry computes only failed steps."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from prefect.client.base import PrefectHttpxSyncClient

from tests.end_to_end import forked_programs
from tests.end_to_end.tiny_study import ROOT, Run, TinyStudy, start_command, task_runs

pytestmark = pytest.mark.deployments

FLOW_RUN_SECONDS = 240
"""Limit of the wait for the end of a flow run."""
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class Deployed:
    """The deployments of prefect.yaml on a server, and a worker that runs them."""

    def __init__(self, url: str, environment: dict[str, str], log: Path) -> None:
        self.log = log
        self.environment = environment | {"PREFECT_API_URL": url, "NO_PROXY": "127.0.0.1", "DO_NOT_TRACK": "1"}
        # Like Prefect's page, this client repeats a request if a busy server answers 503.
        self.api = PrefectHttpxSyncClient(base_url=url, trust_env=False, timeout=60)

    def prefect(self, *arguments: str) -> None:
        """Run a command of Prefect and check that it succeeds."""
        with start_command(["--no-prompt", *arguments], self.environment, program=forked_programs.prefect) as command:
            run = command.wait()
        assert run.code == 0, run.output

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run a process worker, whose output goes into the log."""
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "swaymeter", "--type", "process"]
        variables = {"PREFECT_WORKER_QUERY_SECONDS": "1", "SWAYMETER_HOME": str(ROOT)}
        with (
            self.log.open("wb") as log,
            subprocess.Popen(command, cwd=ROOT, env=self.environment | variables, stdout=log, stderr=log) as worker,
        ):
            try:
                yield
            finally:  # SIGKILL, because on SIGTERM a worker first waits for the runs that it has started
                for process in (*psutil.Process(worker.pid).children(recursive=True), worker):
                    process.kill()

    def start(self, study: TinyStudy, name: str = "study", **parameters: Any) -> str:
        """Start a run of a deployment with a tiny study, and return the id of the run."""
        deployment = self.api.get(f"/deployments/name/study/{name}").json()["id"]
        parameters |= {"study": str(study.file), "workspace": str(study.workspace)}
        created = self.api.post(f"/deployments/{deployment}/create_flow_run", json={"parameters": parameters})
        return str(created.raise_for_status().json()["id"])

    def wait(self, run: str, run_count: int = 1) -> dict[str, Any]:
        """Wait until a flow run has ended for the `run_count`th time, and return the flow run."""
        deadline = time.monotonic() + FLOW_RUN_SECONDS
        while True:
            flow_run: dict[str, Any] = self.api.get(f"/flow_runs/{run}").json()
            if flow_run["state_type"] in ENDED and flow_run["run_count"] >= run_count:
                return flow_run
            assert time.monotonic() < deadline, f"{flow_run['state_name']} after {FLOW_RUN_SECONDS} s"
            time.sleep(0.3)

    def task_runs(self, run: str) -> dict[str, str]:
        """Return the states of a run's task runs, by name."""
        return {row["name"]: row["state_name"] for row in task_runs(self.api, run)}

    def artifact(self, run: str, key: str) -> str:
        """Return the data of an artifact of a run."""
        body = {"artifacts": {"key": {"any_": [key]}, "flow_run_id": {"any_": [run]}}}
        (artifact,) = self.api.post("/artifacts/filter", json=body).json()
        return str(artifact["data"])


@contextmanager
def deployments(study: TinyStudy, log: Path) -> Iterator[Deployed]:
    """Create the deployments on the server of a study, as docs/schedules.md describes, and run a worker."""
    deployed = Deployed(study.api, study.environment, log)
    with deployed.api:
        deployed.prefect("work-pool", "create", "swaymeter", "--type", "process", "--overwrite")
        deployed.prefect("deploy", "--all")
        with deployed.worker():
            yield deployed


@pytest.fixture(scope="module")
def deployed(undisturbed: tuple[TinyStudy, Run], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with deployments(undisturbed[0], tmp_path_factory.mktemp("worker") / "log") as started:
        yield started


@pytest.mark.timeout(600)
def test_a_deployment_fails_and_completes_on_retry(deployed: Deployed, study: TinyStudy, tmp_path: Path) -> None:
    study = study.with_two_measures(tmp_path / "small.yaml")
    prompts = [study.stored_prompts(relation, "persuasion") for relation in ("capital", "director")]
    study.delete_scores("director")
    study.delete_scores("capital")
    obstacle = study.workspace / "scores" / "capital"
    obstacle.touch()  # a file in place of a folder
    run = deployed.start(study)
    failed = deployed.wait(run)
    assert failed["state_name"] == "Failed"
    assert re.fullmatch(r"small, run, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", failed["name"])
    assert str(obstacle) in deployed.artifact(run, "failed-steps")
    states = deployed.task_runs(run)
    (capital,) = [state for name, state in states.items() if name.startswith("score · capital · ")]
    (director,) = [state for name, state in states.items() if name.startswith("score · director · ")]
    assert (capital, director, states["report · study · page"]) == ("Failed", "Completed", "Completed")

    obstacle.unlink()
    before = study.write_times()
    deployed.prefect("flow-run", "retry", failed["name"])
    completed = deployed.wait(run, run_count=2)
    assert (completed["state_name"], completed["name"]) == ("Completed", failed["name"])
    summary = deployed.artifact(run, "summary")
    assert "Invented entities are swayed significantly more than real ones" in summary
    assert str(study.workspace / "report" / "index.html") in summary.replace("\\", "")
    changed = {path for path, time in study.write_times().items() if before.get(path) != time}
    assert {path.parts[:2] for path in changed} == {("scores", "capital")}
    assert [study.stored_prompts(relation, "persuasion") for relation in ("capital", "director")] == prompts
    assert "nanobind" not in deployed.log.read_text()  # nanobind reports leaks at exit


@pytest.mark.timeout(600)
def test_refusal_names_the_unknown_relation(deployed: Deployed, study: TinyStudy) -> None:
    refused = deployed.wait(deployed.start(study, relations=["capitol"]))
    assert (refused["state_name"], refused["tags"]) == ("Refused", ["swaymeter", "tiny"])
    assert refused["state"]["message"] == "no relation is named 'capitol'; did you mean 'capital'?"
