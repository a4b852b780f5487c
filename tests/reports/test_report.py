"""The folder of a report, and its page."""

import dataclasses
import itertools
import json
import math
import os
import re
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import swaymeter.reports.report as reporting
from swaymeter.data.digests import digest_of_large
from swaymeter.data.errors import InputError, WorkspaceError
from swaymeter.data.records.findings import Findings, GateCheck
from swaymeter.data.records.statistics import SHARE
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.reports.figures import FIGURES, rendering
from swaymeter.reports.figures.figure import Figure
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.findings import findings
from swaymeter.reports.frames import LazyFrames, as_published, with_empty
from swaymeter.reports.models import file_slug
from swaymeter.reports.page import MAX_LINES, MAX_ROWS, OPEN_CAVEATS, cell, example, heading, in_common, linked, page
from swaymeter.reports.report import write_report
from swaymeter.reports.tables import TABLES, FilledTable, Table, filled
from swaymeter.tasks.measures import MEASURES
from tests.extensions import measure
from tests.registries import added
from tests.reports.hostile import HOSTILE, assert_harmless, hostile_card
from tests.reports.page_parser import PageParser
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL, frames, tables

DRAWN_FIGURES = len(FIGURES) - 4
"""Number of figures on the report's page. Four others need several runs, two models or the measure of precision."""


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """Return every frame of a study of one relation. No test changes the frames in place."""
    return frames(tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=6))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the drawing of figures, which takes time, by a fake."""
    pictures = lambda figure, limits: Pictures("<svg/>", b"<svg/>", figure.name.encode())  # noqa: E731
    monkeypatch.setattr(reporting, "rendered", pictures)
    monkeypatch.setattr(reporting, "with_limits", lambda figures: [(figure, []) for figure in figures])


def test_figures_have_files_and_links_have_targets(report: Path, html: str) -> None:
    files = {path.name for path in (report / "figures").iterdir()}
    names = {Path(name).stem for name in files}
    assert len(names) == DRAWN_FIGURES
    assert files == {f"{name}.{kind}" for name in names for kind in ("png", "svg", "csv")}
    links = {part.split('"')[0] for part in html.split('href="')[1:]}
    assert {f"figures/{name}" for name in files} <= links
    assert all((report / link).is_file() for link in links if link.startswith(("figures/", "tables/")))
    assert len(html.encode()) < 2_100_000


def test_csv_cells_are_no_formulas(tmp_path: Path) -> None:
    reporting.write_csv(tmp_path / "rows.csv", pd.DataFrame({"=1+1": ["=2+2", "plain"], "n": [1, 2]}))
    assert (tmp_path / "rows.csv").read_text() == "'=1+1,n\n'=2+2,1\nplain,2\n"


def test_csv_has_all_digits_of_the_frame(report: Path, study_frames: dict[str, pd.DataFrame]) -> None:
    stored = pd.read_csv(report / "figures" / f"relevance-of-persuasion-{MODEL}-float32.csv")
    keys = ["relation", "query_type"]
    expected = as_published(study_frames["statistics"].query("comparison == 'relevance'")).sort_values(keys)
    stored = stored.sort_values(keys)
    for column in ("mean_a", "mean_b", "p", "p_adjusted", "effect_size"):
        assert list(stored[column]) == list(expected[column])


def test_the_manifest_has_the_key_and_every_file(report: Path) -> None:
    manifest = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    digests = {name: digest_of_large(report / name) for name in tree(report)}
    del digests["manifest.json"]
    assert (manifest["key"], manifest["files"]) == ("key", digests)


def test_hostile_names_are_escaped_and_break_no_figure(
    hostile: dict[str, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Names do not depend on the layout, which takes time.
    monkeypatch.setattr(rendering, "_lay_out", lambda canvas: canvas.set_layout_engine(None))
    with without_pixels():
        html = write_report(hostile, tmp_path / "report", hostile_card()).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert '<dt>Prompt, system</dt><dd class="text"><bdi>own &lt;script&gt;' in html
    for escaped in ("&lt;script&gt;alert(1)&lt;/script&gt;", "{{ 7 * 7 }}", HOSTILE[2]):
        assert escaped in html
    assert_harmless(tmp_path / "report")
    for path in (tmp_path / "report").rglob("*.*"):
        assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert len(path.name) < 160
        assert path.suffix != ".svg" or b"<script" not in path.read_bytes()


def test_symbolic_link_is_not_replaced(small: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "manifest.json").write_text('{"key": "", "files": {}}')
    (tmp_path / "report").symlink_to(tmp_path / "pages")
    with pytest.raises(WorkspaceError, match="report is a link; remove the link"):
        write_report(small, tmp_path / "report", CARD)
    assert os.listdir(tmp_path / "pages") == ["manifest.json"]


@pytest.mark.usefixtures("quick")
def test_pages_name_models_by_their_labels(two_dtypes: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    label = "<i>tuned</i>"
    labels = [("float32", label), ("bfloat16", None)]
    runs = pd.DataFrame([{"model": MODEL, "dtype": dtype, "label": name} for dtype, name in labels])
    write_report({**two_dtypes, "runs_summary": runs}, tmp_path / "report", dataclasses.replace(CARD, not_run=()))
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "report").glob("*.*")}
    assert f"{label} (float32)" in json.dumps(json.loads(texts["findings.json"]))
    assert label not in texts["index.html"] + texts["answers.html"]
    assert "&lt;i&gt;tuned&lt;/i&gt; (float32)" in texts["index.html"]
    assert f"{MODEL} (float32)" not in texts["index.html"] + texts["answers.html"]
    compared = pd.read_csv(tmp_path / "report" / "tables" / "differences-between-models.csv")
    assert set(compared["model"]) | set(compared["against"].str.partition(" (")[0]) == {label, MODEL}
    assert label in pd.read_csv(tmp_path / "report" / "tables" / "models-side-by-side.csv")["model"].tolist()


def test_similar_names_have_different_files() -> None:
    names = ["Model", "model", "model.", "../model", "a" * 300, "a" * 301]
    slugs = [file_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert not any("/" in slug or "." in slug for slug in slugs)


def test_extension_measure_without_rows_has_empty_frame() -> None:
    name, sql = "ranges", "SELECT relation, persuasion_range FROM persuasion_range"
    rows = tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=6)
    figure = Figure(name, "How far?", "Dots", (name,), lambda model, frames: None)
    with added(MEASURES, measure.MEASURE), added(NAMED_QUERIES, NamedQuery(name, sql)), added(FIGURES, figure):
        assert frames(rows, [name])[name].empty


@pytest.mark.usefixtures("quick")
def test_page_says_that_scores_are_missing(tmp_path: Path) -> None:
    html = write_report({}, tmp_path / "report", CARD).read_text(encoding="utf-8")
    assert "Nothing yet: the study holds no scores." in html
    assert "not shown, because scores are missing" in html
    assert "Tables without rows" in html


def test_a_frame_without_a_column_is_refused(tmp_path: Path, study_frames: dict[str, pd.DataFrame]) -> None:
    broken = {**study_frames, "statistics": study_frames["statistics"].drop(columns="p_adjusted")}
    with pytest.raises(InputError, match="lack the table or column 'p_adjusted'"):
        write_report(broken, tmp_path / "report", CARD)
    assert not (tmp_path / "report").exists()


@pytest.mark.usefixtures("quick")
def test_leftovers_of_a_killed_report_are_removed(tmp_path: Path) -> None:
    tmp_path.joinpath(".report.swaymeter-new", "figures").mkdir(parents=True)
    tmp_path.joinpath(".report.swaymeter-old").mkdir()
    write_report({}, tmp_path / "report", CARD)
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.usefixtures("quick")
def test_folder_without_a_report_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="not a report folder"):
        write_report({}, tmp_path, CARD)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.usefixtures("quick")
def test_a_report_with_a_damaged_manifest_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_report({}, folder, CARD)
    (folder / "manifest.json").write_bytes(b"\xff{")
    write_report({}, folder, CARD)
    assert json.loads((folder / "manifest.json").read_text())["files"]


def test_threads_write_reports_at_once(tmp_path: Path, small: dict[str, pd.DataFrame]) -> None:
    two_frames = {name: small[name] for name in ("susceptibility_of_relations", "coverage_of_susceptibility")}
    threads = [Thread(target=write_report, args=(two_frames, tmp_path / name, CARD)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = (tree(tmp_path / name) for name in ("one", "two"))
    assert first.pop("manifest.json")
    assert second.pop("manifest.json")
    assert first == second


EMPTY_FRAMES = with_empty({}, reporting.queries())


@pytest.fixture(scope="module")
def parsed(html: str) -> PageParser:
    """Return the elements of the page."""
    return PageParser(html)


def test_page_opens_with_the_answer(html: str) -> None:
    headings = ["Figures", "Tables", "How to read it", "A worked example", "Missing work", "For researchers"]
    assert re.findall(r"<h2 [^>]*>([^<]+)", html) == headings
    opening = html[html.index('id="found"') : html.index("</section>", html.index('id="found"'))]
    parts = (
        CARD.question,
        'class="verdict"',
        'id="headline"',
        'class="lines"',
        " caveats</h3>",
        "Read all replies",
    )
    assert [opening.count(part) for part in parts] == [1] * len(parts)
    assert [*parts] == sorted(parts, key=opening.index)
    assert opening.count("<li><bdi>", opening.index('class="lines"'), opening.index(" caveats</h3>")) == MAX_LINES
    caveats = opening[opening.index(" caveats</h3>") :]
    assert caveats[: caveats.index("<details>")].count("<li>") == OPEN_CAVEATS
    assert CARD.not_run[0].reason in html


@pytest.mark.usefixtures("quick")
def test_queries_of_findings_are_read_first(small: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    read_names: list[str] = []
    names_before_findings: list[str] = []

    def frame(name: str) -> pd.DataFrame:
        read_names.append(name)
        return small[name]

    lazy = LazyFrames(small, frame)
    write_report(lazy, tmp_path / "report", CARD, show=lambda outcome: names_before_findings.extend(read_names))
    assert {"verdict_shares", "silent_replies"} <= {*names_before_findings}
    assert not {"questions_to_read", "answers_to_read", "worst_replies"} & {*names_before_findings}
    assert len(read_names) == len({*read_names})


def test_page_shows_the_gate_as_badge(study_frames: dict[str, pd.DataFrame]) -> None:
    checks = (
        GateCheck("follow.supporting", "40%", ">= 90%", "m", "unmet"),
        GateCheck("refuse.none", "0%", "<= 1%", "m"),
    )
    empty = {**EMPTY_FRAMES, "runs_summary": study_frames["runs_summary"]}
    for gate, badge in (((), ""), (checks, "Thresholds not met: 1 of 2"), (checks[1:], "Thresholds met: 1 of 1")):
        html = page(dataclasses.replace(CARD, gate=gate), Findings("Yes."), [], [], [], empty)
        assert ('class="badge' in html, badge in html) == (bool(gate), True)


def test_the_page_names_unused_engines(html: str) -> None:
    assert "not by padded batches: it changes answers by 0.15 nats" in html


def test_the_page_is_self_contained(parsed: PageParser) -> None:
    parsed.assert_self_contained()
    assert sum(tag == "script" and "type" not in attributes for tag, attributes in parsed.elements) == 1


def test_policy_allows_only_own_style_script_and_pictures(parsed: PageParser) -> None:
    rules = parsed.policy()
    assert all(rules.pop(name).startswith("'sha256-") for name in ("style-src", "script-src"))
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def test_every_picture_has_alternative_text(parsed: PageParser) -> None:
    pictures = [attributes for tag, attributes in parsed.elements if tag == "img"]
    assert len(pictures) == DRAWN_FIGURES
    assert all(len(picture["alt"]) > 60 for picture in pictures)


def test_headings_skip_no_level(parsed: PageParser) -> None:
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_keyboard_reaches_scrolling_boxes(parsed: PageParser) -> None:
    boxes = [attributes for _, attributes in parsed.elements if attributes.get("class") == "scroll"]
    assert boxes
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)


def test_a_web_address_becomes_a_plain_link() -> None:
    link = str(linked('<b> https://example.org/a?b=1&c="x". See'))
    assert link == (
        '&lt;b&gt; <a href="https://example.org/a?b=1&amp;c=" rel="noopener noreferrer">'
        "https://example.org/a?b=1&amp;c=</a>&#34;x&#34;. See"
    )
    assert "<a" not in linked("javascript:alert(1)")


def test_cells_show_every_kind_of_value() -> None:
    assert [cell(value) for value in (None, math.nan, pd.NA)] == ["\N{EN DASH}"] * 3
    assert [cell(value) for value in (math.inf, -math.inf)] == ["∞", "\N{MINUS SIGN}∞"]
    values = (True, np.bool_(False), 1234, 1.23456, 1e-5, 4321.0)
    assert [cell(value) for value in values] == ["yes", "no", "1,234", "1.235", "1.0e-05", "4,321"]
    assert cell(1.4e-17) == "0.000"  # a rounding error is zero
    assert cell(0.4125, SHARE) == "41.2%"
    assert heading("share_persuaded", SHARE) == "% persuaded"
    assert heading("mean_a", "nats") == "mean a (nats)"


def test_very_long_table_is_cut_with_note() -> None:
    rows = pd.DataFrame({"relation": ["capital"] * (MAX_ROWS + 5)})
    table = Table("long", "Long", "Long.", (), lambda frames: rows)
    text = page(CARD, Findings(), [], [], [FilledTable(table, "Long.", rows)], EMPTY_FRAMES)
    assert text.count('<th scope="row"><bdi>capital') == MAX_ROWS
    assert f"The first {MAX_ROWS} of {MAX_ROWS + 5} rows" in text


@pytest.mark.parametrize("has_scores", [False, True])
def test_scores_without_figures_do_not_count_as_missing(has_scores: bool) -> None:
    runs = pd.DataFrame([{"model": "m", "measure": "accuracy"}] * has_scores)
    text = page(CARD, Findings(), [], [], [], {**EMPTY_FRAMES, "runs_summary": runs})
    assert ("the study holds no scores" in text) is not has_scores
    assert ("their scores are in study.duckdb" in text) is has_scores


def test_common_sentences_of_captions_are_written_once() -> None:
    captions = ["A dot is a query. gpt2; n = 4. In nats.", "A dot is a query. pythia; n = 5. In nats."]
    assert in_common(captions) == ("A dot is a query. In nats.", ["gpt2; n = 4.", "pythia; n = 5."])
    assert in_common(captions[:1]) == ("", captions[:1])
    cited = ["One interval. In Du et al. 2024, Fig. 9. gpt2.", "One interval. In Liu et al. 2024, Fig. 9. pythia."]
    assert in_common(cited)[1] == ["In Du et al. 2024, Fig. 9. gpt2.", "In Liu et al. 2024, Fig. 9. pythia."]


def test_example_is_the_query_of_median_susceptibility(html: str, study_frames: dict[str, pd.DataFrame]) -> None:
    queries = (
        study_frames["fisher_of_queries"].query("query_type == 'open' and not invented").sort_values("susceptibility")
    )
    median = queries.iloc[(len(queries) - 1) // 2]
    strongest, weakest = study_frames["worked_query"].to_dict("records")
    assert strongest["query_id"] == weakest["query_id"] == median["query_id"]
    assert strongest["persuasion"] > weakest["persuasion"]
    section = html[html.index('id="example"') : html.index('id="made"')]
    for text in (
        strongest["query"],
        strongest["context"].strip(),
        weakest["context"].strip(),
        cell(median["susceptibility"]),
    ):
        assert text in section
    for term in ("open", "closed", "base", "assertive", "relevant"):
        assert f"<dfn>{term}</dfn>" in section


def test_unfinished_answer_is_marked(study_frames: dict[str, pd.DataFrame]) -> None:
    cut = study_frames["worked_question"].assign(state="truncated")
    assert example({**study_frames, "worked_question": cut}, "", "").count("… (unfinished)") == len(cut)
    assert "unfinished" not in example(study_frames, "", "")


def test_stand_in_is_named_with_coherent_persuasion(study_frames: dict[str, pd.DataFrame]) -> None:
    stand_in = "embedder for an entailment model"
    without_stand_in = {**study_frames, "stand_ins": study_frames["stand_ins"].iloc[:0]}
    for study, expected in ((study_frames, True), (without_stand_in, False)):
        caveats = " ".join(findings(study).caveats)
        caption = filled(TABLES["models-at-a-glance"], study).caption
        assert [stand_in in text for text in (caveats, caption, example(study, "", ""))] == [expected] * 3
