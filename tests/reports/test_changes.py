"""The page of two runs: flipped replies come first, and hostile texts stay text."""

import json
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.dataset.snapshot import as_state
from swaymeter.reports.changes import NumberTable, section, write_two_runs
from swaymeter.tasks.statistics.changes import changes_of_run, compare_items
from tests.data.dataset.test_snapshot import reply, snapshot
from tests.reports.hostile import HOSTILE, assert_harmless
from tests.reports.page_parser import PageParser

TEXT = "\n".join(HOSTILE).replace("\x00", "")


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    columns = {"model": TEXT, "condition": TEXT, "question": TEXT}
    before, after = (
        snapshot([reply("q", **columns, verdict=verdict, answer=TEXT)], settings={"seed": json.dumps(seed)})
        for verdict, seed in (("context", TEXT), ("both", "0"))
    )
    table = NumberTable(TEXT, ("quantity", "n", TEXT, TEXT, "difference [95%]", "direction"), [(TEXT,) * 6], 1)
    compared = compare_items(before, after, [(before.models[0], after.models[0])])
    write_two_runs(tmp_path / "page.html", compared, [table], [TEXT], (TEXT, TEXT), ("a/report", ""))
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = PageParser(html)
    page.assert_self_contained()
    assert page.policy().keys() == {"default-src", "img-src", "style-src", "base-uri", "form-action"}
    assert_harmless(tmp_path)
    assert not {"script", "img"} & {tag for tag, _ in page.elements}
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert [link.partition("#")[0] for link in links] == ["a/report/index.html", "a/report/answers.html"]
    assert html.index('id="flipped"') < html.index('id="differences"') < html.index('id="settings"')


@pytest.mark.parametrize(("other_models", "flips"), [((), 1), (("c",), 0)])
def test_a_replaced_model_is_compared_only_if_alone(other_models: tuple[str, ...], flips: int) -> None:
    first, second = (
        {**snapshot([reply("q", name, verdict=verdict)]).items(), ("run", "", "", ""): as_state({"run": run})}
        for run, name, verdict in ((1, "a", "context"), (2, "b", "both"))
    )
    columns = ["kind", "model", "dtype", "item"]
    keys = sorted({*first, *second})
    changes = pd.DataFrame(keys, columns=columns).assign(
        state_before=[first.get(key) for key in keys], state=[second.get(key) for key in keys]
    )
    numbers = pd.DataFrame(
        [
            {"run": run, "model": name, "dtype": "float32", "change": None}
            for run, replaced in ((1, "a"), (2, "b"))
            for name in (replaced, *other_models)
        ]
    )
    run = changes_of_run(changes, numbers)
    assert run is not None
    assert len(run.comparison.flips) == flips


def test_a_setting_that_appears_is_a_change() -> None:
    runs = [{"run": json.dumps({"run": number})} for number in (1, 2)]
    rows = pd.DataFrame(
        [
            ("run", "", "", "", runs[0]["run"], runs[1]["run"]),
            ("setting", "", "", "version of measure persuasion", None, '"2"'),
            ("setting", "", "", "seed", '"0"', None),
        ],
        columns=["kind", "model", "dtype", "item", "state_before", "state"],
    )
    changes = changes_of_run(rows, pd.DataFrame(columns=["run", "model", "dtype", "change"]))
    assert changes is not None
    assert [tuple(change) for change in changes.comparison.settings] == [
        ("seed", '"0"', None),
        ("version of measure persuasion", None, '"2"'),
    ]


def test_runs_without_a_common_item_have_no_section() -> None:
    items = [
        {
            **snapshot([reply("q", name)], settings={"model": json.dumps(name)}).items(),
            ("run", "", "", ""): as_state({"run": run}),
        }
        for run, name in ((1, "a"), (2, "b"))
    ]
    keys = sorted({*items[0], *items[1]})
    changes = pd.DataFrame(keys, columns=["kind", "model", "dtype", "item"]).assign(
        state_before=[items[0].get(key) for key in keys], state=[items[1].get(key) for key in keys]
    )
    run = changes_of_run(changes, pd.DataFrame(columns=["run", "model", "dtype", "change"]))
    assert run is not None
    assert run.comparison.differs
    assert section(run) == ""
