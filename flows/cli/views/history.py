"""The runs of a study over time: what changed in one of them, and every headline number, as a table, CSV or figure."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.writing import write_file
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.console import print_line, print_table
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.thresholds import name_of
from swaymeter.reports.estimates import estimate, verdict
from swaymeter.reports.figures.figure import draw_all
from swaymeter.reports.figures.over_time import OVER_TIME
from swaymeter.reports.figures.rendering import rendered
from swaymeter.reports.frames import records, where
from swaymeter.reports.history import NUMBERS, RUNS, Since, sentence, since
from swaymeter.reports.models import RUNS as MODELS
from swaymeter.reports.models import Model
from swaymeter.reports.report import write_csv

CHANGES = "changes_of_runs"
LIMIT = 20
"""Changes of one sort that are printed."""


def read(database: Path) -> dict[str, pd.DataFrame]:
    """The named queries about runs over time."""
    with opened(database, schema()) as warehouse:
        frames = {name: warehouse.frame(name) for name in (CHANGES, NUMBERS, RUNS, MODELS)}
    if frames[RUNS].empty:
        raise UsageError(f"{database} has no completed run yet; run the study to its end")
    return frames


def changes_of(frames: Mapping[str, pd.DataFrame], run: int | None = None) -> Since | None:
    """What changed in a run, the last where none is named; None for the first. UsageError where there is none such."""
    known = [int(number) for number in frames[RUNS]["run"]]
    run = known[-1] if run is None else run
    if run not in known:
        raise UsageError(f"there is no run {run}; name one from {known[0]} to {known[-1]}")
    return since(where(frames[CHANGES], run=run), frames[NUMBERS])


def show(console: Console, frames: Mapping[str, pd.DataFrame], found: Since | None, run: int | None) -> None:
    """Every run in a line, what changed in one, and its headline numbers."""
    runs = frames[RUNS].astype(object).where(frames[RUNS].notna(), "")
    cells = [[str(cell) for cell in row] for row in runs.itertuples(index=False)]
    print_table([str(name).replace("_", " ") for name in runs], cells, console, numbers=("run",))
    number = found.run if found else int(run or frames[RUNS]["run"].max())
    if found is None:
        print_line(f"run {number} is the first: nothing to compare it with", console)
    else:
        for line in lines_of(found):
            print_line(line, console)
    of_run = records(where(frames[NUMBERS], run=number))
    rows = [(_named(row), str(row["n"]), estimate(row), *_change(row)) for row in of_run]
    columns = ("headline number", "n", "mean [95%]", "change on the same items [95%]", "verdict")
    print_table(columns, rows, console, title=f"Run {number}")


def lines_of(found: Since) -> list[str]:
    """What changed in a run, in lines."""
    if found.is_the_same:
        return [f"since the run of {found.at_before}: nothing has changed"]
    lines = [f"since the run of {found.at_before}:"]
    moved = [f"  moved: {sentence(row, _named(row))}" for row in found.moved]
    lines += moved or ["  no headline number moved by more than its interval"]
    sorts = [
        ("setting", [f"{name}: {before} → {now}" for name, before, now in found.settings]),
        *((what, [f"{sign} {line}" for sign, line in changed]) for what, changed in found.sources.items()),
        ("answer", [
            f"{flip.question} ({flip.condition}, {flip.model}): {flip.before} ({flip.verdict_before}) → {flip.now} "
            f"({flip.verdict})" for flip in found.flips
        ]),
    ]  # fmt: skip
    for sort, changed in sorts:
        lines += [f"  {sort}: {line}" for line in changed[:LIMIT]]
        lines += [f"  {sort}: … and {len(changed) - LIMIT} more; --json has all"] if len(changed) > LIMIT else []
    return [*lines, *(f"  answers {what}: {count}" for what, count in found.counts.items())]


def _named(row: Mapping[str, Any]) -> str:
    return f"{name_of(row['quantity'], row['group'])} of {Model(row['model'], row['dtype'])}"


def _change(row: Mapping[str, Any]) -> tuple[str, str]:
    """How far a number moved, and the verdict on that, which a model in which nothing changed has none of."""
    if pd.isna(row["change"]):
        return "", ""
    if row["change"] == 0 and pd.isna(row["change_low"]):
        return "nothing changed", ""
    ends = {"low": row["change_low"], "high": row["change_high"]}
    return estimate({**row, **ends}, "change", signed=True), verdict({**row, "margin": None, "untestable": None})


def as_json(frames: Mapping[str, pd.DataFrame], found: Since | None) -> str:
    """All of it for a program; in ASCII."""
    plain = {name: frames[name].astype(object).where(frames[name].notna(), None) for name in (RUNS, NUMBERS)}
    content = {
        "runs": records(plain[RUNS]), "numbers": records(plain[NUMBERS]), "changes": asdict(found) if found else None,
    }  # fmt: skip
    return json.dumps(content, indent=2, default=str)


def write_numbers(file: Path, frames: Mapping[str, pd.DataFrame]) -> None:
    """Writes every headline number of every run as CSV; UsageError where it cannot be written."""
    try:
        write_csv(file, frames[NUMBERS])
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}; name another file") from None


def write_figures(file: Path, frames: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Writes the figure of each model as SVG or PNG, by the file's ending; UsageError where none can be drawn."""
    if file.suffix not in (".svg", ".png"):
        raise UsageError(f"{file}: end the name in .svg or .png")
    drawn, _ = draw_all([OVER_TIME], {OVER_TIME.queries[0]: frames[NUMBERS], MODELS: frames[MODELS]})
    if not drawn:
        raise UsageError("a figure over time needs two runs with headline numbers")
    files = [file if len(drawn) == 1 else file.with_stem(f"{file.stem}-{one.model.slug}") for one in drawn]
    for one, path in zip(drawn, files, strict=True):
        write_file(path, getattr(rendered(one), file.suffix[1:]))
    return files
