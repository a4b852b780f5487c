import re
from pathlib import Path

import pytest

from swaymeter.flows.stages.contents import Contents
from swaymeter.tasks.contexts.annotation import cells
from swaymeter.tasks.contexts.annotation.sheet import MEANINGS
from tests.flows.conftest import Command
from tests.flows.datasets.annotating import choosing, fill, questions_of, without
from tests.flows.small_study import prepare, selected

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(selected(tmp_path)).contents


@pytest.fixture
def study(contents: Contents, tmp_path: Path) -> str:
    return str(tmp_path / "study.yaml")


def test_export_import_and_status_print_counts(
    swaymeter: Command, study: str, contents: Contents, tmp_path: Path
) -> None:
    sheet = str(tmp_path / "ada.xlsx")
    count = len(questions_of(contents))
    ended = swaymeter("annotate", "export", study, sheet, "--annotator", "ada")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"{sheet}: {count} questions for ada")
    fill(Path(sheet), choosing(contents, "accept") | {questions_of(contents)[1].question: {"note": "later"}})
    ended = swaymeter("annotate", "import", study, sheet, "--annotator", "ada")
    assert (ended.code, ended.out) == (0, f"{sheet}: 1 new, 0 revised, 0 known already\n")
    assert ended.err == "warning  rows with a note and no choice yet, not imported: 3\n"
    ended = swaymeter("annotate", "status", study)
    assert ended.code == 0
    assert "Krippendorff's alpha: no question has been judged by two annotators" in ended.out
    assert re.search(rf"ada .* 1/{count}", ended.out)
    assert f"outcome: 0 accepted, {count} not_annotated" in ended.out


def test_missing_and_long_questions_are_warnings(
    swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = {"partitions": ["static", "disputable"], "per_partition": 2}
    contents = without(prepare(selected(tmp_path, questions=questions)), "disputable").contents
    study, sheet = str(tmp_path / "study.yaml"), str(tmp_path / "ada.csv")
    with monkeypatch.context() as smaller:
        longest = max(len(one.original_context) for one in questions_of(contents))
        smaller.setattr(cells, "LARGEST_CELL", longest - 1)
        ended = swaymeter("annotate", "export", study, sheet, "--annotator", "ada")
    assert ended.code == 0
    assert "warning  not all questions are there: partition disputable: " in ended.err
    assert "warning  questions with a text that no cell holds, not in the sheet: " in ended.err
    for command in (("import", study, sheet, "--annotator", "ada"), ("status", study)):
        ended = swaymeter("annotate", *command)
        assert (ended.code, "partition disputable: " in ended.err) == (0, True)


def test_refused_files_and_options_have_exit_codes(swaymeter: Command, study: str, tmp_path: Path) -> None:
    (tmp_path / "ada.csv").write_text("a day's work")
    ended = swaymeter("annotate", "export", study, str(tmp_path / "ada.csv"), "--annotator", "ada")
    assert (ended.code, (tmp_path / "ada.csv").read_text()) == (2, "a day's work")
    assert "exists already" in ended.error
    assert swaymeter("annotate", "export", study, str(tmp_path / "a.ods"), "--annotator", "ada").code == 2
    assert swaymeter("annotate", "export", study, str(tmp_path / "b.csv")).code == 2
    assert swaymeter("annotate", "import", study, str(tmp_path / "missing.csv"), "--annotator", "ada").code == 1


def test_the_guide_explains_each_choice_as_the_sheet_does() -> None:
    guide = " ".join((DOCS / "annotation.md").read_text(encoding="utf-8").split())
    for choice, meaning in MEANINGS.items():
        assert f"| `{choice}` | {meaning} |" in guide
    for name in ("export", "import", "status"):
        assert f"swaymeter annotate {name}" in guide
    for text in ("annotated: true", "swaymeter run STUDY.yaml"):
        assert text in guide
    assert "annotated: false" in (DOCS / "questions.md").read_text(encoding="utf-8")
