"""Each benchmark runs in small and writes what it says; how fast it was is never looked at."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import answers, deberta, table, ways, whose_answer
from benchmarks.measuring import Side, Table, interleaved, times
from tasks.models import LanguageModel
from tasks.scoring.next_token import tokenized_prompts
from tasks.scoring.persuasion import persuasion
from tests.end_to_end import preloaded
from tests.end_to_end.tiny_study import started
from tests.tasks.models.tiny import save_entailment_model, save_language_model, tiny_language_model

ROOT = Path(__file__).resolve().parents[2]
BARE = """
import runpy, sys
for name in ("prefect", "duckdb", "pandas", "pyarrow", "requests", "rich", "data.warehouse"):
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
    if python or script in ("memory", "prompts"):
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
    assert [one["is_one_line"] for one in settings] == [False, False, False, True]
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
    assert content["answers"] == 40
    assert {(one["rule"], one["side"]) for one in content["compared"]} == {
        (rule, side) for rule in whose_answer.RULES for side in ("context", "original", "either")
    }


def test_precision_and_recall_of_judged_answers() -> None:
    sides = {"context_answers": ["Oslo"], "original_answers": ["Lima"]}
    judged = ["context", "context", "both", "original", "neither"]
    rows = [{**sides, "judged": one, "found": place < 2 or place == 4} for place, one in enumerate(judged)]
    shares = whose_answer.compared(rows, lambda row, side: row["found"], ["context"])
    assert [(one["share"], one["n"]) for one in shares.values()] == [(2 / 3, 3), (2 / 3, 3)]
    # Clopper and Pearson: the roots of P(X >= 2) = 0.025 and P(X <= 2) = 0.025 for X of three trials
    low, high = shares["recall"]["low"], shares["recall"]["high"]
    assert 3 * low**2 * (1 - low) + low**3 == pytest.approx(0.025)
    assert 1 - high**3 == pytest.approx(0.025)
    assert whose_answer.compared(rows[3:4], lambda row, side: False, ["context"]) == {"precision": None, "recall": None}


def test_made_up_answers_repeat_about_as_real_ones_do() -> None:
    found = answers.made(20)
    assert found[:6] == answers.made(2)
    assert len(found) == 60
    assert {len(one) for one in found} == {10}
    assert 7.5 < np.mean([len(set(one)) for one in found]) < 8.5
    assert {len(answer.split()) for one in found for answer in one} <= set(range(4, 16))


def test_answers_of_a_file_are_judged_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    entries = [{"question": "Where?", "condition": "none", "answers": ["Oslo", "", "Oslo"]}]
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert answers.read(file) == [("Oslo", "", "Oslo")]
    for wrong in ([], [*entries, {**entries[0], "answers": ["Oslo"]}]):
        file.write_text(json.dumps(wrong), encoding="utf-8")
        with pytest.raises(SystemExit, match="as many answers"):
            answers.read(file)


def test_random_deberta_is_as_certain_as_it_was_made() -> None:
    texts = answers.made(3)
    judge = deberta.random_deberta("small", deberta.SMALL, texts, "cpu")
    pairs = [pair for one in texts for pair in combinations(sorted(set(one), key=len), 2)]
    batch = judge.tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = judge.model(**batch).logits
    margins = logits[:, 2] - logits[:, :2].amax(dim=1)
    assert 1.5 < float(margins.std()) < 6
    assert 0.2 < float((margins > 0).float().mean()) < 0.5


def test_all_ways_give_the_same_scores() -> None:
    model: LanguageModel = tiny_language_model("gpt_neox")
    contexts = ["Lima is far.\n", "The capital of Peru is not Oslo, whatever they say.\n", "Oslo.\n"] * 12
    queries = [f"Q: What is the capital of {name}?\nA:" for name in ("Peru", "Norway", "Ghana", "Mali", "Chad")]
    prompts = tokenized_prompts(model, contexts, queries)
    expected = persuasion(model, contexts, queries).scores
    assert expected.max() > 0.01
    for found in (ways.by_engine(model, prompts), ways.best_plain(model, prompts, 7), ways.published(model, prompts)):
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_ratios_are_taken_round_by_round() -> None:
    order: list[str] = []

    def side(name: str) -> Side:
        def compute(places: list[int]) -> Any:
            order.append(name)
            return np.array(places, dtype=np.float64)

        return Side(name, compute, lambda number: [2 * number, 2 * number + 1])

    a, b = side("a"), side("b")
    interleaved([a, b], 3)
    assert order == ["a", "b", "a", "b", "b", "a", "a", "b"]  # the first two are not timed
    assert a.rows(range(6)).tolist() == [0, 1, 2, 3, 4, 5]
    a.seconds, b.seconds = [8.0, 2.0, 3.0], [2.0, 1.0, 1.0]
    assert times(a, b) == 3.0


def test_the_page_has_the_results_that_are_committed() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(), "write it anew: python benchmarks/table.py"


def test_results_become_tables_under_the_benchmarks_name(tmp_path: Path) -> None:
    assert table.section(tmp_path) == "None yet.\n"
    machine = {"name": "A chip", "units": ["amx_bf16"], "torch": "2", "transformers": "5", "python": "3"}
    tables = [Table("Speed", ["side", "s"], [["engine", "1.5"]], ["A note."]).__dict__]
    content = {"benchmark": "fisher", "machine": machine, "tables": tables}
    (tmp_path / "fisher-a-chip.json").write_text(json.dumps(content), encoding="utf-8")
    section = table.section(tmp_path)
    assert section.startswith(
        "### fisher\n\n**Speed**\n\n| side   | s   |\n| ------ | --- |\n| engine | 1.5 |\n\nA note.\n"
    )
    assert "A chip; amx_bf16; torch 2, transformers 5, Python 3." in section


@pytest.mark.usefixtures("one_server")
def test_scale_in_small(tmp_path: Path) -> None:
    content = ran("scale", tmp_path)
    assert (content["relations"], content["queries"], content["contexts"]) == (3, 16, 24)
    assert content["prompts"] == 3 * 16 * 24
    for command in ("status", "aggregate", "report", "run_again", "aggregate_one_changed"):
        assert all(content[f"{command}_{what}"] > 0 for what in ("seconds", "cpu_seconds", "peak_bytes"))


@pytest.mark.usefixtures("one_server")
def test_shared_machine_in_small(model: Path, tmp_path: Path) -> None:
    content = ran("shared_machine", tmp_path, "--model", str(model))
    assert content["times_as_long"]["alone"] == 1
    assert len(content["seconds"]["at once"]) == 1
