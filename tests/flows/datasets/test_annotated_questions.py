"""Which questions annotators get, where not all are there or fit, and which of them a study then asks."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from flows.aggregate import _aggregate
from flows.build import _write_left_out
from flows.live_names import page_work, property_work
from flows.plan import Plan

from data import reasons
from data.errors import InputError, MissingFile, UsageError
from flows.datasets import annotate
from tasks.contexts.annotation.cells import LARGEST_CELL
from tasks.contexts.annotation.sheet import COLUMNS
from tasks.contexts.annotation.spreadsheet import read_sheet
from tests.flows.datasets.annotating import choosing, fill, judge, questions_of
from tests.flows.small_plan import build, fetch, small_plan
from tests.flows.test_live_files import PAGES, live_plan, question, with_seeds, write_page


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return fetch(small_plan(tmp_path))


@pytest.fixture
def half(tmp_path: Path) -> Plan:
    """Of two partitions, one is not there."""
    plan = fetch(small_plan(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2}))
    plan.question_files.published("disputable").path.unlink()
    return Plan(plan.study, plan.workspace)


def test_a_missing_partition_is_named_and_stops_no_other(half: Plan, tmp_path: Path) -> None:
    exported = annotate.export(half, tmp_path / "ada.csv", "ada")
    assert exported.questions == len(questions_of(half))
    (missing,) = exported.missing
    assert missing.startswith("partition disputable: ")
    imported = annotate.import_(half, fill(tmp_path / "ada.csv", choosing(half, "accept")), "ada")
    assert (imported.new, imported.missing) == (1, (missing,))
    standing = annotate.standing(half)
    assert (standing.questions, standing.missing) == (exported.questions, (missing,))
    assert annotate.export(half, tmp_path / "s.csv", "ben", partitions=["static"]).missing == ()


def test_without_questions_no_sheet_is_written(half: Plan, tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        annotate.export(half, tmp_path / "ada.csv", "ada", partitions=["disputable"])
    half.question_files.published("static").path.unlink()
    for work in (lambda: annotate.standing(half), lambda: annotate.export(half, tmp_path / "ada.csv", "ada")):
        with pytest.raises(MissingFile):
            work()
    assert not (tmp_path / "ada.csv").exists()


def test_nothing_left_of_what_is_fetched_is_usage(half: Plan, tmp_path: Path) -> None:
    judge(half, tmp_path / "ada.csv", "ada", choosing(half, *["accept"] * len(questions_of(half))))
    with pytest.raises(UsageError, match="no question of those that are fetched is left for ada to judge"):
        annotate.export(half, tmp_path / "more.csv", "ada")


def test_missing_steps_of_live_questions_are_named(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    write_page(with_seeds(plan), question("a", "disputable", "disputable"))
    exported = annotate.export(plan, tmp_path / "ada.csv", "ada")
    assert exported.questions == 1
    assert {property_work("capital"), property_work("twinnedTown"), page_work(PAGES[0])} <= {*exported.missing}
    assert page_work("Tea") not in exported.missing


@pytest.mark.parametrize("name", ["ada.csv", "ada.xlsx"])
def test_a_question_too_long_for_a_cell_is_named(
    name: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = questions_of(plan)
    long = replace(first, original_context=f"{first.original_context} {'a' * LARGEST_CELL}")
    monkeypatch.setattr(type(plan.question_files), "candidates", lambda *_: [long, *others])
    exported = annotate.export(plan, tmp_path / name, "ada")
    assert exported == annotate.Exported(len(others), (f"{first.question_id} ({first.subject}): context",))
    assert len(read_sheet(tmp_path / name, COLUMNS).rows) == len(others)
    monkeypatch.setattr(type(plan.question_files), "candidates", lambda *_: [long])
    with pytest.raises(InputError, match=f"no question that is left for ada fits into a sheet: {first.question_id}"):
        annotate.export(plan, tmp_path / "none.csv", "ada")


def test_a_study_uses_only_accepted_and_changed_questions(tmp_path: Path) -> None:
    plan = fetch(small_plan(tmp_path, questions={"partitions": ["static"], "per_partition": None, "annotated": True}))
    first, second, third, fourth, *others = questions_of(plan)
    for name in ("ada", "ben"):
        sheet = choosing(plan, "accept", "change", "discard", "accept" if name == "ada" else "incomplete")
        sheet[second.question] |= {"new question": "Who made it?", "new other answer": "Nobody"}
        judge(plan, tmp_path / f"{name}.csv", name, sheet)
    judged = build(Plan(plan.study, plan.workspace))
    assert judged.refused_partitions == {}
    chosen = [row for name in judged.question_relations() for row in judged.questions(name).read().to_pylist()]
    texts = {row["question_id"]: (row["question"], row["replacement"], row["counter_memory_context"]) for row in chosen}
    assert texts == {
        first.question_id: (first.question, first.replacement, first.counter_memory_context),
        second.question_id: (
            "Who made it?", "Nobody", second.counter_memory_context.replace(second.replacement, "Nobody"),
        ),
    }  # fmt: skip
    left_out = judged.left_out("static")
    assert left_out is not None
    rows = left_out[1]
    assert [(row.subject, row.object, row.reason) for row in rows] == [
        (third.subject, third.object, reasons.ANNOTATORS_DISCARD),
        (fourth.subject, fourth.object, reasons.ANNOTATORS_DISAGREE),
        *((one.subject, one.object, reasons.NOT_ANNOTATED) for one in others),
    ]
    _write_left_out(judged, "static")
    _aggregate(judged, force=False)
    with duckdb.connect(judged.workspace.database, read_only=True) as database:
        dropped = database.execute("SELECT reason, count(*) FROM rejected GROUP BY reason").fetchall()
        assert database.execute("SELECT count(*) FROM questions").fetchone() == (2,)
    assert dict(dropped) == Counter(row.reason for row in rows)
    of_all = replace_annotated(judged, annotated=False)
    assert sum(map(len, of_all.chosen_questions.values())) == len(others) + 4
    assert of_all.left_out("static") is None


def replace_annotated(plan: Plan, *, annotated: bool) -> Plan:
    assert plan.study.questions is not None
    questions = plan.study.questions.model_copy(update={"annotated": annotated})
    return Plan(plan.study.model_copy(update={"questions": questions}), plan.workspace)
