"""The report of a study: a folder with the page, its figures and its tables, written whole or not at all.

Everything is made in a hidden folder beside the report's and takes its place in two renames once it is all on the disk;
what a killed run left there is put right by the next. The caller sees to it that one process at a time writes a report.
"""

import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from data.errors import WorkspaceError
from reports.answers import write_answers
from reports.card import NotRun, StudyCard
from reports.figures import plates, printed
from reports.findings import findings
from reports.frames import checked, records
from reports.page import GENERATOR, Made, Picture, page
from reports.tables import sheets

__all__ = ["NotRun", "StudyCard", "write_report"]

_log = logging.getLogger(__name__)


def write_report(frames: Mapping[str, pd.DataFrame], folder: Path, card: StudyCard) -> Path:
    """Writes index.html, figures/ and tables/ into `folder`, in place of the report before; returns the page's path.

    Where there are answers to read, answers.html stands beside it. A frame that is missing or empty leaves its figures
    out, and the page says so. InputError where a frame lacks a column; WorkspaceError where the folder cannot be
    written, or holds something that is no report.
    """
    folder = Path(folder).resolve()
    new, old = (folder.with_name(f".{folder.name}.{state}") for state in ("new", "old"))
    known = checked(frames)
    try:
        _put_right(folder, new, old)
        _refuse_other_folders(folder)
        _fill(new, known, card)
        _swap(folder, new, old)
    except OSError as error:
        raise WorkspaceError(
            f"the report {folder} cannot be written: {error.strerror or error}; choose another --workspace"
        ) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder / "index.html"


def _fill(folder: Path, frames: dict[str, pd.DataFrame], card: StudyCard) -> None:
    for part in ("figures", "tables"):
        (folder / part).mkdir(parents=True)
    made, left_out = plates(frames)
    pictures = []
    for plate in made:
        _log.info("drawing %s", plate.name)
        prints = printed(plate)
        (folder / "figures" / f"{plate.name}.svg").write_bytes(prints.svg)
        (folder / "figures" / f"{plate.name}.png").write_bytes(prints.png)
        _write_csv(folder / "figures" / f"{plate.name}.csv", plate.numbers)
        pictures.append(Picture(plate, prints.page_svg))
    tables = sheets(frames)
    for sheet in tables:
        if len(sheet.rows):
            _write_csv(folder / "tables" / f"{sheet.name}.csv", sheet.rows)
    answers = write_answers(frames, folder, card)
    text = page(card, findings(frames), pictures, left_out, tables, _made(frames), answers=answers)
    (folder / "index.html").write_text(text, encoding="utf-8")


def _write_csv(path: Path, rows: pd.DataFrame) -> None:
    rows.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _made(frames: dict[str, pd.DataFrame]) -> Made:
    overview = next(iter(records(frames["overview"])), {})
    runs = frames["runs"]
    keys = [
        "model",
        "dtype",
        "measure",
        "measure_version",
        "seed",
        "swaymeter_version",
        "torch_version",
        "transformers_version",
    ]
    if len(runs):
        runs = (
            runs.groupby(keys, sort=True, dropna=False)
            .agg(
                relations=("relation", "nunique"),
                rows=("rows", "sum"),
                seconds=("seconds", "sum"),
                forward_passes=("forward_passes", "sum"),
            )
            .reset_index()
        )
    stand_ins = frames["stand_ins"].dropna(subset=["stand_in"]).drop_duplicates()
    return Made(
        overview,
        runs,
        stand_ins.sort_values(["model", "measure", "stand_in"]).reset_index(drop=True),
    )


def _put_right(folder: Path, new: Path, old: Path) -> None:
    """Undoes what a killed run left: a half-made report, or one that was set aside and has no successor."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if new.exists():
        shutil.rmtree(new)
    if old.exists() and not folder.exists():
        old.rename(folder)
    elif old.exists():
        shutil.rmtree(old)


def _refuse_other_folders(folder: Path) -> None:
    if not folder.exists():
        return
    index = folder / "index.html"
    ours = (folder / "made-from.txt").is_file() or (index.is_file() and GENERATOR.encode() in index.read_bytes())
    if not folder.is_dir() or (any(folder.iterdir()) and not ours):
        raise WorkspaceError(f"{folder} is there and is no report of ours; move it away or choose another --workspace")


def _swap(folder: Path, new: Path, old: Path) -> None:
    for path in sorted(new.rglob("*")):
        _sync(path)
    _sync(new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    _sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
