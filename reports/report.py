"""The report of a study: a folder with the page, its figures and its tables, written whole or not at all.

A caller ensures that only one process writes a report.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from swaymeter.data.dataset.snapshot import RunChanges
from swaymeter.data.errors import InputError, WorkspaceError
from swaymeter.data.escaping import csv_cell
from swaymeter.data.records.findings import Findings, StudyCard, write_findings
from swaymeter.data.storage.artifact import write_manifest
from swaymeter.data.storage.writing import replacing_folder
from swaymeter.reports.answers import ANSWERS_QUERIES, write_answers
from swaymeter.reports.changes import HISTORY_QUERIES, section, write_history
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import draw_all
from swaymeter.reports.figures.over_time import OVER_TIME
from swaymeter.reports.figures.rendering import rendered, with_limits
from swaymeter.reports.findings import BASIS_QUERIES, FINDINGS, findings
from swaymeter.reports.frames import Frames, with_empty
from swaymeter.reports.headline import QUERIES as HEADLINE_QUERIES
from swaymeter.reports.models import RUNS, labelled
from swaymeter.reports.page import EXAMPLE_QUERIES, WORST_QUERIES, example, page
from swaymeter.reports.queries import READ_QUERIES, write_queries
from swaymeter.reports.tables import TABLES, filled

MANIFEST = "manifest.json"
PAGE_QUERIES = ("overview", RUNS, "readings", "stand_ins")
"""Named queries of the page itself; its figures, tables and other parts list their own."""


def queries() -> tuple[str, ...]:
    """Return the named queries of a report: of its figures, findings, tables and pages."""
    parts = [figure.queries for figure in FIGURES.values()] + [table.queries for table in TABLES.values()]
    parts += [finding.queries for finding in FINDINGS] + [
        ANSWERS_QUERIES,
        READ_QUERIES,
        EXAMPLE_QUERIES,
        PAGE_QUERIES,
        BASIS_QUERIES,
        HISTORY_QUERIES,
        HEADLINE_QUERIES,
        WORST_QUERIES,
    ]
    return tuple(dict.fromkeys(query for part in parts for query in part))


def write_report(
    frames: Mapping[str, pd.DataFrame],
    folder: Path,
    card: StudyCard,
    key: str = "",
    changes: RunChanges | None = None,
    show: Callable[[Findings], object] = lambda study_findings: None,
) -> Path:
    """Write the report in place of an earlier one, and return the path of its page, index.html.

    Replies to questions add answers.html, scores of queries add queries.html, and changes add history.html.

    Args:
        frames: Frames by named query; a frame may be missing.
        folder: The report's folder.
        card: Settings of the study.
        key: Key of the report's inputs, which manifest.json records beside the digest of every file.
        changes: Changes since the last run; None for a first run.
        show: Function that receives the findings before anything is drawn or written.

    Raises:
        InputError: A frame lacks a column.
        WorkspaceError: The folder cannot be written, or contains something that is no report.
    """
    if Path(folder).is_symlink():  # the report would replace the target of the link
        raise WorkspaceError(f"the report folder {folder} is a link; remove the link and run again")
    folder = Path(folder).resolve()
    try:
        shown_frames = labelled(with_empty(frames, queries()))
        study_findings = findings(shown_frames, card)
        show(study_findings)
        with replacing_folder(folder, _is_report, "report", "choose another --workspace") as new:
            _fill(new, shown_frames, card, study_findings, changes)
            write_manifest(new / MANIFEST, key, filter(Path.is_file, new.rglob("*")))
    except KeyError as error:
        raise InputError(
            f"the stored results lack the table or column {error}; run the study with --stage aggregate"
        ) from error
    return folder / "index.html"


def _fill(folder: Path, frames: Frames, card: StudyCard, study_findings: Findings, changes: RunChanges | None) -> None:
    """Write everything but the manifest into an empty folder."""
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True)
    drawn, omitted = draw_all(FIGURES.values(), frames)
    pictures = []
    for drawn_figure, limits in with_limits(drawn):
        files = rendered(drawn_figure, limits)
        (folder / "figures" / f"{drawn_figure.name}.svg").write_bytes(files.svg)
        (folder / "figures" / f"{drawn_figure.name}.png").write_bytes(files.png)
        write_csv(folder / "figures" / f"{drawn_figure.name}.csv", drawn_figure.drawing.numbers)
        pictures.append((drawn_figure, files))
    filled_tables = [filled(table, frames) for table in TABLES.values()]
    for filled_table in filled_tables:
        if len(filled_table.rows):
            write_csv(folder / "tables" / f"{filled_table.table.name}.csv", filled_table.rows)
    answers_page, queries_page = write_answers(frames, folder, card), write_queries(frames, folder, card)
    # The figure over time is only on the page of the study's history.
    over_time = [picture for picture in pictures if picture[0].figure is OVER_TIME]
    pictures = [picture for picture in pictures if picture not in over_time]
    if changes:
        write_history(frames, folder, card, over_time, changes)
    write_findings(study_findings, folder)
    text = page(
        card,
        study_findings,
        pictures,
        omitted,
        filled_tables,
        frames,
        example=example(frames, answers_page, queries_page),
        answers=answers_page,
        queries=queries_page,
        since=section(changes),
    )
    (folder / "index.html").write_text(text, encoding="utf-8")


def write_csv(path: Path, rows: pd.DataFrame) -> None:
    """Write rows as CSV; a text that a spreadsheet would compute as a formula is escaped."""
    for name, cells in rows.select_dtypes(exclude=["number", "bool"]).items():
        texts = cells.to_numpy(dtype=object)
        shown = [csv_cell(cell) if isinstance(cell, str) else cell for cell in texts]
        if any(isinstance(cell, str) and cell != text for cell, text in zip(shown, texts, strict=True)):
            rows = rows.assign(**{str(name): shown})
    header = [csv_cell(str(name)) for name in rows.columns]
    rows.to_csv(path, index=False, encoding="utf-8", lineterminator="\n", header=header)


def _is_report(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        return False
    except ValueError:  # A report with a damaged manifest may be replaced.
        return (folder / "index.html").is_file()
    return isinstance(manifest, dict) and {"key", "files"} <= manifest.keys()
