"""The page of two runs: what changed sides comes first, and nothing that it shows acts."""

from pathlib import Path

import pandas as pd

from swaymeter.reports.history.side_by_side import Differences, changed_sides, write_side_by_side
from tests.reports.hostile import HOSTILE, without_controls
from tests.reports.parsed import Parsed

TEXT = "\n".join(HOSTILE).replace("\x00", "")


def answers(*verdicts: str | None, model: str = "m", answer: str = "Lima") -> pd.DataFrame:
    return pd.DataFrame(
        {"model": model, "dtype": "float32", "question_id": f"q{at}", "question": f"Which {at}? {TEXT}",
         "context_id": f"texts {at}", "condition": "conflicting", "answer": answer, "verdict": verdict}
        for at, verdict in enumerate(verdicts)
    )  # fmt: skip


def test_answers_to_the_same_texts_change_sides() -> None:
    before, now = answers("context", "original", None, "context"), answers("original", "original", "context")
    (flip,) = changed_sides(before, now)
    assert (flip.verdict_before, flip.verdict) == ("context", "original")
    assert flip.question_id == "q0"
    assert len(changed_sides(before, pd.concat([now, answers("both", model="n")]))) == 1  # m is compared with itself
    assert len(changed_sides(before, answers("both", model="n"))) == 1
    assert changed_sides(before, now.assign(context_id="other")) == []


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    flips = changed_sides(answers("context", model=TEXT, answer=TEXT), answers("both", model=TEXT, answer=""))
    table = Differences(TEXT, ("quantity", "n", TEXT, TEXT, "difference [95%]", "verdict"), [(TEXT,) * 6], 1)
    apart = [(TEXT, TEXT, TEXT)]
    write_side_by_side(tmp_path / "page.html", (TEXT, TEXT), ("a/report", ""), flips, [table], apart, [TEXT], "note")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Parsed(html)
    page.assert_self_contained()
    page.assert_inner_links_arrive()
    assert page.policy().keys() == {"default-src", "img-src", "style-src", "base-uri", "form-action"}
    assert without_controls(tmp_path)
    assert not {"script", "img"} & {tag for tag, _ in page.found}
    links = [attributes["href"] for tag, attributes in page.found if tag == "a"]
    assert [link.partition("#")[0] for link in links] == ["a/report/index.html", "a/report/answers.html"]
    assert html.index('id="sides"') < html.index('id="differences"') < html.index('id="apart"')
