import re
from pathlib import Path

import pytest

from swaymeter.data.records.judgements import CHOICES
from swaymeter.flows.stages.contents import Contents
from tests.flows.conftest import Command
from tests.flows.datasets.annotation_sheets import discard_questions, fill, values_of_choices
from tests.flows.small_study import load_study, prepare

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(load_study(tmp_path)).contents


@pytest.fixture
def study(contents: Contents, tmp_path: Path) -> str:
    return str(tmp_path / "study.yaml")


def test_export_and_status_print_counts(swaymeter: Command, study: str, contents: Contents, tmp_path: Path) -> None:
    sheet, questions = str(tmp_path / "ada.xlsx"), contents.candidates("static")
    count = len(questions)
    result = swaymeter("annotate", "export", study, sheet, "--annotator", "ada")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{sheet}: questions for ada: {count}; ")
    fill(Path(sheet), values_of_choices(questions, "accept", "aksept"))
    load_study(tmp_path, judgements=[sheet])
    result = swaymeter("annotate", "status", study)
    assert result.code == 0
    # row 7 has the choice of the second question, after five fields of the first question
    assert "warning  judgements that do not count: ada.xlsx, row 7: 'aksept' is not a choice" in result.err
    assert "Krippendorff's alpha: none, because no two annotators" in result.out
    assert re.search(rf"ada .* 1/{count}", result.out)
    assert f"outcome: 0 accepted, {count} not_annotated" in result.out


def test_missing_questions_cause_warnings(swaymeter: Command, tmp_path: Path) -> None:
    questions = {"partitions": ["static", "disputable"], "per_partition": 2}
    discard_questions(prepare(load_study(tmp_path, questions=questions)), "disputable")
    study = str(tmp_path / "study.yaml")
    for command in (("export", study, str(tmp_path / "ada.csv"), "--annotator", "ada"), ("status", study)):
        result = swaymeter("annotate", *command)
        assert (result.code, "questions are missing: partition disputable: " in result.err) == (0, True)


def test_unusable_files_and_options_end_with_2(swaymeter: Command, study: str, tmp_path: Path) -> None:
    (tmp_path / "ada.csv").write_text("a day's work")
    result = swaymeter("annotate", "export", study, str(tmp_path / "ada.csv"), "--annotator", "ada")
    assert (result.code, (tmp_path / "ada.csv").read_text()) == (2, "a day's work")
    assert "exists already" in result.error
    assert swaymeter("annotate", "export", study, str(tmp_path / "a.ods"), "--annotator", "ada").code == 2
    assert swaymeter("annotate", "export", study, str(tmp_path / "b.csv")).code == 2


def test_the_guide_explains_each_choice() -> None:
    guide = " ".join((DOCS / "judgements.md").read_text(encoding="utf-8").split())
    for choice in CHOICES:
        assert f"| `{choice}` | " in guide
    for text in ("swaymeter annotate export", "swaymeter annotate status", "annotated: true"):
        assert text in guide
    assert "annotated: false" in (DOCS / "questions.md").read_text(encoding="utf-8")
