"""The page of two runs: flipped replies come first, and nothing that it shows acts."""

import json
from pathlib import Path

from swaymeter.data.dataset.comparison import compare_items
from swaymeter.reports.comparison import NumberTable, write_two_runs
from tests.data.dataset.test_comparison import reply, snapshot
from tests.reports.hostile import HOSTILE, without_controls
from tests.reports.parsed import Parsed

TEXT = "\n".join(HOSTILE).replace("\x00", "")


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    about = {"model": TEXT, "condition": TEXT, "question": TEXT}
    runs = (
        snapshot([reply("q", **about, verdict=verdict, answer=TEXT)], settings={"seed": json.dumps(seed)})
        for verdict, seed in (("context", TEXT), ("both", "0"))
    )
    table = NumberTable(TEXT, ("quantity", "n", TEXT, TEXT, "difference [95%]", "verdict"), [(TEXT,) * 6], 1)
    write_two_runs(tmp_path / "page.html", compare_items(*runs), [table], [TEXT], (TEXT, TEXT), ("a/report", ""))
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Parsed(html)
    page.assert_self_contained()
    page.assert_inner_links_arrive()
    assert page.policy().keys() == {"default-src", "img-src", "style-src", "base-uri", "form-action"}
    assert without_controls(tmp_path)
    assert not {"script", "img"} & {tag for tag, _ in page.found}
    links = [attributes["href"] for tag, attributes in page.found if tag == "a"]
    assert [link.partition("#")[0] for link in links] == ["a/report/index.html", "a/report/answers.html"]
    assert html.index('id="flipped"') < html.index('id="differences"') < html.index('id="settings"')
