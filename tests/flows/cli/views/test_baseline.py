"""The gate `audit --baseline`: a run fails if its numbers became worse on the questions that both runs have."""

import re
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.snapshot import Snapshot
from swaymeter.data.errors import UsageError
from swaymeter.flows.cli.views import baseline
from swaymeter.flows.cli.views.baseline import (
    BaselineComparison,
    ComparedNumber,
    forgotten_judgements,
    models_of_last_audit,
    not_worse,
    replaced_page,
)
from swaymeter.flows.config.thresholds import thresholds_of_bounds
from swaymeter.tasks.statistics.changes import compare_snapshots
from tests.data.dataset.test_snapshot import snapshot
from tests.tasks.statistics.test_models import answer


def answers(model: str, verdict: str, *, text: str = "It is Oslo.", questions: int = 20) -> list[dict[str, Any]]:
    """Return answers to questions with a right passage; even questions have this verdict, odd questions context."""
    return [
        answer(model, f"q{number}", "supporting", "context" if number % 2 else verdict)
        | {"question": f"Which {number}?", "texts": text, "answer": ""}
        for number in range(questions)
    ]


def run(*arguments: Any, **options: Any) -> Snapshot:
    return snapshot(answers(*arguments, **options))


def compare(before: Snapshot, now: Snapshot) -> list[ComparedNumber]:
    return baseline.compared_numbers(compare_snapshots(before, now, over_time=True))


@pytest.mark.parametrize("model", ["m", "another"])
def test_model_that_follows_right_passages_less_is_worse(model: str) -> None:
    worse = [row for row in compare(run("m", "context"), run(model, "neither")) if row.worse]
    assert {row.name for row in worse} == {"follow.supporting", "follow_right.all"}
    assert {row.model for row in worse} == {f"{model} (float32)"}
    assert "100.0% before, 50.0% now: -50.0 points" in worse[0].worse
    assert "on the same 20 answers" in worse[0].worse


def test_better_and_equal_numbers_are_not_worse() -> None:
    assert not any(row.worse for row in compare(run("m", "neither"), run("m", "context")))
    assert not any(row.worse for row in compare(run("m", "neither"), run("m", "neither")))


def test_a_passed_gate_names_the_largest_fall() -> None:
    before, rows = run("m", "context"), answers("m", "context")
    now = snapshot([{**rows[0], "verdict": "neither"}, *rows[1:]])
    fall = "largest change for the worse: follow.supporting of m (float32) -5.0 points [-19.9, 10.8], undecided, p = 1"
    assert not_worse("ws", compare(before, now)) == f"not shown to be worse than ws: 3 numbers compared; {fall}"
    assert not_worse("ws", compare(before, before)).endswith("none of them changed for the worse")


def test_a_passed_gate_names_smallest_detectable_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gate_of(run("m", "context", questions=15), run("m", "context", questions=15), 0, monkeypatch)
    assert not gate.failure
    assert re.fullmatch(
        r"15 questions can show a fall of \d+ points or more; 100 questions can show a fall of \d+", gate.lines[-1]
    )


def gate_of(before: Snapshot, now: Snapshot, cut_off: int, monkeypatch: pytest.MonkeyPatch) -> BaselineComparison:
    """Return the gate of a run with this number of cut-off answers, against a baseline without cut-off answers."""
    runs = [baseline.LastRun("ws", items, unfinished) for items, unfinished in ((before, 0), (now, cut_off))]
    monkeypatch.setattr(baseline, "_last_run", lambda *_: runs[1])
    return baseline.compare_with_baseline(runs[0], Path("now.duckdb"))


def test_too_few_questions_fail_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gate_of(run("m", "context", questions=3), run("m", "neither", questions=3), 3, monkeypatch)
    assert gate.failure.startswith("3 questions cannot show a change, and nothing was tested against ws: ")
    assert "ask at least 6 questions" in gate.failure
    assert gate.failure.endswith("3 of 3 greedy answers were cut off at the limit of tokens; before 0 of 3")
    kinds = [kind for *_, kind, _ in gate.cases()]
    assert kinds == ["skipped"] * len(gate.numbers) + ["failure"]


def test_insignificant_falls_are_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = answers("m", "neither")
    now = snapshot([rows[0], {**rows[1], "verdict": "refusal"}, *rows[2:]])
    gate = gate_of(run("m", "context"), now, 0, monkeypatch)
    assert gate.failure.startswith("worse than before: follows the passage: gives its answer (follow.supporting) of m")
    assert gate.failure.endswith(
        "also changed for the worse, but without a significant test: refuse.supporting of m (float32) 0.0% → 5.0% "
        "(undecided, p = 1)"
    )
    cases = {name: (kind, text) for _, name, kind, text in gate.cases()}
    assert cases["refuse.supporting: not shown to be worse than before"] == (
        "system-out",
        "0.0% → 5.0%, undecided, p = 1",
    )


def run_with_wrong_passages(verdict: str) -> Snapshot:
    """Return a run in which three questions also have a wrong passage; their answers have this verdict."""
    rows = answers("m", "context")
    wrong = {"condition": "conflicting", "context_id": "wrong", "verdict": verdict, "outcome": "other"}
    return snapshot([*rows, *({**row, **wrong} for row in rows[:3])])


def test_a_number_of_few_questions_causes_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gate_of(run_with_wrong_passages("refusal"), run_with_wrong_passages("context"), 0, monkeypatch)
    assert not gate.failure
    assert "fewer than 6 questions: follow.conflicting of m (float32) 0.0% → 100.0%" in gate.warnings[0]


def test_a_new_model_causes_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    now = snapshot([*answers("m", "context"), *answers("new", "neither")])
    gate = gate_of(run("m", "context"), now, 0, monkeypatch)
    assert [line.rpartition(": ")[2] for line in gate.warnings] == ["new (float32)"]


def test_a_run_is_not_its_own_baseline(tmp_path: Path) -> None:
    (tmp_path / "study.duckdb").touch()
    with pytest.raises(UsageError, match="the same workspace"):
        baseline.baseline(str(tmp_path), tmp_path / "study.duckdb")


def test_runs_without_a_common_question_are_refused() -> None:
    with pytest.raises(UsageError, match="no question has the same texts in both runs"):
        compare(run("m", "context"), run("m", "context", text="It is Bergen."))


def test_bounds_of_a_study_are_thresholds() -> None:
    bounds = thresholds_of_bounds({"follow.supporting": ">= 0.9", "refuse.none.high": " <=10% "})
    assert [str(bound) for bound in bounds] == ["follow.supporting >= 0.9", "refuse.none.high <= 0.1"]


@pytest.mark.parametrize(
    ("audit", "judgements", "message"),
    [
        ("judgements: [/a b/v.csv]", (), "and this run does not; to count them, add --judgements '/a b/v.csv'"),
        ("judgements: [/a b/v.csv]", ("other.csv",), ""),
        ("judgements: []", (), ""),
        ("[", (), ""),  # damaged
    ],
)
def test_forgotten_judgements_are_named(audit: str, judgements: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert forgotten_judgements(tmp_path, judgements) == ""
    (tmp_path / "audit.yaml").write_text(audit)
    assert forgotten_judgements(tmp_path, judgements).endswith(message)
    assert bool(forgotten_judgements(tmp_path, judgements)) == bool(message)


def test_the_models_of_a_replaced_page_are_named(tmp_path: Path) -> None:
    assert replaced_page(models_of_last_audit(tmp_path), ["a"]) == ""
    (tmp_path / "audit.yaml").write_text("models: [{name: a}, {name: b}]")
    before = models_of_last_audit(tmp_path)
    assert replaced_page(before, ["b", "a", "c"]) == ""
    assert replaced_page(before, ["b"]) == "this run replaces the page of a, b; another --workspace keeps both"
