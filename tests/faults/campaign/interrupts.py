"""Ctrl-C and SIGTERM while a model computes for longer than anybody waits."""

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import yaml
from transformers import LlamaConfig, LlamaForCausalLM

from swaymeter.flows.execution.interrupt import GO_ON
from tests.end_to_end.tiny_study import ROOT, TinyStudy
from tests.faults.campaign.case import BrokenError, Case, NotHitError, check_has_not_ended, group
from tests.tasks.models.tiny import byte_tokenizer

MOST_SECONDS = {signal.SIGINT: 5.0, signal.SIGTERM: 10.0}
"""From the signal until nothing of the run is left."""
RUNNERS = ("threads", "processes", "dask")
MOST_SECONDS_TO_LOAD = 240
LARGER = 1.25
"""So many times the size of the weights is what a process holds that computes with them: torch is in it, too."""


def interrupted(case: Case, runner: str, number: signal.Signals = signal.SIGINT) -> str:
    """A signal while one forward pass takes longer than seconds.

    Ctrl-C reaches a command and its children, as in a terminal; SIGTERM the command alone.
    """
    study = _with_slow_model(case)
    command = [sys.executable, "-m", "tests.end_to_end.preloaded", "run", str(study.file)]
    options = ["--workspace", str(study.workspace), "--runner", runner]
    said = case.folder / "said"
    with said.open("wb") as file:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=replace(study, api="").environment, stdout=file, stderr=file,
            start_new_session=True,
        )  # fmt: skip
    try:
        with group(process):
            _wait_for_model(study, process)
            with suppress(subprocess.TimeoutExpired):
                process.wait(case.generator.uniform(0.5, 8.0))
            check_has_not_ended(process.poll(), said)
            case.happened()
            (os.kill if number == signal.SIGTERM else os.killpg)(process.pid, number)
            process.wait(60)
            psutil.wait_procs(study.processes(), timeout=60)
            case.took = time.monotonic() - case.began
    finally:
        for left in study.processes():
            left.kill()
    text = said.read_text()
    codes = (128 + number, -signal.SIGTERM)  # the latter of a run whose steps have ended by then
    if process.returncode not in codes or (number == signal.SIGINT and GO_ON not in text):
        raise BrokenError("ENDED OTHERWISE", f"exit status {process.returncode}: {text}")
    if "Traceback" in text:
        raise BrokenError("CRASHED", text)
    if case.took > MOST_SECONDS[number]:
        raise BrokenError("TOO SLOW", f"{case.took:.1f} s, runner {runner}: {text}")
    return "stopped"


def _wait_for_model(study: TinyStudy, process: "subprocess.Popen[bytes]") -> None:
    """Returns when a process of the study holds the weights, and so computes, or the run has ended."""
    (weights,) = Path(yaml.safe_load(study.file.read_text())["models"][0]["name"]).glob("*.safetensors")
    deadline = time.monotonic() + MOST_SECONDS_TO_LOAD
    while process.poll() is None:
        if time.monotonic() > deadline:
            raise NotHitError(f"no process loaded the model within {MOST_SECONDS_TO_LOAD} s")
        for one in study.processes():
            with suppress(psutil.Error):
                if one.memory_info().rss > LARGER * weights.stat().st_size:
                    return
        time.sleep(0.1)


def _with_slow_model(case: Case) -> TinyStudy:
    """The study of a random model that reads a batch of prompts in many seconds."""
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
