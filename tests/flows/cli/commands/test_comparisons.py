import io
import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import DatasetChanges, Snapshot
from swaymeter.data.escaping import visible
from swaymeter.data.records import Fact
from swaymeter.data.sources.dynamicqa.export import write_questions
from swaymeter.flows.cli.commands.comparisons import show_dataset_changes
from swaymeter.reports.changes import MAX_TEXT, comparison_json
from swaymeter.tasks.statistics.changes import compare_items, dataset_changes
from tests.data import dataset_samples
from tests.data.dataset_samples import (
    KENYA,
    NORWAY,
    PERU,
    changed,
    disputed,
    fact,
    iri,
    qec_content,
    question,
    store,
    workspace,
)
from tests.flows.conftest import Command

BERGEN = replace(NORWAY, object="Bergen", object_uri=iri("Bergen"), subject_degree=121)
FATHER = fact("Ada Lovelace", "Lord Byron", "father")
STATIC = question(partition="static", edits=1)
GULF = disputed()


@pytest.fixture
def march(tmp_path: Path) -> str:
    return str(workspace(tmp_path / "march", NORWAY, PERU, FATHER))


@pytest.fixture
def april(tmp_path: Path) -> str:
    return str(workspace(tmp_path / "april", BERGEN, KENYA, FATHER))


def dataset(*facts: Fact) -> Dataset:
    return Dataset(Path("somewhere"), facts)


def printed(changes: DatasetChanges, limit: int = 20) -> str:
    """Return the text on a terminal of 100 columns."""
    screen = Console(file=io.StringIO(), width=100)
    show_dataset_changes(screen, changes, limit=limit)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def counts_of(text: str, relation: str) -> list[str]:
    """Return the counts of a relation in the table: added, gone, changed, same."""
    (line,) = [line for line in text.splitlines() if re.match(rf"│ {relation} +│", line)]
    return [cell.strip() for cell in line.strip("│").split("│")][1:]


def test_equal_facts_end_with_0(swaymeter: Command, march: str, tmp_path: Path) -> None:
    later = [replace(fact, retrieved_at="2026-04-01T12:00:00+00:00") for fact in (FATHER, PERU, NORWAY)]
    result = swaymeter("diff", march, str(workspace(tmp_path / "again", *later)))
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("A and B are the same.\n")


def test_changed_facts_end_with_1_and_are_listed(swaymeter: Command, march: str, april: str) -> None:
    result = swaymeter("diff", march, april)
    assert (result.code, result.err) == (1, "")
    counts = [counts_of(result.out, relation) for relation in ("capital", "father", "all")]
    assert counts == [["1", "1", "1", "0"], ["0", "0", "0", "1"], ["1", "1", "1", "1"]]
    assert result.out.endswith(
        "\ncapital\n  - Peru → Lima\n  + Kenya → Nairobi\n"
        f"  ~ Norway: object Oslo → Bergen; object's IRI {iri('Oslo')} → {iri('Bergen')}; degree 120 → 121\n"
    )
    versions = [Dataset.of(path).version for path in (march, april)]
    description = "3 facts of 2 relations from YAGO, fetched 2026-03-01T12:00:00+00:00"
    assert result.out.splitlines()[:4] == [
        f"A  {march}",
        f"   version {versions[0]}: {description}",
        f"B  {april}",
        f"   version {versions[1]}: {description}",
    ]
    assert versions[0] != versions[1]
    limited = swaymeter("diff", march, april, "--limit", "1").out
    assert limited.endswith("\ncapital\n  - Peru → Lima\n  … and 2 more; --limit 3 shows them, --json everything\n")
    assert "… and" not in swaymeter("diff", march, april, "--limit", "3").out
    counts_only = swaymeter("diff", march, april, "--limit", "0").out
    assert not re.search(r"Peru|… and|^capital", counts_only, re.MULTILINE)
    assert counts_of(counts_only, "capital") == counts[0]


def test_workspace_and_published_file_can_be_compared(swaymeter: Command, march: str, tmp_path: Path) -> None:
    result = swaymeter("diff", march, str(dataset_samples.qec_file(tmp_path, qec_content())))
    assert result.code == 1
    assert (
        "not compared, because only one dataset has the field: object's degree, object's degree in the relation"
        in result.out
    )
    assert counts_of(result.out, "capital") == ["1", "1", "1", "0"]
    assert "~ Norway: degree 120 → 900" in result.out
    assert "+ South Africa → Pretoria" in result.out
    assert "from yago_qec.json of measureLM\n" in result.out


def test_ignored_files_and_keys_cause_warnings(swaymeter: Command, march: str, tmp_path: Path) -> None:
    store(Path(march), NORWAY, seed=1)
    file = dataset_samples.qec_file(tmp_path, qec_content() | {"[bold]\x1b[31m": {}})
    result = swaymeter("diff", march, str(file), "--json")
    assert "capital has 2 files of facts; only the newest is read" in result.err
    assert r"keys left out, because the catalog has no relation for them: '[bold]\x1b[31m'" in result.err
    assert result.err.count("warning  ") == 2
    assert json.loads(result.out)["a"]["warnings"]


def test_json_has_every_change(swaymeter: Command, march: str, april: str) -> None:
    result = swaymeter("diff", march, april, "--json", "--limit", "0")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["differs"] is True
    assert document["a"] == {
        "path": march,
        "version": Dataset.of(march).version,
        "facts": 3,
        "questions": 0,
        "sources": ["YAGO"],
        "retrieved": ["2026-03-01T12:00:00+00:00"] * 2,
        "warnings": [],
    }
    assert document["facts"]["not_compared"] == []
    capital = document["facts"]["relations"]["capital"]
    assert capital["same"] == 0
    assert [(row["subject"], row["object"]) for row in capital["gone"]] == [("Peru", "Lima")]
    assert [(row["subject"], row["query"]) for row in capital["added"]] == [("Kenya", "SELECT ?s ?o ?k")]
    assert capital["changed"] == [
        {
            "subject": "Norway",
            "subject_uri": iri("Norway"),
            "changes": [
                {"field": "object", "from": "Oslo", "to": "Bergen"},
                {"field": "object_uri", "from": iri("Oslo"), "to": iri("Bergen")},
                {"field": "subject_degree", "from": 120, "to": 121},
            ],
        }
    ]
    assert document["facts"]["relations"]["father"] == {"added": [], "gone": [], "changed": [], "same": 1}


def test_a_missing_or_damaged_dataset_ends_with_2(swaymeter: Command, march: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for paths in ((missing, march), (march, missing)):
        result = swaymeter("diff", *paths)
        assert (result.code, result.error.startswith(f"{missing} does not exist; name a workspace")) == (2, True)
    for path in (Path(march) / "facts").iterdir():
        path.write_bytes(b"PAR1")
    result = swaymeter("diff", march, march)
    assert (result.code, "parquet holds other bytes" in result.error) == (2, True)


def test_a_name_cannot_control_the_terminal() -> None:
    hostile = "[bold red]Oslo[/]\x1b[2J\u202e\u2066\u200b\x9b1m\n\r\t\x07\u2028\U000e0041"
    changes = dataset_changes(
        dataset(NORWAY), dataset(replace(NORWAY, object=hostile, other_objects=(hostile,)), fact(hostile, "x"))
    )
    text = printed(changes)
    assert r"[bold red]Oslo[/]\x1b[2J\u202e\u2066\u200b\x9b1m\n\r\t\x07\u2028\U000e0041" in text
    assert {character for character in text if unicodedata.category(character)[0] == "C"} == {"\n"}
    assert comparison_json(compare_items(Snapshot(changes.old), Snapshot(changes.new), ())).isascii()


def test_other_scripts_stay_readable() -> None:
    for name in ("جمهورية كينيا", "Côte d'Ivoire", "日本", "🇳🇴", "São Tomé & Príncipe", 'the "Isle"'):
        assert visible(name) == name
    assert visible("\ud800") == r"\ud800"
    assert visible("New\u00a0York") == r"New\xa0York"


BERGEN_TOO, VARDO_TOO = (replace(NORWAY, other_objects=("Tromsø", name)) for name in ("Bergen", "Vardø"))
OLD_QUESTION, NEW_QUESTION = (
    changed(STATIC, original_context="x" * 500 + f"Oslo is {word}" + "y" * 9) for word in ("old", "new")
)

SHARED_X = "x" * 32
"""With "Oslo is ", the 40 characters that are shown before the first difference."""


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ([NORWAY], [replace(NORWAY, object="O" * 5000)], f"object Oslo → {'O' * MAX_TEXT}… (5000 characters)\n"),
        ([BERGEN_TOO], [VARDO_TOO], "~ Norway: further objects - Bergen, + Vardø\n"),
        ([NORWAY, KENYA], [replace(NORWAY, object_uri=None), KENYA], f"object's IRI {iri('Oslo')} → none\n"),
        # A fact of which only the degree changed comes last, after facts with other changes.
        ([KENYA, PERU], [replace(KENYA, subject_degree=9), replace(PERU, object="Cusco")], "~ Kenya: degree 120 → 9\n"),
        (
            [NORWAY],
            [replace(NORWAY, source="another")],
            "No fact differs. The versions differ, because sources or fields that were not compared differ.\n",
        ),
        (
            [OLD_QUESTION],
            [NEW_QUESTION],
            f"context …{SHARED_X}Oslo is oldyyyyyyyyy → …{SHARED_X}Oslo is newyyyyyyyyy\n",
        ),
    ],
)
def test_the_last_line_shows_the_change(before: list[Any], after: list[Any], line: str) -> None:
    are_questions = before == [OLD_QUESTION]
    sides = (Dataset(Path("a"), (), (), tuple(rows)) if are_questions else dataset(*rows) for rows in (before, after))
    assert printed(dataset_changes(*sides)).endswith(line)


def test_questions_are_listed_beside_facts(swaymeter: Command, march: str, tmp_path: Path) -> None:
    store(Path(march), STATIC, part="capital")
    store(Path(march), GULF, part="Persian Gulf")
    april = workspace(tmp_path / "april", NORWAY, PERU, FATHER)
    moved = replace(STATIC, partition="temporal", edits=2, subject_popularity=9.5)
    store(april, moved, replace(STATIC, subject="Peru", subject_id="Q419"), part="capital")
    result = swaymeter("diff", march, str(april))
    assert result.code == 1
    assert "3 facts of 2 relations and 2 questions of 2 relations from Wikidata, YAGO, fetched" in result.out
    fact_row, question_row = [line for line in result.out.splitlines() if re.match("│ capital +│", line)]
    assert [cell.strip() for cell in fact_row.split("│")[2:-1]] == ["0", "0", "0", "2"]
    assert [cell.strip() for cell in question_row.split("│")[2:-1]] == ["1", "0", "1", "0"]
    assert result.out.endswith(
        "\ncapital\n  + Peru → Oslo (static)\n"
        "  ~ Norway: partition static → temporal; edits 1 → 2; page views 1500.5 → 9.5\n"
        "\ndisputable\n  - Persian Gulf → Iran (disputable)\n"
    )


def test_workspace_and_published_questions_can_be_compared(swaymeter: Command, tmp_path: Path) -> None:
    store(tmp_path / "build", STATIC, part="capital")
    store(tmp_path / "build", GULF, part="Persian Gulf")
    write_questions(tmp_path / "published", [replace(STATIC, subject_popularity=2.0), replace(GULF, edits=7)])
    result = swaymeter("diff", str(tmp_path / "published"), str(tmp_path / "build"))
    assert result.code == 1
    line = "not compared, because only one dataset has the field: counter-memory answer's Wikidata id, hidden edits"
    assert line in result.out
    assert "  ~ Norway: page views 2.0 → 1500.5\n" in result.out
    assert "  ~ Persian Gulf (Iran): edits 7 → 3\n" in result.out


def test_json_lists_questions_and_facts_separately(swaymeter: Command, march: str, tmp_path: Path) -> None:
    store(tmp_path / "b", STATIC, part="capital")
    store(Path(march), replace(STATIC, edits=4), part="capital")
    document = json.loads(swaymeter("diff", march, str(tmp_path / "b"), "--json").out)
    assert [(document[side]["facts"], document[side]["questions"]) for side in "ab"] == [(3, 1), (0, 1)]
    assert document["questions"]["not_compared"] == []
    assert document["questions"]["relations"]["capital"] == {
        "added": [],
        "gone": [],
        "same": 0,
        "changed": [
            {
                "subject": "Norway",
                "subject_id": "Q20",
                "property_id": "P36",
                "page": None,
                "object": "Oslo",
                "partition": "static",
                "changes": [{"field": "edits", "from": 4, "to": 1}],
            }
        ],
    }
