import dataclasses
import json
import os
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

import swaymeter.reports.report as module
from swaymeter.data.digests import digest_of_large
from swaymeter.data.errors import InputError, WorkspaceError
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.reports.card import NotRun
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import Figure
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import as_published
from swaymeter.reports.models import file_slug
from swaymeter.reports.report import write_report
from swaymeter.tasks.measures import MEASURES
from tests.extensions import measure
from tests.registered import added
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL, frames, tables

HOSTILE = (
    "<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", r"$\frac{1}{$", "{{ 7 * 7 }} {% raw %}",
    "\u202e\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd\u202c", "../../etc/passwd\x00",
    "東京 " + "very long name " * 40, "=HYPERLINK(1)&amp;",
)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """Every frame of one relation; not to be changed in place."""
    return frames(tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=6))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that take no time, for tests that are about files."""
    pictures = lambda drawn, limits: Pictures("<svg/>", b"<svg/>", drawn.name.encode())  # noqa: E731
    monkeypatch.setattr(module, "rendered", pictures)
    monkeypatch.setattr(module, "with_limits", lambda drawn: [(one, []) for one in drawn])


def test_every_figure_has_its_files_and_every_link_arrives(report: Path, html: str) -> None:
    files = {path.name for path in (report / "figures").iterdir()}
    names = {Path(name).stem for name in files}
    assert len(names) == len(FIGURES) - 1  # precision is that of a reduced dtype
    assert files == {f"{name}.{kind}" for name in names for kind in ("png", "svg", "csv")}
    links = {part.split('"')[0] for part in html.split('href="')[1:]}
    assert {f"figures/{name}" for name in files} <= links
    assert all((report / link).is_file() for link in links if link.startswith(("figures/", "tables/")))
    assert len(html.encode()) < 2_100_000


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    module.write_csv(tmp_path / "rows.csv", pd.DataFrame({"=1+1": ["=2+2", "plain"], "n": [1, 2]}))
    assert (tmp_path / "rows.csv").read_text() == "'=1+1,n\n'=2+2,1\nplain,2\n"


def test_a_csv_holds_the_frame_digit_by_digit(report: Path, known: dict[str, pd.DataFrame]) -> None:
    made = pd.read_csv(report / "figures" / f"relevance-of-persuasion-{MODEL}-float32.csv")
    keys = ["relation", "query_type"]
    given = as_published(known["statistics"].query("comparison == 'relevance'")).sort_values(keys)
    made = made.sort_values(keys)
    for column in ("mean_a", "mean_b", "p", "p_adjusted", "effect_size"):
        assert list(made[column]) == list(given[column])


def test_the_manifest_has_the_key_and_every_file(report: Path) -> None:
    manifest = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    digests = {name: digest_of_large(report / name) for name in tree(report)}
    del digests["manifest.json"]
    assert (manifest["key"], manifest["files"]) == ("key", digests)


def test_hostile_names_are_escaped_and_break_no_figure(tmp_path: Path) -> None:
    text = "\n".join(HOSTILE)
    names = [name.replace("\x00", "") for name in HOSTILE]  # a database holds no null byte
    relations = [first + second for first, second in zip(names[::2], names[1::2], strict=True)]
    rows = tables([(names[0] + names[2], "float32")], relations=relations, entities=2, questions=6)
    for row in rows["contexts"]:
        row["text"] = "\n".join(names)
    card = dataclasses.replace(
        CARD, name=text, asked=text, sources=HOSTILE, made_at=text, versions={text: text},
        prompt={"system": f"own {text}"},
        not_run=tuple(NotRun(one, one, one, one) for one in HOSTILE),
    )  # fmt: skip
    with without_pixels():
        html = write_report(frames(rows), tmp_path / "report", card).read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<img src=x" not in html
    assert '<dt>Prompt, system</dt><dd class="text"><bdi>own &lt;script&gt;' in html
    for escaped in ("&lt;script&gt;alert(1)&lt;/script&gt;", "{{ 7 * 7 }}", HOSTILE[2]):
        assert escaped in html
    for path in (tmp_path / "report").rglob("*.*"):
        assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert len(path.name) < 160
        assert path.suffix != ".svg" or b"<script" not in path.read_bytes()


@pytest.mark.usefixtures("quick")
def test_models_are_called_by_their_labels(two: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    label = "<i>tuned</i>"
    labels = [("float32", label), ("bfloat16", None)]
    runs = pd.DataFrame([{"model": MODEL, "dtype": dtype, "label": name} for dtype, name in labels])
    write_report({**two, "runs_in_short": runs}, tmp_path / "report", dataclasses.replace(CARD, not_run=()))
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "report").glob("*.*")}
    assert set(json.loads(texts["findings.json"])) == {f"{label} (float32)", f"{MODEL} (bfloat16)"}
    assert label not in texts["index.html"] + texts["answers.html"]
    assert "&lt;i&gt;tuned&lt;/i&gt; (float32)" in texts["index.html"]
    assert f"{MODEL} (float32)" not in texts["index.html"] + texts["answers.html"]
    compared = pd.read_csv(tmp_path / "report" / "tables" / "differences-between-models.csv")
    assert set(compared["model"]) | set(compared["against"].str.partition(" (")[0]) == {label, MODEL}
    assert label in pd.read_csv(tmp_path / "report" / "tables" / "models-side-by-side.csv")["model"].tolist()


def test_names_that_look_alike_get_files_of_their_own() -> None:
    names = ["Model", "model", "model.", "../model", "a" * 300, "a" * 301]
    slugs = [file_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert not any("/" in slug or "." in slug for slug in slugs)


def test_a_measure_without_rows_made_up_gives_empty_frames() -> None:
    name, sql = "ranges", "SELECT relation, persuasion_range FROM persuasion_range"
    rows = tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=6)
    reads = Figure(name, "How far?", "Dots", (name,), lambda model, frames: None)
    with added(MEASURES, measure.MEASURE), added(NAMED_QUERIES, NamedQuery(name, sql)), added(FIGURES, reads):
        assert frames(rows)[name].empty


@pytest.mark.usefixtures("quick")
def test_a_study_without_scores_says_so(tmp_path: Path) -> None:
    html = write_report({}, tmp_path / "report", CARD).read_text(encoding="utf-8")
    assert "Nothing yet: the study holds no scores." in html
    assert "not shown, for want of scores" in html
    assert "Tables without rows" in html


def test_a_frame_without_a_column_is_refused(tmp_path: Path, known: dict[str, pd.DataFrame]) -> None:
    broken = {**known, "statistics": known["statistics"].drop(columns="p_adjusted")}
    with pytest.raises(InputError, match="lacks 'p_adjusted'"):
        write_report(broken, tmp_path / "report", CARD)
    assert not (tmp_path / "report").exists()


@pytest.mark.usefixtures("quick")
def test_leftovers_of_a_killed_report_are_removed(tmp_path: Path) -> None:
    tmp_path.joinpath(".report.swaymeter-new", "figures").mkdir(parents=True)
    tmp_path.joinpath(".report.swaymeter-old").mkdir()
    write_report({}, tmp_path / "report", CARD)
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.usefixtures("quick")
def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
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


def test_reports_are_written_from_threads_at_once(tmp_path: Path, small: dict[str, pd.DataFrame]) -> None:
    few = {name: small[name] for name in ("susceptibility_of_relations", "coverage_of_susceptibility")}
    threads = [Thread(target=write_report, args=(few, tmp_path / name, CARD)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, two = (tree(tmp_path / name) for name in ("one", "two"))
    assert one.pop("manifest.json")
    assert two.pop("manifest.json")
    assert one == two
