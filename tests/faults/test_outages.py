"""A run loses what it needs: it goes on or says what to do, and the next run ends as an undisturbed one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from unittest import mock

import psutil
import pytest
import yaml
from transformers import LlamaConfig, LlamaForCausalLM

from swaymeter.flows.execution.interrupt import GO_ON
from swaymeter.flows.graph.stage import STAGES, Stage
from tests.docker.test_docker import free_port
from tests.end_to_end import preloaded_workers
from tests.end_to_end.tiny_study import MOST_SECONDS, ROOT, Command, TinyStudy, until
from tests.faults.case import Case, Pause, as_in_a_terminal, process_group
from tests.mounts import MIB, can_mount, mounted
from tests.tasks.models.tiny import byte_tokenizer

pytestmark = pytest.mark.faults
needs_root = pytest.mark.skipif(not can_mount(), reason="mounting takes root")
SECONDS_TO_END = {signal.SIGINT: 5.0, signal.SIGTERM: 10.0}
"""Longest time from a signal to the end of the last process, on an idle machine."""
WEIGHTS_AND_TORCH = 1.25
"""Memory of a process that computes, in sizes of the weights."""


@contextmanager
def cluster(case: Case, workers: int, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a Dask scheduler and slow workers, which runs within the block use."""
    address = f"tcp://127.0.0.1:{port}"
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([preloaded_workers.__name__]), "OMP_NUM_THREADS": "1"}
    environment = case.study.environment | preload | {preloaded_workers.SLOW: "0.5", "SWAYMETER_TEST": ""}
    with ExitStack() as stack:
        log = stack.enter_context((case.folder / "dask.log").open("ab"))

        def start(program: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{program}", *options, "--no-dashboard"]
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            return stack.enter_context(process_group(process))

        scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
        options = ("--nthreads", "1", "--memory-limit", "0", "--resources", "CPU=1")
        nannies = [start("dask_worker", address, *options) for _ in range(workers)]
        with mock.patch.dict(os.environ, {"DASK_SCHEDULER_ADDRESS": address}):
            yield [scheduler, *nannies]


@contextmanager
def scoring_on_dask(case: Case) -> Iterator[Command]:
    """Start a run on the cluster and wait for its first chunk."""
    with case.study.start("run", "--runner", "dask") as running:
        until(case.has_begun_scoring, running)
        case.check_scoring(running)
        yield running


def test_a_killed_scheduler_is_named(draw: int, case: Case) -> None:
    port = free_port()
    with cluster(case, 2, port) as processes, scoring_on_dask(case) as running:
        processes[0].kill()
        case.check_end(running, f"the Dask scheduler tcp://127.0.0.1:{port} ended in the middle; start it and")
    with cluster(case, 2, port):
        case.complete("--runner", "dask")


def test_a_run_outlasts_a_restarted_scheduler(draw: int, case: Case) -> None:
    port = free_port()
    with cluster(case, 2, port) as processes, scoring_on_dask(case) as running:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(3)
        with cluster(case, 2, port):
            assert case.check_end(running)
            case.complete("--runner", "dask")


@pytest.mark.parametrize("workers", [2, 4])
def test_a_run_outlasts_three_killed_workers(workers: int, draw: int, case: Case) -> None:
    with cluster(case, workers, free_port()) as (_, *nannies):
        with scoring_on_dask(case) as running:
            for _ in range(3):
                _kill_a_worker(case, nannies, running)
                time.sleep(case.generator.uniform(0.2, 2.0))
            assert case.check_end(running)
        case.complete("--runner", "dask")


def _kill_a_worker(case: Case, nannies: list[subprocess.Popen[bytes]], running: Command) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        case.check_scoring(running)
        with suppress(psutil.NoSuchProcess):
            children = [one for nanny in nannies for one in psutil.Process(nanny.pid).children(recursive=True)]
            if alive := [one for one in children if "spawn_main" in " ".join(one.cmdline())]:
                case.generator.choice(alive).kill()
                return
        time.sleep(0.05)
    pytest.fail(f"no worker came back within {MOST_SECONDS} s")


def test_a_run_takes_over_from_a_killed_one(draw: int, case: Case) -> None:
    with cluster(case, 2, free_port()):
        with scoring_on_dask(case) as running:
            running.process.kill()
        with case.study.start("run", "--runner", "dask") as running:
            assert case.check_end(running)
        case.complete("--runner", "dask")


def test_two_hosts_do_not_score_together(case: Case) -> None:
    pause, other = Pause("score", case.folder, "host-a"), Pause("report", case.folder / "nowhere", "host-b")
    with case.study.start("run", before=pause) as first:
        until(pause.reached.exists, first)
        second = case.study.run("run", before=other)
        assert second.code == 1
        assert second.said.startswith(f"error  process {first.pid} on host-a "), second.said
        with case.study.start("run", "--wait", before=other) as third:
            until(lambda: "on host-a" in third.file.read_text(), third)
            pause.go.touch()
            assert case.check_end(first)
            waited = third.ended()
            assert (waited.code, waited.prompts) == (0, 0), waited.said
    case.complete()


@needs_root
@pytest.mark.parametrize("full", ["bytes", "files"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_full_workspace_is_named(stage: Stage, full: str, case: Case) -> None:
    files = 2_000 if full == "files" else 0
    with mounted(case.study.workspace, 64 * MIB, files=files) as workspace:
        filling = workspace / "filling"
        fill = (lambda: _fill_with_files(filling)) if files else (lambda: _fill_with_bytes(filling))
        assert not case.run_through(stage, fill, "No space left on device")
        shutil.rmtree(filling) if files else filling.unlink()
        case.complete()


def _fill_with_bytes(filling: Path) -> None:
    with filling.open("wb", buffering=0) as file:
        for size in (MIB, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def _fill_with_files(filling: Path) -> None:
    filling.mkdir()
    with suppress(OSError):
        for number in count():
            (filling / str(number)).touch()


@needs_root
@pytest.mark.parametrize("stage", [None, "score"])
def test_a_full_folder_of_prefect_is_named(stage: Stage | None, case: Case) -> None:
    with mounted(case.folder / "prefect", 64 * MIB) as home:
        study = replace(case.study, prefect_home=home, api="")
        if stage:
            shutil.copy(case.study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
            case.run_through(stage, lambda: _fill_with_bytes(home / "filling"), "Prefect's API", study=study)
        else:
            _fill_with_bytes(home / "filling")
            with study.start("run", before=as_in_a_terminal) as running:
                case.check_end(running, str(home))
    case.complete()


@needs_root
@pytest.mark.parametrize("seconds", [5.0, 60.0])
def test_an_unmounted_workspace_is_named(seconds: float, case: Case) -> None:
    workspace, shared = case.study.workspace, case.folder / "shared"
    shared.mkdir()
    workspace.mkdir()
    mount = ["mount", "--bind", str(shared), str(workspace)]
    later = threading.Timer(seconds, subprocess.run, (mount,), {"check": True})

    def unmount() -> None:
        subprocess.run(["umount", "--lazy", str(workspace)], check=True)
        later.start()

    subprocess.run(mount, check=True)
    try:
        assert not case.run_through("score", unmount, f"the workspace {workspace} has no workspace.json")
        later.join()
        case.complete()
    finally:
        later.cancel()
        while subprocess.run(["umount", "--lazy", str(workspace)], capture_output=True, check=False).returncode == 0:
            pass  # once for each mount


@pytest.mark.parametrize("number", SECONDS_TO_END)
@pytest.mark.parametrize("runner", ["threads", "processes", "dask"])
def test_a_signal_ends_a_run_that_computes(runner: str, number: signal.Signals, draw: int, case: Case) -> None:
    study = case.study = _with_slow_model(case)
    command = [sys.executable, "-m", "tests.end_to_end.preloaded", "run", str(study.file)]
    options = ["--workspace", str(study.workspace), "--runner", runner]
    with (case.folder / "output").open("w+") as output:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=replace(study, api="").environment, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        with process_group(process):
            _wait_for_model(study, process)
            with suppress(subprocess.TimeoutExpired):
                process.wait(case.generator.uniform(0.5, 8.0))
            if process.poll() is not None:
                pytest.skip("the run was over before the signal")
            began = time.monotonic()
            send: Callable[[int, int], None] = os.kill if number == signal.SIGTERM else os.killpg
            send(process.pid, number)  # Ctrl-C reaches all processes of a terminal
            process.wait(60)
            psutil.wait_procs(study.processes(), timeout=60)
            seconds = time.monotonic() - began
        output.seek(0)
        said = output.read()
    assert process.returncode in (128 + number, -signal.SIGTERM), said
    assert number == signal.SIGTERM or GO_ON in said
    assert "Traceback" not in said
    assert seconds < SECONDS_TO_END[number] * (2 if os.getloadavg()[0] > (os.cpu_count() or 1) else 1), said


def _wait_for_model(study: TinyStudy, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process of the study has loaded the weights."""
    (weights,) = Path(yaml.safe_load(study.file.read_text())["models"][0]["name"]).glob("*.safetensors")
    deadline = time.monotonic() + 240
    while process.poll() is None:
        assert time.monotonic() < deadline, "no process loads the model"
        for one in study.processes():
            with suppress(psutil.Error):
                if one.memory_info().rss > WEIGHTS_AND_TORCH * weights.stat().st_size:
                    return
        time.sleep(0.1)


def _with_slow_model(case: Case) -> TinyStudy:
    """Return the study with a model that reads a batch of prompts in many seconds."""
    tokenizer, model = byte_tokenizer(), case.folder / "slow-model"
    size = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 12, "num_attention_heads": 8}
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=512, pad_token_id=0, **size)
    LlamaForCausalLM(config).save_pretrained(model)
    tokenizer.save_pretrained(model)
    content = yaml.safe_load(case.study.file.read_text())
    content["models"] = [{"name": str(model), "dtype": "float32", "device": "cpu"}]
    content["facts"] |= {"real_entities": 10, "invented_entities": 10}
    file = case.folder / "slow.yaml"
    file.write_text(yaml.safe_dump(content))
    return replace(case.study, file=file, mark=uuid.uuid4().hex)
