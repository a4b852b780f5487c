import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from swaymeter.flows.api import StatusRow
from swaymeter.flows.cli.views.status import as_json, is_broken, show

LONG_REASON = "the source does not answer " * 12
ROWS = [
    StatusRow("capital", "", "", "fetch", "done", rejected={"no name": 3}),
    StatusRow("father", "", "", "fetch", "failed", LONG_REASON),
    StatusRow("capital", "tiny/float32", "persuasion", "score", "done"),
    *(
        StatusRow("father", "tiny/float32", f"m{number}", "score", "blocked", "by fetch · father")
        for number in range(5)
    ),
    StatusRow("capital", "tiny/[bold]", "fisher", "score", "damaged", "fisher.parquet cannot be read"),
]
FOLDER = Path("workspaces/small")


def printed(rows: list[StatusRow], width: int, *, everything: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width)
    show(console, rows, FOLDER, everything=everything)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_reason_is_printed_once_in_full(width: int) -> None:
    text = printed(ROWS, width)
    assert text.count(f"failed  fetch · father: {LONG_REASON}\n") == 1
    first = ", ".join(f"score · tiny/float32 · father · m{number}" for number in range(3))
    assert text.count(f"blocked  {first} and 2 more: by fetch · father\n") == 1
    assert "damaged  score · tiny/[bold] · capital · fisher: fisher.parquet cannot be read\n" in text
    assert text.endswith("2 done, 0 missing, 5 blocked, 1 failed, 1 damaged in workspaces/small\n")


def test_stages_and_unfinished_relations_have_a_line_each() -> None:
    lines = [" ".join(line.split()) for line in printed(ROWS, 200).splitlines()]
    assert lines[:5] == [
        "fetch 1 of 2 done, 1 failed capital, father",
        "0 of 1 done, 1 failed father",
        "score 1 of 7 done, 5 blocked, 1 damaged capital, father",
        "1 of 2 done, 1 damaged capital",
        "0 of 5 done, 5 blocked father",
    ]
    done = [StatusRow(f"relation {number}", "m", "fisher", "score", "done") for number in range(9)]
    first, last = printed(done, 80).splitlines()
    assert first.split("  ")[:3] == ["score", "9 of 9 done", "9 relations"]
    assert last.startswith("9 done,")


def test_unfinished_steps_of_the_study_are_named() -> None:
    rows = [
        StatusRow("study", "", product, "report", state) for product, state in (("page", "done"), ("sheet", "missing"))
    ]
    assert printed(rows, 80).splitlines()[1].split() == ["1", "of", "2", "done,", "1", "missing", "sheet"]


def test_all_shows_every_step_in_full() -> None:
    stages = [line.split("│")[4].strip() for line in printed(ROWS, 200, everything=True).splitlines() if line[0] == "│"]
    assert stages == [row.stage for row in ROWS]
    rows = [StatusRow("capital", "model" * 20, "persuasion", "score", "done")]
    table = printed(rows, width=50, everything=True).split("└")[0]
    assert "".join(line.split("│")[2].strip() for line in table.splitlines() if "│" in line) == "model" * 20


def test_json_has_every_row_and_the_counts() -> None:
    document = json.loads(as_json(ROWS, FOLDER))
    assert [StatusRow(**row) for row in document["rows"]] == ROWS
    assert document["counts"] == {"done": 2, "missing": 0, "blocked": 5, "failed": 1, "damaged": 1}
    assert document["workspace"] == str(FOLDER)
    assert [is_broken([row]) for row in ROWS] == [row.state in ("failed", "damaged") for row in ROWS]


def test_rejected_candidates_are_summed_over_relations() -> None:
    rows = [*ROWS, StatusRow("birthPlace", "", "", "fetch", "done", rejected={"no name": 1, "no answer": 2})]
    line = "rejected candidates of facts: no name (4), no answer (2); --json has them by relation\n"
    assert line in printed(rows, 80)
