"""A publication: a folder with the figures, tables and data of a study, and a manifest.

figures/                   every figure of the page as PDF, SVG and LaTeX, captions.txt, the numbers as CSV
tables/                    every table of the page as LaTeX, Markdown and CSV
data/                      every table of the database as Parquet
study.duckdb               the database
README.md, LICENSE.md      the data-set card and the licences
study.yaml, manifest.json  the study file; versions, keys, commands and the SHA-256 of every file
document.tex               a document with all figures and tables
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from swaymeter.data.digests import sha256_of_file
from swaymeter.data.errors import WorkspaceError
from swaymeter.data.escaping import json_text, terminal
from swaymeter.data.storage.writing import replacing_folder
from swaymeter.data.warehouse.warehouse import Warehouse
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import draw_all
from swaymeter.reports.figures.printing import printed
from swaymeter.reports.figures.rendering import with_limits
from swaymeter.reports.frames import Frames, with_empty
from swaymeter.reports.models import labelled
from swaymeter.reports.publish import texts
from swaymeter.reports.publish.dataset_card import LICENCES, dataset_card, licences_of
from swaymeter.reports.publish.publication import ExportedTable, ModelEntry, Publication
from swaymeter.reports.report import queries, write_csv
from swaymeter.reports.tables import TABLES, filled

__all__ = ["ModelEntry", "Publication", "publish"]

MANIFEST = "manifest.json"
FORMAT = "swaymeter publication 1"
PUBLICATION_QUERIES = ("runs", "origins_summary", "sources_summary")
"""Further named queries of a publication, beside those of the report."""
_COMPILED = ("document.aux", "document.log", "document.pdf")
"""Outputs of pdflatex."""


def publish(study: Publication, warehouse: Warehouse, folder: Path) -> Path:
    """Write the study into `folder`, completely or not at all, and return the path of the manifest.

    The publication replaces an earlier one.

    Raises:
        WorkspaceError: The folder is not a publication, or has files that Swaymeter did not write.
    """
    with replacing_folder(folder, _is_publication, "publication", "name another folder") as new:
        frames = {name: warehouse.frame(name) for name in dict.fromkeys((*queries(), *PUBLICATION_QUERIES))}
        _write_figures_and_tables(study, new, labelled(with_empty(frames, queries())))
        _write_data(study, new, warehouse, frames)
        shutil.copyfile(study.database, new / study.database.name)
        _write(new / "study.yaml", study.study_file)
        files = {
            path.relative_to(new).as_posix(): sha256_of_file(path) for path in sorted(new.rglob("*")) if path.is_file()
        }
        content = _manifest(study, frames) | {"files": files}
        _write(new / MANIFEST, json_text(content, indent=1))
    return folder / MANIFEST


def _is_publication(folder: Path) -> bool:
    """Return True if a folder is a publication; raise WorkspaceError if it has further files."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            return False
        expected = {*manifest["files"], MANIFEST, *_COMPILED}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    existing = {path.relative_to(folder).as_posix() for path in paths}
    if others := sorted(existing - expected):
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise WorkspaceError(
            f"the publication {folder} has files that Swaymeter did not write: {', '.join(others[:3])}{more}; "
            "move these files away or name another folder"
        )
    return True


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_figures_and_tables(study: Publication, folder: Path, frames: Frames) -> None:
    drawn_figures = draw_all(FIGURES.values(), frames)[0]
    captions = []
    for drawn, limits in with_limits(drawn_figures):
        _write(folder / "figures" / f"{drawn.name}.tex", texts.figure(drawn))
        for kind, picture in printed(drawn, limits).items():
            (folder / "figures" / f"{drawn.name}.{kind}").write_bytes(picture)
        write_csv(folder / "figures" / f"{drawn.name}.csv", drawn.drawing.numbers)
        captions.append(f"{drawn.name}\n{drawn.figure.question} {drawn.caption}\n")
    filled_tables = [table for table in (filled(declared, frames) for declared in TABLES.values()) if len(table.rows)]
    for filled_table in filled_tables:
        name = filled_table.table.name
        _write(folder / "tables" / f"{name}.tex", texts.latex_table(filled_table))
        _write(folder / "tables" / f"{name}.md", texts.markdown_table(filled_table))
        write_csv(folder / "tables" / f"{name}.csv", filled_table.rows)
    if captions:
        _write(folder / "figures" / "captions.txt", terminal("\n".join(captions)))
    figure_names = [drawn.name for drawn in drawn_figures]
    table_names = [filled_table.table.name for filled_table in filled_tables]
    _write(folder / "document.tex", texts.document(study.card.name, figure_names, table_names))


def _write_data(study: Publication, folder: Path, warehouse: Warehouse, frames: Frames) -> None:
    (folder / "data").mkdir()
    files = []
    for table in study.tables:
        path = folder / "data" / f"{table.name}.parquet"
        if rows := warehouse.export(table, path):
            files.append(ExportedTable(table, f"data/{path.name}", rows))
    sources = frames["sources_summary"]
    _write(folder / "README.md", dataset_card(study, files, sources))
    _write(folder / LICENCES, licences_of(study, sources))


def _manifest(study: Publication, frames: Frames) -> dict[str, Any]:
    card, runs = study.card, frames["runs"]
    environment = ["swaymeter_version", "torch_version", "transformers_version", "hardware"]
    return {
        "format": FORMAT,
        "study": card.name,
        "asked": card.question,
        "study_file": "study.yaml",
        "key": study.key,
        "made_at": card.created_at,
        "commands": list(study.commands),
        "seeds": list(card.seeds),
        "seeds_of_runs": sorted({int(seed) for seed in runs["seed"]}),
        "published_on": dict(study.publishing_machine),
        "versions": dict(card.versions),
        "runs_computed_with": _distinct(runs, environment),
        "models": {name: {"hub": entry.hub, "licence": entry.licence} for name, entry in study.models.items()},
        "computed_with": _distinct(frames["origins_summary"], list(frames["origins_summary"].columns)),
        "keys": _distinct(runs, ["relation", "model", "dtype", "measure", "measure_version", "key"]),
        "keys_of_further_seeds": [dict(row) for row in study.further],
        "sources": list(card.sources),
        "not_run": [[work.relation, work.model, work.measure, work.reason] for work in card.not_run],
    }


def _distinct(frame: pd.DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(frame[columns].drop_duplicates().to_json(orient="records"))
    return rows
