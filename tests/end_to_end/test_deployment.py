"""A study as a deployment on a Prefect server: a worker runs it, and Retry computes what failed, and nothing else."""

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

from tests.end_to_end import preloaded
from tests.end_to_end.tiny_study import ROOT, Run, TinyStudy, started, task_runs

SECONDS = 240
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class Deployed:
    """The deployments of prefect.yaml on a server, with a worker for them."""

    def __init__(self, url: str, environment: dict[str, str], log: Path) -> None:
        self.log = log
        self.environment = environment | {"PREFECT_API_URL": url, "NO_PROXY": "127.0.0.1", "DO_NOT_TRACK": "1"}
        # Like Prefect's page and clients it asks again where a busy server's database answers 503.
        self.api = PrefectHttpxSyncClient(base_url=url, trust_env=False, timeout=60)

    def prefect(self, *arguments: str) -> None:
        """A command of Prefect that has to succeed."""
        with started(["--no-prompt", *arguments], self.environment, program=preloaded.prefect) as command:
            done = command.ended()
        assert done.code == 0, done.said

    @contextmanager
    def worker(self) -> Iterator[None]:
        """A process worker; what it says goes into the log."""
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "swaymeter", "--type", "process"]
        often = {"PREFECT_WORKER_QUERY_SECONDS": "1", "SWAYMETER_HOME": str(ROOT)}
        with (
            self.log.open("wb") as said,
            subprocess.Popen(command, cwd=ROOT, env=self.environment | often, stdout=said, stderr=said) as process,
        ):
            try:
                yield
            finally:  # asked to end, a worker first waits for the runs that it has started
                for one in (*psutil.Process(process.pid).children(recursive=True), process):
                    one.kill()

    def start(self, study: TinyStudy, name: str = "study", **parameters: Any) -> str:
        """A run of a deployment with the tiny study's parameters; gives its id."""
        deployment = self.api.get(f"/deployments/name/study/{name}").json()["id"]
        parameters |= {"study": str(study.file), "workspace": str(study.workspace)}
        created = self.api.post(f"/deployments/{deployment}/create_flow_run", json={"parameters": parameters})
        return str(created.raise_for_status().json()["id"])

    def ended(self, run: str, run_count: int = 1) -> dict[str, Any]:
        """The flow run once it has ended for the `run_count`th time."""
        deadline = time.monotonic() + SECONDS
        while True:
            found: dict[str, Any] = self.api.get(f"/flow_runs/{run}").json()
            if found["state_type"] in ENDED and found["run_count"] >= run_count:
                return found
            assert time.monotonic() < deadline, f"{found['state_name']} after {SECONDS} s"
            time.sleep(0.3)

    def task_runs(self, run: str) -> dict[str, str]:
        """The states of a run's task runs, by their names."""
        return {row["name"]: row["state_name"] for row in task_runs(self.api, run)}

    def artifact(self, run: str, key: str) -> str:
        """What an artifact of a run shows."""
        asked = {"artifacts": {"key": {"any_": [key]}, "flow_run_id": {"any_": [run]}}}
        (artifact,) = self.api.post("/artifacts/filter", json=asked).json()
        return str(artifact["data"])


@contextmanager
def deployments(study: TinyStudy, log: Path) -> Iterator[Deployed]:
    """A server with the deployments as docs/schedules.md sets them up, and a worker."""
    here = Deployed(study.api, study.environment, log)
    with here.api:
        here.prefect("work-pool", "create", "swaymeter", "--type", "process", "--overwrite")
        here.prefect("deploy", "--all")
        with here.worker():
            yield here


@pytest.fixture(scope="module")
def deployed(undisturbed: tuple[TinyStudy, Run], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with deployments(undisturbed[0], tmp_path_factory.mktemp("worker") / "log") as here:
        yield here


@pytest.mark.timeout(600)
def test_a_deployment_fails_and_completes_on_retry(deployed: Deployed, study: TinyStudy, tmp_path: Path) -> None:
    study = study.with_fewer_figures(tmp_path / "small.yaml")
    asked = [study.stored_prompts(relation, "persuasion") for relation in ("capital", "director")]
    study.forget_scores("director")
    study.forget_scores("capital")
    obstacle = study.workspace / "scores" / "capital"
    obstacle.touch()  # a file where a folder has to be
    run = deployed.start(study)
    failed = deployed.ended(run)
    assert failed["state_name"] == "Failed"
    assert re.fullmatch(r"small, run, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", failed["name"])
    assert str(obstacle) in deployed.artifact(run, "failed-steps")
    states = deployed.task_runs(run)
    (capital,) = [state for name, state in states.items() if name.startswith("score · capital · ")]
    (director,) = [state for name, state in states.items() if name.startswith("score · director · ")]
    assert (capital, director, states["report · study · page"]) == ("Failed", "Completed", "Completed")

    obstacle.unlink()
    others = study.written()
    deployed.prefect("flow-run", "retry", failed["name"])
    completed = deployed.ended(run, run_count=2)
    assert (completed["state_name"], completed["name"]) == ("Completed", failed["name"])
    summary = deployed.artifact(run, "summary")
    assert "Invented entities are swayed significantly more than real ones" in summary
    assert str(study.workspace / "report" / "index.html") in summary.replace("\\", "")
    new = {path for path, when in study.written().items() if others.get(path) != when}
    assert {path.parts[:2] for path in new} == {("scores", "capital")}
    assert [study.stored_prompts(relation, "persuasion") for relation in ("capital", "director")] == asked
    assert "nanobind" not in deployed.log.read_text()


@pytest.mark.timeout(600)
def test_what_cannot_be_done_is_refused_by_name(deployed: Deployed, study: TinyStudy) -> None:
    refused = deployed.ended(deployed.start(study, relations=["capitol"]))
    assert (refused["state_name"], refused["tags"]) == ("Refused", ["swaymeter", "tiny"])
    assert refused["state"]["message"] == "no relation is named 'capitol'; did you mean 'capital'?"
