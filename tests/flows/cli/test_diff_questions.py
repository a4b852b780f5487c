import io
import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from data.dataset.dataset import Dataset
from data.dataset.differences import Difference, difference
from data.sources.dynamicqa.export import write_questions
from flows.cli import diff
from tests.data.a_dataset import NORWAY, PERU, disputed, fact, keep_questions, question, workspace
from tests.flows.conftest import Command

FATHER = fact("Ada Lovelace", "Lord Byron", "father")
STATIC = question(partition="static", edits=1)
GULF = disputed()


@pytest.fixture
def march(tmp_path: Path) -> str:
    return str(workspace(tmp_path / "march", NORWAY, PERU, FATHER))


def on_screen(found: Difference) -> str:
    """What a terminal of 100 columns gets."""
    screen = Console(file=io.StringIO(), width=100)
    diff.show(screen, found, limit=20)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_questions_are_listed_beside_facts(swaymeter: Command, march: str, tmp_path: Path) -> None:
    keep_questions(Path(march), "capital", STATIC)
    keep_questions(Path(march), "Persian Gulf", GULF)
    april = workspace(tmp_path / "april", NORWAY, PERU, FATHER)
    turned = replace(STATIC, partition="temporal", edits=2, subject_popularity=9.5)
    keep_questions(april, "capital", turned, replace(STATIC, subject="Peru", subject_id="Q419"))
    ended = swaymeter("diff", march, str(april))
    assert ended.code == 1
    assert "3 facts of 2 relations and 2 questions of 2 relations from Wikidata, YAGO, fetched" in ended.out
    capital, questions = [line for line in ended.out.splitlines() if re.match("│ capital +│", line)]
    assert [cell.strip() for cell in capital.split("│")[2:-1]] == ["0", "0", "0", "2"]
    assert [cell.strip() for cell in questions.split("│")[2:-1]] == ["1", "0", "1", "0"]
    assert ended.out.endswith(
        "\ncapital\n  + Peru → Oslo (static)\n"
        "  ~ Norway: partition static → temporal; edits 1 → 2; page views 1500.5 → 9.5\n"
        "\ndisputable\n  - Persian Gulf → Iran (disputable)\n"
    )


def test_a_build_and_the_published_files_can_be_compared(swaymeter: Command, tmp_path: Path) -> None:
    keep_questions(tmp_path / "build", "capital", STATIC)
    keep_questions(tmp_path / "build", "Persian Gulf", GULF)
    write_questions(tmp_path / "published", [replace(STATIC, subject_popularity=2.0), replace(GULF, edits=7)])
    ended = swaymeter("diff", str(tmp_path / "published"), str(tmp_path / "build"))
    assert ended.code == 1
    line = "not compared, since only one of them has it: counter-memory answer's Wikidata id, hidden edits"
    assert line in ended.out
    assert "  ~ Norway: page views 2.0 → 1500.5\n" in ended.out
    assert "  ~ Persian Gulf (Iran): edits 7 → 3\n" in ended.out


def test_json_has_questions_apart(swaymeter: Command, march: str, tmp_path: Path) -> None:
    keep_questions(tmp_path / "b", "capital", STATIC)
    keep_questions(Path(march), "capital", replace(STATIC, edits=4))
    document = json.loads(swaymeter("diff", march, str(tmp_path / "b"), "--json").out)
    assert [(document[side]["facts"], document[side]["questions"]) for side in "ab"] == [(3, 1), (0, 1)]
    assert document["questions"]["not_compared"] == []
    assert document["questions"]["relations"]["capital"] == {"added": [], "gone": [], "same": 0, "changed": [{
        "subject": "Norway", "subject_id": "Q20", "property_id": "P36", "page": None, "object": "Oslo",
        "partition": "static", "changes": [{"field": "edits", "from": 4, "to": 1}],
    }]}  # fmt: skip


def test_versions_that_differ_without_questions_are_explained(swaymeter: Command, tmp_path: Path) -> None:
    keep_questions(tmp_path / "a", "capital", STATIC)
    keep_questions(tmp_path / "b", "capital", replace(STATIC, source="another"))
    ended = swaymeter("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert ended.code == 0
    assert ended.out.endswith(
        "No question differs; the versions do, since they count sources and what was not compared.\n"
    )


def test_changes_of_page_views_alone_come_last() -> None:
    kenya = replace(STATIC, subject="Kenya", subject_id=None)
    old = Dataset(Path("a"), (), (), (kenya, replace(STATIC, subject_id=None)))
    read, moved = replace(kenya, subject_popularity=1.0), replace(STATIC, subject_id=None, edits=9)
    text = on_screen(difference(old, replace(old, questions=(read, moved))))
    assert text.index("~ Norway") < text.index("~ Kenya: page views 1500.5 → 1.0")


def test_long_contexts_are_shown_where_they_differ() -> None:
    before, after = (
        replace(STATIC, original_context="x" * 500 + f"Oslo is {word}" + "y" * 9) for word in ("old", "new")
    )
    text = on_screen(difference(Dataset(Path("a"), (), (), (before,)), Dataset(Path("b"), (), (), (after,))))
    assert f"context …{'x' * 32}Oslo is oldyyyyyyyyy → …{'x' * 32}Oslo is newyyyyyyyyy\n" in text


def test_a_question_cannot_control_the_terminal() -> None:
    hostile = "Oslo\x1b[2J\u202e\u200b\n\r"
    new = replace(STATIC, subject_id=None, subject=hostile, object=hostile, original_context=hostile, page=hostile)
    old, then = (Dataset(Path("a"), (), (), (one,)) for one in (replace(new, question=hostile, object="Oslo"), new))
    text = on_screen(difference(old, then)) + on_screen(difference(Dataset(Path("a"), (NORWAY,)), then))
    assert {sign for sign in text if unicodedata.category(sign)[0] == "C"} == {"\n"}
    assert diff.as_json(difference(old, then)).isascii()
