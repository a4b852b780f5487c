"""Each benchmark runs in small and writes what it says; how fast it was is never looked at. `make test-benchmarks`."""

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
from tests.end_to_end import preloaded
from tests.end_to_end.tiny_study import started
from tests.tasks.models.tiny import save_language_model

pytestmark = pytest.mark.benchmark
ROOT = Path(__file__).resolve().parents[2]
BARE = """
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
    """One Prefect server for all commands of a benchmark, since each would wait for its own."""
    monkeypatch.setenv("PREFECT_API_URL", api)


def ran(script: str, out: Path, *options: str, python: tuple[str, ...] = ()) -> Any:
    """What a script writes in small, in a forked process unless it is given to another Python or starts servers."""
    command = [str(ROOT / "benchmarks" / f"{script}.py"), "--quick", "--out", str(out), *options]
    if python or script == "servers":
        command = [sys.executable, *python, *command]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        code, said = done.returncode, done.stdout + done.stderr
    else:
        with started(command, os.environ, program=preloaded.script) as running:
            run = running.ended()
        code, said = run.code, run.said
    assert code == 0, said
    (file,) = out.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    assert file.stem.endswith(content["machine"]["name"].lower().rpartition(" ")[2])
    assert all(f"**{one['title']}**" in said for one in content["tables"])
    return content


def test_answers_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("answers", tmp_path, "--model", str(model))
    assert [one["dtype"] for one in content["settings"]] == ["float32", "bfloat16"]
    assert content["questions"] == 3
    for one in content["settings"]:
        assert set(one["seconds_a_question"]) == {"engine", "one_at_a_time", "ten_at_once"}
        assert one["engine"] == "slots"
        assert one["mean_tokens"]["engine"] > 1
    exact, rounded = content["settings"]
    assert exact["equal_answers"] == {"2": 1.0}
    assert exact["largest_difference"]["log_probability"] < 1e-4
    assert exact["largest_difference"]["distribution"] < 1e-4
    assert 0.2 < rounded["equal_answers"]["2"] <= 1


def test_answers_of_a_shape_need_no_weights(tmp_path: Path) -> None:
    content = ran("answers", tmp_path, "--shape", "llama-3-8b", "--dtype", "float32", python=("-c", BARE))
    (one,) = content["settings"]
    assert content["model"] == "llama-3-8b"
    assert one["largest_difference"]["log_probability"] < 1e-4
    assert one["equal_answers"] == {"2": 1.0}


def test_servers_in_small(tmp_path: Path) -> None:
    content = ran("servers", tmp_path, "--dtype", "float32")
    sides = {(one["work"], one["tokens"] > 100, one["side"]): one for one in content["settings"]}
    assert {(work, long) for work, long, _ in sides} == set(itertools.product(servers.WORKS, (False, True)))
    for (work, long, _), one in sides.items():
        ours = sides[work, long, "swaymeter"]
        assert one["over_this"] == pytest.approx(ours["a_second"] / one["a_second"])
    assert any(reason.startswith("measureLM") for reason in content["skipped"])
    if importlib.util.find_spec("xllamacpp"):
        assert all(seconds > 0 for client in content["seconds_a_request"].values() for seconds in client)


def test_scoring_in_small(model: Path, tmp_path: Path) -> None:
    settings = ran("scoring", tmp_path, "--models", str(model))["settings"]
    assert [one["dtype"] for one in settings] == ["float32", "bfloat16"]
    assert all(one["engine"] == "prefix tree" for one in settings)
    assert settings[0]["kl_from_plain"] < 1e-5


def test_scoring_of_shapes_needs_a_bare_machine(tmp_path: Path) -> None:
    options = ("--models", *scoring.SHAPES, "--dtype", "bfloat16", "--tokens-a-pass", "1000")
    content = ran("scoring", tmp_path, *options, python=("-c", BARE))
    assert [one["model"] for one in content["settings"]] == ["pythia-6.9b", "llama-3-8b"]
    assert content["tokens_a_pass"] == 1000
    for one in content["settings"]:
        assert one["engine"] == "prefix tree"
        assert 0 <= one["kl_from_plain"] < one["mean_persuasion"] / 20
        assert one["tflops"] / one["ceiling_tflops"] == pytest.approx(one["share_of_ceiling"])
        seconds_a_query = np.median([128 / rate for rate in one["prompts_a_second"]["engine"]])
        assert one["seconds_of_published_queries"] == pytest.approx(122 * 100 * 4 * seconds_a_query)


def test_verdicts_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("verdicts", tmp_path, "--judge", str(model), "--sample", "20")
    assert content["answers"] == len(verdicts.read()[::20])
    assert {one["kind"] for one in content["by_kind"]} >= {"short facts", "dates and times", "German", "all"}
    shares = {(one["who"], one["replies"]): one for one in content["judge"]["agreement"]}
    assert shares["verdict", "all"]["same"] > 0.8 > shares["judge", "all"]["same"]
    assert shares["judge", "all"]["n"] == 20 - content["judge"]["unjudged"] > shares["judge", "undecided"]["n"]


def test_stages_in_small(tmp_path: Path) -> None:
    (parts,) = ran("stages", tmp_path)["seconds"].values()
    assert all(parts[part] > 0 for part in ("imports", "preparing", "build", "score", "aggregate", "report", "end"))
    assert sum(parts[part] for part in stages.PARTS) == pytest.approx(parts["all"])


@pytest.mark.usefixtures("one_server")
def test_overhead_in_small(tmp_path: Path) -> None:
    content = ran("overhead", tmp_path)
    assert content["tasks"] == 6
    assert content["milliseconds"].keys() == {"plain", "run"}
    assert all(processor > 0 and wall > 0 for processor, wall in content["milliseconds"].values())


@pytest.mark.usefixtures("one_server")
def test_scale_in_small(tmp_path: Path) -> None:
    content = ran("scale", tmp_path)
    assert (content["relations"], content["queries"], content["contexts"]) == (3, 16, 24)
    assert content["prompts"] == 3 * 16 * 24
    for command in ("status", "aggregate", "report", "aggregate_and_report", "run_again", "aggregate_one_changed"):
        assert all(content[f"{command}_{what}"] > 0 for what in ("seconds", "cpu_seconds", "peak_bytes"))
