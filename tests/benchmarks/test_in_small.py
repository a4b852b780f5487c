"""Each benchmark runs in small and writes what it says; how fast it was is never looked at. `make test-benchmarks`."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import peers, whose_answer
from tests.end_to_end import preloaded
from tests.end_to_end.tiny_study import started
from tests.tasks.models.tiny import save_entailment_model, save_language_model

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
    """What a script writes in small, in a forked process unless it is given to another Python or measures memory."""
    command = [str(ROOT / "benchmarks" / f"{script}.py"), "--quick", "--out", str(out), *options]
    if python or script in ("memory", "prompts", "endpoints", "peers"):
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


def test_families_in_small(tmp_path: Path) -> None:
    found = ran("families", tmp_path)["families"]
    assert [one["persuasion"] for one in found] == ["prefix tree"] * 2
    assert all(one["log_probability_apart"] < 1e-4 and one["greedy_equal"] for one in found)


def test_products_in_small(tmp_path: Path) -> None:
    found = ran("products", tmp_path)["times_as_fast"]
    assert {len(ratios) for ratios in found.values()} == {2}
    assert all(0.01 < ratio < 100 for ratios in found.values() for ratio in ratios)


def test_generation_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("generation", tmp_path, "--model", str(model))
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


def test_passages_in_small(tmp_path: Path) -> None:
    (setting,) = ran("passages", tmp_path)["settings"]
    engine, *generate = setting["sides"]
    assert (setting["prompts"], setting["answered_by"]) == (4, "slots")
    assert 300 < setting["mean_tokens"] < 500
    assert [side["side"] for side in generate] == ["one at a time", "in batches"]
    assert all(side["equal_answers"] == 1 for side in generate)
    assert setting["better_plain_over_engine"] == min(side["over_engine"] for side in generate)
    assert engine["peak_bytes"] > 1 << 28


def test_long_prompts_in_small(tmp_path: Path) -> None:
    (setting,) = ran("long_prompts", tmp_path)["settings"]
    sides = {one["side"]: one for one in setting["sides"]}
    assert (300 < setting["tokens"] < 500, setting["engines"]) == (True, ["prefix tree", "slots"])
    assert {sides[name]["equal_answers"] for name in ("engine, one answer", "engine, answers")} == {1}
    assert max(sides[name]["apart"] for name in ("engine, one", "engine, four")) < 1e-4
    assert sides["plain pass"]["over_plain"] == sides["generate"]["over_plain"] == 1
    assert all(one["peak_bytes"] > 1 << 28 for one in setting["sides"])


def test_generation_of_a_large_shape_needs_no_weights(
    tmp_path: Path,
) -> None:
    content = ran("generation", tmp_path, "--shape", "llama-3-8b", "--dtype", "float32", python=("-c", BARE))
    (one,) = content["settings"]
    assert content["model"] == "llama-3-8b"
    assert one["largest_difference"]["log_probability"] < 1e-4
    assert one["equal_answers"] == {"2": 1.0}


def test_next_token_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("next_token", tmp_path, "--model", str(model))
    assert [one["dtype"] for one in content["settings"]] == ["float32", "bfloat16"]
    for one in content["settings"]:
        assert set(one["prompts_a_second"]) == {"engine", "published", "best_plain"}
        assert {"engine_over_published", "engine_over_best_plain"} <= set(one)
        assert one["engine"] == "prefix tree"
    assert content["settings"][0]["largest_difference"]["persuasion"] < 1e-4
    assert content["spearman_of_bfloat16"]["2"] > 0.9
    assert set(content["gflops"]["float32"]) == {"before", "after", "size"}


def test_peers_in_small(tmp_path: Path) -> None:
    content = ran("peers", tmp_path, "--dtype", "float32")
    sides = {(one["work"], one["tokens"] > 100, one["side"]): one for one in content["settings"]}
    assert {(work, long) for work, long, _ in sides} == set(itertools.product(peers.WORKS, (False, True)))
    for (work, long, _), one in sides.items():
        ours = sides[work, long, "swaymeter"]
        assert one["over_this"] == pytest.approx(ours["a_second"] / one["a_second"])
    assert any(reason.startswith("measureLM") for reason in content["skipped"])


def test_fisher_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("fisher", tmp_path, "--model", str(model))
    assert [one["side"].partition(",")[0] for one in content["speed"]] == ["Fisher"] * 2 + ["engine", "published"] * 2
    assert all(one["over_fisher_top_k"] > 0 and one["over_fisher_draws"] > 0 for one in content["speed"])
    assert {(one["contexts"], one["queries"], one["n"]) for one in content["agreement"]} == {
        (contexts, queries, n) for contexts in (12, 24) for queries, n in (("open", 6), ("closed", 6), ("all", 12))
    }


def test_memory_in_small(model: Path, tmp_path: Path) -> None:
    settings = ran("memory", tmp_path, "--model", str(model))["settings"]
    assert [(one["contexts"], one["queries"]) for one in settings] == [(12, 4), (12, 8)]
    for one in settings:
        assert one["above_baseline"] == one["peak"] - one["baseline"] >= 0
        assert one["within_budget"] == (one["above_baseline"] <= one["budget"] == 64 << 20)
        assert one["within_budget"]  # whatever else it fills, a tiny model stays far below


def test_endpoints_in_small(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    content = ran("endpoints", tmp_path)
    assert content["throughput_ratio"] > 0
    assert 0 < content["in_flight_s"] <= content["stage_s"]


def test_prompts_in_small(tmp_path: Path) -> None:
    content = ran("prompts", tmp_path)
    assert (content["relations"], content["queries"], content["contexts"]) == (2, 800, 1200)
    assert content["seconds"] > 0
    assert content["peak_bytes"] > 1 << 20


def test_gpu_in_small_and_without_what_a_bare_machine_lacks(tmp_path: Path) -> None:
    options = ("--device", "cpu", "--contexts", "128", "--tokens-a-pass", "1000")
    content = ran("gpu", tmp_path, *options, python=("-c", BARE))
    assert [one["shape"] for one in content["settings"]] == ["pythia-6.9b", "llama-3-8b"]
    assert content["tokens_a_pass"] == 1000
    for one in content["settings"]:
        assert one["engine"] == "prefix tree"
        assert 0 <= one["kl_from_plain"] < one["mean_persuasion"] / 20
        assert one["tflops"] / content["ceiling_tflops"]["before"] == pytest.approx(one["share_of_ceiling"])
        seconds_a_query = np.median([128 / rate for rate in one["prompts_a_second"]["engine"]])
        assert one["seconds_of_published_queries"] == pytest.approx(122 * 100 * 4 * seconds_a_query)


def test_corpus_in_small(tmp_path: Path) -> None:
    settings = ran("corpus", tmp_path)["settings"]
    assert len(settings) == 3
    assert all(one["found"] > 1000 for one in settings)


def test_entailment_in_small(tmp_path: Path) -> None:
    trained, file = str(save_entailment_model(tmp_path / "trained")), tmp_path / "answers.json"
    of_question = ["Oslo", "Lima", "", "Oslo is it", "Rome", "Lima, Peru", "the city of Rome", "Oslo", "42", "Bergen"]
    file.write_text(json.dumps([{"answers": of_question}, {"answers": of_question[::-1]}]), encoding="utf-8")
    judges = ["stand-in", "deberta-large", trained]
    content = ran("entailment", tmp_path / "out", "--answers", str(file), "--judges", *judges)
    assert [one["judge"] for one in content["settings"]] == judges
    assert (content["questions"], content["different_answers"]) == (2, 9)
    for one in content["settings"]:
        assert one["judged_differently"] == 0
        assert one["pairs_compared"] == 45 - 9 - 1  # neither those with the empty one, nor the equal ones
        assert one["times_as_fast"] == np.median(
            np.divide(*(one["seconds_a_question"][side] for side in ("pair_by_pair", "in_bulk")))
        )
        assert one["read_a_question"]["pair_by_pair"] == 90
        assert 0 < one["share_equivalent"] < 1
    stand_in, *models = content["settings"]
    assert stand_in["read_a_question"]["in_bulk"] == 8 / 2  # the same texts under both questions
    for one in models:
        assert one["read_a_question"]["in_bulk"] == pytest.approx(28 / 2 * (1 + one["share_entailing"]))
        assert 0 < one["share_entailing"] < 1


def test_whose_answer_in_small(tmp_path: Path) -> None:
    content = ran("whose_answer", tmp_path)
    assert content["answers"] == len(whose_answer.read()[::20])
    assert {one["kind"] for one in content["by_kind"]} >= {"short facts", "dates and times", "German", "all"}
    assert {(one["rule"], one["side"]) for one in content["compared"]} == {
        (rule, side) for rule in whose_answer.RULES for side in ("context", "original", "either")
    }


def test_judge_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("judge", tmp_path, "--judge", str(model))
    assert content["answers"] == len(whose_answer.read()[::60])
    found = {(one["who"], one["kind"]): one for one in content["by_kind"]}
    assert found["rule", "all"]["same"] > 0.9 > found["judge", "all"]["same"]
    assert found["judge", "all"]["n"] == content["answers"] - content["unjudged"] > 0
    assert sum(content["verdicts"]["judge"].values()) == found["judge", "all"]["n"]


@pytest.mark.usefixtures("one_server")
def test_scale_in_small(tmp_path: Path) -> None:
    content = ran("scale", tmp_path)
    assert (content["relations"], content["queries"], content["contexts"]) == (3, 16, 24)
    assert content["prompts"] == 3 * 16 * 24
    for command in ("status", "aggregate", "report", "aggregate_and_report", "run_again", "aggregate_one_changed"):
        assert all(content[f"{command}_{what}"] > 0 for what in ("seconds", "cpu_seconds", "peak_bytes"))


@pytest.mark.usefixtures("one_server")
def test_shared_machine_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("shared_machine", tmp_path, "--model", str(model))
    assert content["times_as_long"]["alone"] == 1
    assert len(content["seconds"]["at once"]) == 1
