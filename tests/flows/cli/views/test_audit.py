"""Thresholds, options and messages of an audit, and the comparison of two runs; no model is loaded."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from swaymeter.data.errors import UsageError, WorkFailed
from swaymeter.data.reasons import ANSWERS_ALIKE
from swaymeter.data.records import as_row
from swaymeter.data.records.passages import PLAIN, SEPARATOR
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.flows.cli.views import audit
from swaymeter.flows.config.study import StudyFile, read_study
from swaymeter.flows.config.thresholds import (
    MeasuredQuantity,
    Threshold,
    compare_with_thresholds,
    refuse_unmet,
    thresholds_of,
    write_junit,
)
from swaymeter.tasks.contexts.questions import rejected_question
from tests.data.warehouse.small_study import Row, build_study, row, table
from tests.flows.conftest import Command

ORACLE = Path(__file__).resolve().parents[3] / "oracle" / "reports"
# The numbers are: replies, questions, the mean over the replies, and the two ends of its interval.
FOLLOWS_RIGHT = MeasuredQuantity("m (float32)", "follow", "supporting", 40, 30, "question", 0.8, 0.7, 0.9, "share")
FOLLOWS_WRONG = MeasuredQuantity("m (float32)", "follow", "conflicting", 4, 4, "question", 0.4, None, None, "share")

FOLLOWS_RIGHT_TEXT = "follow.supporting of m (float32) is 80.0% [70.0, 90.0] over 40 answers to 30 questions"


def models_of(*names: str, key_from: str = "") -> list[dict[str, Any]]:
    """Return the section `models` of an audit of these models."""
    return audit._models(audit.AuditOptions("mine.csv", Path(), models=names, key_from=key_from))


def test_models_are_named_with_dtypes_or_addresses() -> None:
    assert models_of("m:bfloat16", "org/m@http://[::1]:1/v1", "one@HTTPS://a.example") == [
        {"name": "m", "dtype": "bfloat16"},
        {"name": "org/m", "endpoint": "http://[::1]:1/v1"},
        {"name": "one", "endpoint": "https://a.example"},
    ]
    models = models_of("m@http://127.0.0.1:1", "m@http://127.0.0.1:2", key_from="KEY")
    assert [(model["name"], model["served_as"], model["key_from"]) for model in models] == [
        ("m-1", "m", "KEY"),
        ("m-2", "m", "KEY"),
    ]
    with pytest.raises(UsageError, match="write http:// or https://"):
        models_of("m@127.0.0.1:8000/v1")


@pytest.mark.parametrize(
    ("under", "over", "unmet"),
    [
        (["follow.supporting=0.8"], ["follow.conflicting=0.4"], ""),
        (["follow.supporting=0.81"], [], f"{FOLLOWS_RIGHT_TEXT}, and it has to be at least 81.0%"),
        (["follow.supporting=0.8004"], [], f"{FOLLOWS_RIGHT_TEXT}, and it has to be at least 80.04%, and is 80.00%"),
        ([], ["follow.conflicting=30%"], "follow.conflicting of m (float32) is 40.0% over 4 answers to 4 questions"),
        (["follow.supporting.low=0.7"], ["follow.supporting.high=0.9"], ""),
        (["follow.supporting.low=0.71"], [], f"{FOLLOWS_RIGHT_TEXT}, and the low end of its interval"),
        ([], ["follow.supporting.high=0.89"], f"{FOLLOWS_RIGHT_TEXT}, and the high end of its interval"),
        (["follow.conflicting.low=0.1"], [], "follow.conflicting.low >= 0.1 could not be tested for m (float32): 4"),
        ([], ["context_bias=0.1"], "context_bias <= 0.1 could not be tested for any model"),
        (["follow=0.5"], [], "follow.conflicting of m"),
    ],
)
def test_an_unmet_threshold_fails(under: list[str], over: list[str], unmet: str) -> None:
    with pytest.raises(WorkFailed) if unmet else nullcontext() as failed:
        refuse_unmet(compare_with_thresholds(thresholds_of(under, over), [FOLLOWS_RIGHT, FOLLOWS_WRONG]))
    assert str(getattr(failed, "value", "")).startswith(unmet)


RESISTS = MeasuredQuantity("m (float32)", "resist_wrong", "all", 10, 10, "question", 0.9, 0.6, 1.0, "share")
SELDOM_WRONG = MeasuredQuantity("m (float32)", "follow", "conflicting", 10, 10, "question", 0.1, 0.0, 0.4, "share")


@pytest.mark.parametrize(
    ("measured", "under", "over", "is_met"),
    [
        (RESISTS, ["resist_wrong.all=0.8"], [], True),
        (replace(RESISTS, empty=1), ["resist_wrong.all=0.8"], [], True),
        (replace(RESISTS, empty=2), ["resist_wrong.all=0.8"], [], False),
        (replace(RESISTS, undecided=2), ["resist_wrong.all=0.8"], [], False),
        (replace(RESISTS, missing=2), ["resist_wrong.all=0.8"], [], False),
        (replace(RESISTS, empty=4), [], ["resist_wrong.all=0.95"], True),
        (replace(SELDOM_WRONG, undecided=3), [], ["follow.conflicting=0.3"], False),
        (replace(SELDOM_WRONG, undecided=3), [], ["follow.conflicting=0.4"], True),
        (replace(SELDOM_WRONG, undecided=1), [], ["follow.conflicting.high=0.4"], False),
    ],
)
def test_replies_that_state_nothing_alone_meet_no_threshold(
    measured: MeasuredQuantity, under: list[str], over: list[str], is_met: bool
) -> None:
    ((_, _, unmet),) = compare_with_thresholds(thresholds_of(under, over), [measured])
    assert (not unmet) == is_met
    assert is_met or "only because replies state nothing" in unmet


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "not a threshold|no quantity")
            for text in ("follow", "follow.a", "follow=x", "flow.a=1", "follow.a b=1", "=1", "follow.low.a=1")
        ),
        ("follow=90", "from 0 to 1"),
        ("persuasion=10%", "in nats"),
        ("keep.irrelevant=1", "choose another quantity"),
        ("follow.conflicting=1", r"file, use follow\.supporting$"),
        ("follow.supportingg=1", r"for this threshold; did you mean 'follow\.supporting'\?$"),
        ("prefer_right.mixed=0.5", "a right and a wrong passage: add --set supporting[+]conflicting$"),
        ("refuse.irrelevant=1", r"refuse\.none, refuse\.supporting"),
        ("correct.supporting=1", r"correct\.none"),
    ],
)
def test_an_impossible_threshold_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Threshold.parse(text, at_least=True).check({"supporting"})


def study_of(folder: Path, file: str = "mine.csv", models: tuple[str, ...] = ("m",), **changes: Any) -> StudyFile:
    """Write and read the study of an audit of a file."""
    options: dict[str, Any] = {"models": models, "samples": 1} | changes
    return read_study(audit.write_study(audit.AuditOptions(str(folder / file), folder, **options)))


def test_commands_accept_the_folder_of_an_audit(swaymeter: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer,context,kind\nWho?,I,It is I.,supporting\n")
    study_of(tmp_path, models=("smollm2-135m-instruct",))
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert f" 0 damaged in {moved}" in swaymeter("status", str(moved)).out
    assert f"there is no database {moved / 'study.duckdb'}" in swaymeter("history", str(moved)).err
    refused = swaymeter("status", str(moved.parent))
    assert (refused.code, "it is a folder without audit.yaml; name the study's file" in refused.err) == (2, True)


def test_unused_rows_are_named_or_refused(tmp_path: Path) -> None:
    file, list_file = tmp_path / "mine.csv", tmp_path / "rows-not-used.txt"
    file.write_text("question,answer,context,kind\nWho?,I,It is I.,supporting\nWho?,,x,supporting\n")
    study = study_of(tmp_path)
    assert audit.about_rows(audit.read_rows(study, [], tmp_path), Path("mine.csv"), tmp_path) == [
        "not used: mine.csv: 1 of 2 rows cannot be used: line 3: answer: is missing; add it",
        f"all rows that are not used: {list_file}",
    ]
    file.write_text("question,answer,context,kind\nWho?,I,It is I.,supporting\nWho?,I,It is you.,conflicting\n")
    with pytest.raises(UsageError, match=r"no context of kind conflicting can be used; .*; .* lists all unusable"):
        audit.read_rows(study, [], tmp_path)
    file.write_text("question,answer,context\n" + "Who?,,x\n" * 30)
    refusal = r"30 of 30 rows .*: line 2, 3, 4 and 27 more: answer: .*; .* lists all unusable rows"
    with pytest.raises(UsageError, match=refusal):
        audit.read_rows(study, [], tmp_path)
    assert len(list_file.read_text().splitlines()) == 30
    file.write_text("question,answer,context\nWho?,I,x\n")
    assert audit.about_rows(audit.read_rows(study, [], tmp_path), Path("mine.csv"), tmp_path) == []
    assert not list_file.exists()
    file.write_text("frage,answer\n")
    with pytest.raises(UsageError, match="lacks the columns question and context"):
        audit.read_rows(study, [], tmp_path)


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        (["question"], "--map 'question' is not a pair of names; write Swaymeter's name of a column before"),
        (["frage=question"], "--map: frage is not one of the columns that can be mapped: id, group, question"),
        (["question=a", "question=b"], "--map: question is mapped to a and to b; keep one mapping"),
        (["question=a", "answer=a"], "--map: question and answer are both mapped to a; keep one mapping"),
    ],
)
def test_a_malformed_map_is_refused(maps: list[str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        audit.columns_of(maps)
    assert str(raised.value).startswith(message)


def test_junit_has_case_for_each_threshold_and_model(tmp_path: Path) -> None:
    hostile = MeasuredQuantity("<m> & \u202e\"'", "follow", "conflicting", 3, 3, "question", 0.9, None, None, "share")
    outcome = compare_with_thresholds(thresholds_of([], ["follow.conflicting=0.5"]), [FOLLOWS_WRONG, hostile])
    unused = [("line 3", "answer: is missing; add it")]
    file = tmp_path / "new" / "junit.xml"
    write_junit(file, "mine", outcome, unused=unused)
    suite = ElementTree.parse(file).getroot()
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    failed, skipped = [case for case in suite if len(case)]
    assert (skipped.get("name"), skipped[0].tag, skipped[0].get("message")) == ("line 3", "skipped", unused[0][1])
    assert failed.get("classname") == hostile.model
    assert failed[0].get("message", "").startswith("follow.conflicting of <m>")
    write_junit(file, "mine", [], error="no model\x00 m")
    suite = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")


def test_persuasion_and_unchanged_need_enough_samples(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer,context,kind\nWho?,I,It is I.,supporting\n")
    persuasion = thresholds_of(["persuasion.supporting=0.1"], [])
    few, enough = (study_of(tmp_path, samples=samples) for samples in (4, 5))
    with pytest.raises(UsageError, match="add --samples 5 or more"):
        audit.read_rows(few, persuasion, tmp_path)
    with pytest.raises(UsageError, match="add --samples 10 or more"):
        audit.read_rows(enough, thresholds_of([], ["unchanged.supporting=0.1"]), tmp_path)
    assert audit.read_rows(enough, persuasion, tmp_path).questions
    served = study_of(tmp_path, models=("m@http://127.0.0.1:1/v1",), samples=5)
    with pytest.raises(UsageError, match="name only models on this machine"):
        audit.read_rows(served, persuasion, tmp_path)
    assert ["coherent_persuasion" in study.measures for study in (few, enough, served)] == [False, True, False]


def test_study_of_audit_has_options_of_audit(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer\n")
    models, judge = ("smollm2-135m-instruct:bfloat16", "C:folder"), "smollm2-135m-instruct"
    study = study_of(tmp_path, models=models, samples=2, questions=5, max_new_tokens=7, judge=judge)
    expected = [("smollm2-135m-instruct", "bfloat16"), ("C:folder", "auto")]
    assert [(model.name, model.dtype) for model in study.models] == expected
    assert study.questions is not None
    assert study.questions.per_partition == 5
    assert [study.parameters("answers")[name] for name in ("samples", "max_new_tokens")] == [2, 7]
    assert study.parameters("judged_answers")["judge"] == judge
    served = study_of(tmp_path, models=models, judge="m@http://127.0.0.1:1/v1", timeout_s=9)
    assert [audited.parameters("judged_answers")["timeout_s"] for audited in (study, served)] == [None, 9]


@pytest.mark.parametrize(
    ("option", "limit_and_models"),
    [("off", (2048, "without_switch")), ("on", (2048, "all")), ("99", (99, "all")), ("0", None), ("-1", None)],
)
def test_an_option_limits_the_thinking_of_models(
    option: str, limit_and_models: tuple[int, str] | None, tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text("question,answer\n")
    with nullcontext() if limit_and_models else pytest.raises(UsageError, match="use off, on, or a limit of tokens"):
        study = study_of(tmp_path, thinking=option)
        assert tuple(study.parameters("answers")["thinking"].values()) == limit_and_models


def test_a_missing_file_ends_with_code_2(swaymeter: Command, tmp_path: Path) -> None:
    result = swaymeter("audit", "nowhere.csv", "--model", "m", "--workspace", str(tmp_path / "ws"))
    assert result.code == 2
    assert "there is no file nowhere.csv" in result.error
    assert not (tmp_path / "ws").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "m@http://127.0.0.1:1/v1"], "model m (http://127.0.0.1:1) cannot be reached: "),
        (
            ["--model", "smollm2-135m-instruct", "--judge", "nosuch"],
            "--judge: no language model is named 'nosuch'; known: gpt2",
        ),
        (
            ["--model", "smollm2-135m-instruct", "--judge", "all-minilm-l6-v2"],
            "--judge: 'all-minilm-l6-v2' is of kind embedder instead of language model; use one of the models smollm2",
        ),
        (
            ["--model", "smollm2-135m-instruct", "--judge", "m@http://127.0.0.1:1/v1"],
            "--judge: model m (http://127.0.0.1:1) cannot be reached: ",
        ),
        (["--model", "smollm2-135m-instruct", "--judge", f"{__file__}:nosuch"], "--judge: judge /"),
    ],
)
def test_a_refused_audit_leaves_no_workspace(
    options: list[str], message: str, swaymeter: Command, tmp_path: Path
) -> None:
    result = swaymeter("audit", "own-questions", *options, "--workspace", str(tmp_path / "ws"))
    assert (result.code, result.error.startswith(message)) == (2, True), result.error
    assert not (tmp_path / "ws").exists()


VERDICTS = {"c": "context", "o": "original"}


def write_run(
    folder: Path, verdicts: str, text: str = "text", closed_book: str = "original", **run_columns: str | None
) -> Path:
    """Write the database of a run into a folder, and return the folder.

    Args:
        folder: The folder of the database.
        verdicts: A letter of VERDICTS for each question: the verdict of its answer with a conflicting context.
        text: The text of all contexts.
        closed_book: The verdict of all answers without a context.
        run_columns: Columns of the run; `label` and `prompt` are columns of its variant.
    """

    verdicts_with_context = {f"q {number}": VERDICTS[letter] for number, letter in enumerate(verdicts)}
    context = {
        "context_id": "c",
        "condition": "conflicting",
        "passages": [{"text": text}],
        "answers": ["Lima"],
        "form": PLAIN,
        "separator": SEPARATOR,
    }
    columns = {"relation": "own", "subject": "", "subject_id": None, "contexts": [context]}
    answer = {"relation": "own", "model": "m", "dtype": "float32", "sample": None, "outcome": None}
    rows: list[Row] = [
        row(
            table("whose_answer"),
            **answer,
            question_id=name,
            context_id=context_id,
            condition=condition,
            verdict=verdict,
        )
        for name, verdict_with_context in verdicts_with_context.items()
        for context_id, condition, verdict in (
            ("none", "none", closed_book),
            ("c", "conflicting", verdict_with_context),
        )
    ]
    questions: list[Row] = [row(table("questions"), question_id=name, **columns) for name in verdicts_with_context]
    variant_columns = {name: run_columns.pop(name) for name in ("label", "prompt") if name in run_columns}
    study = {
        "questions": questions,
        "whose_answer": rows,
        "variants": [row(table("variants"), model="m", dtype="float32", **variant_columns)],
        "runs": [row(table("runs"), model="m", dtype="float32", **run_columns)],
    }
    build_study(folder / "study.duckdb", study)
    return folder


def test_greedy_answers_that_were_cut_off_are_counted(tmp_path: Path) -> None:
    file = ORACLE / "15-greedy-answers-cut-off" / "questions.jsonl"
    questions = read_questions(OwnQuestions(file=str(file))).questions
    answers = [
        row(
            table("answers"),
            relation=question.relation,
            question_id=question.question_id,
            context_id=case.context_id,
            condition=case.condition,
            sample=sample,
            state="complete" if case.condition == "none" else "truncated",
            token_log_probs=[-1.0] * (3 if case.condition == "none" else 32),
            model="m",
            dtype="float32",
        )
        for question in questions
        for case in question.cases
        for sample in (None, 0)
    ]
    rejected = as_row(rejected_question(questions[0], ANSWERS_ALIKE, "q1, conflicting: 'two' is the right answer '2'"))
    tables = {"questions": [as_row(question) for question in questions], "rejected": [rejected]}
    build_study(tmp_path / "study.duckdb", tables | {"answers": answers})
    results = audit.results_in(tmp_path / "study.duckdb")
    (skipped,) = results.skipped
    assert skipped.startswith("not asked: A context called conflicting states the right answer in another spelling")
    assert skipped.endswith("(1: q1, conflicting: 'two' is the right answer '2')")
    (line,) = audit.about_answers(results)
    assert line.startswith("Cut off at 32 tokens: 4 of 6 greedy answers of m (float32) (66.7%). ")
    assert line.endswith("; --max-new-tokens raises it.")


def test_two_runs_are_compared_on_common_questions(swaymeter: Command, tmp_path: Path) -> None:
    first, second = write_run(tmp_path / "a", "c" * 12), write_run(tmp_path / "b", "o" * 10)
    result = swaymeter("compare", str(first), str(second / "study.duckdb"))
    assert result.code == 0
    unpaired = "not compared: A: m (float32) against B: m (float32)"
    line = next(line for line in result.out.splitlines() if line.startswith("│ follow.conflicting"))
    assert [cell.strip() for cell in line.strip("│ ").split("│")][1:] == [
        "10",
        "100.0%",
        "0.0%",
        "+100.0 points [52.1, 100.0]",
        "larger",
    ]
    assert f"{unpaired}: 2 of 12 in A not asked in B (follow.conflicting, resist_wrong.all, correct.none" in result.out
    page = second / "compared-with-a.html"
    assert f"flipped replies: 10; the page: {page}" in result.out
    assert page.read_text(encoding="utf-8").count("<td>context</td>") == 10
    assert swaymeter("compare", str(first), str(second), "--page", str(tmp_path / "none" / "p.html")).code == 2
    assert len(json.loads(swaymeter("compare", str(first), str(second), "--json").out)["flipped_replies"]) == 10
    assert swaymeter("compare", str(first), str(tmp_path / "no.duckdb")).code == 2
    changed = swaymeter("compare", str(first), str(write_run(tmp_path / "c", "o" * 10, "another text")))
    assert "flipped replies: 0; " in changed.out
    assert "│ follow.conflicting" not in changed.out  # the contexts have the same ids, but other texts
    assert "│ correct.none" in changed.out
    other_texts = "10 of {} in {} asked with other texts in {}"
    counts = f"{other_texts.format(12, 'A', 'B')}, 2 of 12 in A not asked in B, {other_texts.format(10, 'B', 'A')}"
    assert f"{unpaired}: {counts} (follow.conflicting, " in changed.out


def test_comparison_names_changed_settings_and_impossible_numbers(swaymeter: Command, tmp_path: Path) -> None:
    prompts = [json.dumps({"system": system, "about": "x"}) for system in ("Be brief.", "Be [red]long.")]
    labels = ("tuned", None)
    first, second = (
        str(write_run(tmp_path / name, "c" * 6, closed_book=verdict, prompt=prompt, label=label))
        for name, verdict, prompt, label in zip("ab", ("original", "neither"), prompts, labels, strict=True)
    )
    result = swaymeter("compare", first, second)
    assert result.out.splitlines()[2:4] == [
        "setting: models: tuned (float32) → m (float32)",
        'setting: prompt.system: "Be brief." → "Be [red]long."',
    ]
    rejected = "A: tuned (float32) against B: m (float32): 6 of 6 in A not answered right without a context"
    assert f"not compared: {rejected} in B (context_bias.conflicting)" in result.out
    assert len(json.loads(swaymeter("compare", first, second, "--json").out)["settings"]) == 2
    assert "setting" not in swaymeter("compare", first, first).out


def test_prompts_are_forms_or_files(tmp_path: Path) -> None:
    file = tmp_path / "my prompt!.yaml"
    file.write_text('system: "Be brief."\n')
    assert audit.prompts_of(["strict", str(file)]) == {"strict": {"form": "strict"}, "my-prompt": {"file": str(file)}}
    for wrong, message in ((["stern"], "neither a file nor a form"), (["cite", "cite"], "has the same name, cite")):
        with pytest.raises(UsageError, match=message):
            audit.prompts_of(wrong)


def test_sets_and_orders_are_validated(tmp_path: Path) -> None:
    passages = {"sets": ["supporting"], "orders": ["rotations"], "form": "cited"}
    assert audit.passages_of(["supporting"], ["rotations"], "cited") == passages
    assert audit.passages_of([], [], "plain") is None
    wrong = ((["right"], [], "plain"), "--set: 'right' is not a set"), (([], ["best"], "plain"), "--order: ")
    for options, message in wrong:
        with pytest.raises(UsageError, match=message):
            audit.passages_of(*options)
