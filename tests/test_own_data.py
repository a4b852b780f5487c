"""docs/own-data.md and docs/audit.md: Swaymeter reads their files and examples."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data.sources.own.columns import COLUMNS, CONTEXT_COLUMNS
from swaymeter.data.sources.own.files import read_file
from swaymeter.data.sources.own.named_file import Origin
from swaymeter.data.sources.own.rows import FileQuestions, questions_of
from swaymeter.data.sources.own.source import OWN_QUESTIONS, OwnQuestions
from swaymeter.flows.config.study import read_study
from swaymeter.flows.config.thresholds import QUANTITIES, Threshold
from tests.flows.conftest import Command, swaymeter

__all__ = ["swaymeter"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TEXT = (DOCS / "own-data.md").read_text(encoding="utf-8")
AUDIT = (DOCS / "audit.md").read_text(encoding="utf-8")


def block(language: str, text: str = TEXT) -> str:
    """Return the first code block of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]


def read(file: Path) -> FileQuestions:
    return questions_of(read_file(file, "question"), Origin("here", "none"), {})


@pytest.mark.parametrize(("language", "ending", "cases"), [("csv", ".csv", [4, 2]), ("json", ".jsonl", [3])])
def test_csv_and_jsonl_examples_can_be_read(language: str, ending: str, cases: list[int], tmp_path: Path) -> None:
    (tmp_path / f"mine{ending}").write_text(block(language), encoding="utf-8")
    result = read(tmp_path / f"mine{ending}")
    assert not result.rejected
    assert [len(question.cases) for question in result.questions] == cases


def test_the_file_of_the_tutorial_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(block("csv", (DOCS / "tutorial.md").read_text("utf-8")), encoding="utf-8")
    result = read(tmp_path / "mine.csv")
    assert not result.rejected
    assert [case.condition for case in result.questions[0].cases] == ["none", "supporting", "conflicting", "irrelevant"]


def test_every_column_is_explained() -> None:
    table = re.findall(r"^\| column .*?\n\n", TEXT, re.MULTILINE | re.DOTALL)[0]
    explained = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.strip().splitlines())))
    assert explained == {*COLUMNS} - {"contexts"}
    assert {*CONTEXT_COLUMNS} <= explained


def test_examples_have_only_usable_lines() -> None:
    counts = {}
    for file in (DOCS / "own-questions.csv", ROOT / "flows" / "studies" / "own-questions.jsonl"):
        result = read(file)
        assert not result.rejected
        counts[file.name] = len(result.questions)
        kinds = {case.condition for question in result.questions for case in question.cases}
        assert {"supporting", "conflicting", "irrelevant"} <= kinds
    assert counts == {"own-questions.csv": 10, "own-questions.jsonl": 40}


def test_the_study_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "handbook.yaml").write_text(block("yaml"), encoding="utf-8")
    (tmp_path / "own-questions.csv").write_bytes((DOCS / "own-questions.csv").read_bytes())
    study = read_study(tmp_path / "handbook.yaml")
    assert isinstance(study.questions, OwnQuestions)
    assert OWN_QUESTIONS.fetch is not None
    access: Any = None
    fetched = OWN_QUESTIONS.fetch(study.questions, "own", access)
    assert len(fetched.questions) == 10
    assert {question.partition for question in fetched.questions} > {"Leave", "Travel"}


def test_the_page_of_audits_names_every_quantity() -> None:
    tables = re.findall(r"^\| name .*?\n\n", AUDIT, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(\w+)\.", "".join(tables))
    assert {*named} == {*QUANTITIES}
    for text in re.findall(r"--fail-(?:under|over) (\S+?=[\d.]+)", AUDIT):
        assert Threshold.parse(text, at_least=True).group in ("supporting", "conflicting")


def _workflow() -> tuple[dict[str, Any], str]:
    """Return the caching step and the audit command of the workflow."""
    steps = yaml.safe_load(block("yaml", AUDIT))["jobs"]["audit"]["steps"]
    (cache,) = (step for step in steps if step.get("uses", "").startswith("actions/cache@"))
    (command,) = (step["run"] for step in steps if "audit handbook" in step.get("run", ""))
    return cache, command


@pytest.mark.parametrize(
    ("model", "revision", "is_cached"),
    [
        ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "", True),
        ("large@https://api.example.org/v1", "", False),
        ("large@https://api.example.org/v1", "2026-11", True),
        ("app.py:reply", "", False),
        ("my_package.assistant:answer", "", False),
    ],
)
def test_the_workflow_caches_no_unversioned_answers(model: str, revision: str, is_cached: bool) -> None:
    cache, command = _workflow()
    condition = re.sub(r"contains\((.+?), (.+?)\)", r"(\2 in \1)", cache["if"].strip("${ }"))
    condition = re.sub(r"!(?!=)", " not ", condition).replace("||", "or").replace("env.", "")
    assert eval(condition, {"MODEL": model, "REVISION": revision}) is is_cached
    assert f"--workspace {cache['with']['path']} " in command
    assert '--model "$MODEL" --revision "$REVISION"' in command
    for key in ("key", "restore-keys"):
        assert "env.REVISION" in cache["with"][key]  # the cache of another revision is not restored


def test_the_audit_command_has_only_existing_options(swaymeter: Command) -> None:
    _, command = _workflow()
    options = set(re.findall(r"--[a-z-]+", command))
    help_text = swaymeter("audit", "--help").out
    assert all(option in help_text for option in options)
