"""Benchmarks with little work, which `make test-benchmarks` runs. No test compares the measured speed with a limit."""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import scoring, servers, stages, verdicts
from tests.end_to_end import forked_programs
from tests.end_to_end.tiny_study import start_command
from tests.tasks.models.tiny import save_language_model

pytestmark = pytest.mark.benchmark
ROOT = Path(__file__).resolve().parents[2]
# Runs a script as if the packages that a bare GPU machine lacks were not installed.
BARE_MACHINE = """
import runpy, sys
for name in ("prefect", "duckdb", "pandas", "pyarrow", "requests", "rich", "swaymeter.data.warehouse"):
    sys.modules[name] = None
script, *sys.argv = sys.argv[1:]
sys.argv.insert(0, script)
runpy.run_path(script, run_name="__main__")
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def one_server(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all commands of a benchmark one Prefect server, because each command would wait for a server of its own."""
    monkeypatch.setenv("PREFECT_API_URL", api)


def run_small(script: str, out: Path, *options: str, python_options: tuple[str, ...] = ()) -> Any:
    """Run a benchmark with little work and return the content of its JSON file.

    A forked process runs the benchmark; a new Python does with `python_options`, or for the benchmark of servers.
    """
    command = [str(ROOT / "benchmarks" / f"{script}.py"), "--quick", "--out", str(out), *options]
    if python_options or script == "servers":
        command = [sys.executable, *python_options, *command]
        completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        code, output = completed.returncode, completed.stdout + completed.stderr
    else:
        with start_command(command, os.environ, program=forked_programs.script) as running:
            run = running.wait()
        code, output = run.code, run.output
    assert code == 0, output
    (file,) = out.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    assert file.stem.endswith(content["machine"]["name"].lower().rpartition(" ")[2])  # the machine's last word
    assert all(f"**{table['title']}**" in output for table in content["tables"])
    return content


def test_benchmark_of_answers_runs_in_small(model: Path, tmp_path: Path) -> None:
    content = run_small("answers", tmp_path, "--model", str(model))
    assert [setting["dtype"] for setting in content["settings"]] == ["float32", "bfloat16"]
    assert content["questions"] == 3
    for setting in content["settings"]:
        assert set(setting["seconds_a_question"]) == {"engine", "one_at_a_time", "ten_at_once"}
        assert setting["engine"] == "slots"
        assert setting["mean_tokens"]["engine"] > 1
    exact, rounded = content["settings"]
    assert exact["equal_answers"] == {"2": 1.0}  # with 2 prompts at once, all answers stay the same
    assert exact["largest_difference"]["log_probability"] < 1e-4
    assert exact["largest_difference"]["distribution"] < 1e-4
    assert 0.2 < rounded["equal_answers"]["2"] <= 1


def test_answers_of_a_shape_need_no_weights(tmp_path: Path) -> None:
    options = ("--shape", "llama-3-8b", "--dtype", "float32")
    content = run_small("answers", tmp_path, *options, python_options=("-c", BARE_MACHINE))
    (setting,) = content["settings"]
    assert content["model"] == "llama-3-8b"
    assert setting["largest_difference"]["log_probability"] < 1e-4
    assert setting["equal_answers"] == {"2": 1.0}


def test_benchmark_of_servers_runs_in_small(tmp_path: Path) -> None:
    content = run_small("servers", tmp_path, "--dtype", "float32")
    sides = {(side["work"], side["tokens"] > 100, side["side"]): side for side in content["settings"]}
    assert {(work, is_long) for work, is_long, _ in sides} == set(itertools.product(servers.WORKS, (False, True)))
    for (work, is_long, _), side in sides.items():
        engine = sides[work, is_long, "swaymeter"]
        assert side["over_this"] == pytest.approx(engine["a_second"] / side["a_second"])
    assert any(reason.startswith("measureLM") for reason in content["skipped"])
    if importlib.util.find_spec("xllamacpp"):
        assert all(seconds > 0 for client in content["seconds_a_request"].values() for seconds in client)


def test_benchmark_of_scoring_runs_in_small(model: Path, tmp_path: Path) -> None:
    settings = run_small("scoring", tmp_path, "--models", str(model))["settings"]
    assert [setting["dtype"] for setting in settings] == ["float32", "bfloat16"]
    assert all(setting["engine"] == "prefix tree" for setting in settings)
    assert settings[0]["kl_from_plain"] < 1e-5


def test_scoring_of_shapes_runs_on_bare_machine(tmp_path: Path) -> None:
    options = ("--models", *scoring.SHAPES, "--dtype", "bfloat16", "--tokens-a-pass", "1000")
    content = run_small("scoring", tmp_path, *options, python_options=("-c", BARE_MACHINE))
    assert [setting["model"] for setting in content["settings"]] == ["pythia-6.9b", "llama-3-8b"]
    assert content["tokens_a_pass"] == 1000
    for setting in content["settings"]:
        assert setting["engine"] == "prefix tree"
        assert 0 <= setting["kl_from_plain"] < setting["mean_persuasion"] / 20
        assert setting["tflops"] / setting["ceiling_tflops"] == pytest.approx(setting["share_of_ceiling"])
        contexts, published_queries = 128, 122 * 100 * 4  # 122 relations with 100 entities and 4 query forms
        seconds_a_query = np.median([contexts / rate for rate in setting["prompts_a_second"]["engine"]])
        assert setting["seconds_of_published_queries"] == pytest.approx(published_queries * seconds_a_query)


def test_benchmark_of_verdicts_runs_in_small(model: Path, tmp_path: Path) -> None:
    content = run_small("verdicts", tmp_path, "--judge", str(model), "--sample", "20")
    assert content["answers"] == len(verdicts.read()[::20])
    assert {row["kind"] for row in content["by_kind"]} >= {"short facts", "dates and times", "German", "all"}
    agreements = {(row["who"], row["replies"]): row for row in content["judge"]["agreement"]}
    rule, judge = agreements["verdict", "all"], agreements["judge", "all"]
    assert rule["same"] > 0.8 > judge["same"]
    assert judge["n"] == 20 - content["judge"]["unjudged"] > agreements["judge", "undecided"]["n"]


def test_benchmark_of_stages_runs_in_small(tmp_path: Path) -> None:
    (parts,) = run_small("stages", tmp_path)["seconds"].values()
    assert all(parts[part] > 0 for part in ("imports", "preparing", "build", "score", "aggregate", "report", "end"))
    assert sum(parts[part] for part in stages.PARTS) == pytest.approx(parts["all"])


@pytest.mark.usefixtures("one_server")
def test_benchmark_of_overhead_runs_in_small(tmp_path: Path) -> None:
    content = run_small("overhead", tmp_path)
    assert content["tasks"] == 6
    assert content["milliseconds"].keys() == {"plain", "run"}
    assert all(processor > 0 and wall > 0 for processor, wall in content["milliseconds"].values())


@pytest.mark.usefixtures("one_server")
def test_benchmark_of_scale_runs_in_small(tmp_path: Path) -> None:
    content = run_small("scale", tmp_path)
    assert (content["relations"], content["queries"], content["contexts"]) == (3, 16, 24)
    assert content["prompts"] == 3 * 16 * 24
    for command in ("status", "aggregate", "report", "aggregate_and_report", "run_again", "aggregate_one_changed"):
        assert all(content[f"{command}_{quantity}"] > 0 for quantity in ("seconds", "cpu_seconds", "peak_bytes"))
