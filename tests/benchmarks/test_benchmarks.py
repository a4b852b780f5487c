"""What benchmarks measure with: their ways, their made-up work, their ratios and the page of their results."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import answers, deberta, table, ways, whose_answer
from benchmarks.measuring import Side, Table, interleaved, times
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.tiny import tiny_language_model


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
