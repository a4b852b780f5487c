"""The commands `compare` for two runs, `diff` for two datasets, and `history` for the runs of one study.

What changed between two runs:

    flows/cli/commands/comparisons.py   takes two runs, and prints what changed
    data/dataset/snapshot.py            reads a run, and declares the rows of changes
    tasks/statistics/changes.py         `compare_snapshots` compares numbers, and calls `compare_items` for the rest
    reports/changes.py                  writes lines, tables, JSON and pages

`diff` calls only `compare_items`. The headline numbers are declared in tasks/statistics/models.py.
`audit --baseline` (flows/cli/views/baseline.py) calls `compare_snapshots`, too. For `history` and the page of a study,
flows/stages/history.py stores the changes of each completed run, and `changes_of_run` reads the changes. Functions
import these modules late, because every command of `swaymeter` imports this module.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer
from rich.console import Console
from rich.text import Text

from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.escaping import visible
from swaymeter.data.storage.writing import move_to_target, temporary_beside, write_file
from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import out, print_line, print_product, print_table, warn

if TYPE_CHECKING:
    import pandas as pd

    from swaymeter.data.dataset.dataset import Dataset
    from swaymeter.data.dataset.snapshot import Comparison, DatasetChanges, RelationChanges, RunChanges

CHANGES_OF_RUNS = "changes_of_runs"
"""Named query of the changes of every completed run."""
MODEL_PREFIXES = ("A: ", "B: ")
"""Texts before the names of models in tables, for models of the first and of the second run."""
STYLES = {"-": "red", "+": "green", "~": "yellow"}
"""Colours of the signs before removed, added and changed facts and questions."""
_DATASET = "A workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json."
comparisons = typer.Typer()


@comparisons.command()
def compare(
    a: options.Results,
    b: options.Results,
    page: Annotated[Path | None, typer.Option("--page", help="Page to write; default: in the workspace of B.")] = None,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Compare two runs on the terminal and on a page.

    Terminal and page show changed settings, facts and questions, flipped replies, and differences of headline numbers.

    Example: [bold]swaymeter compare float32.yaml bfloat16.yaml[/bold]
    """
    from swaymeter.flows.api import database_of
    from swaymeter.reports.changes import (
        NOTE,
        change_lines,
        comparison_json,
        dataset_rows,
        number_tables,
        unmatched_lines,
    )
    from swaymeter.tasks.statistics.changes import unmatched_items

    databases = database_of(a), database_of(b)
    comparison = compare_databases(*databases)
    unmatched = unmatched_lines(unmatched_items(comparison))
    if page or not as_json:
        page = _write_page(page, databases, comparison, unmatched)
    if as_json:
        print_product(comparison_json(comparison, **dataset_rows(comparison), unmatched=unmatched))
        return
    for name, database in zip("AB", databases, strict=True):
        print_line(f"{name}: {database}")
    for line in (*change_lines(comparison), *(f"not compared: {line}" for line in unmatched)):
        print_line(line)
    for table in number_tables(comparison.numbers, MODEL_PREFIXES):
        print_table(table.columns, table.rows, title=table.title)
    out.print(NOTE, highlight=False, markup=False)
    page_line = f"the page: {page}" if page else "no page: the workspace of B cannot be written; name a --page"
    print_line(f"flipped replies: {len(comparison.flips)}; {page_line}")


@comparisons.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_DATASET)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other data set, such as a later fetch.")],
    limit: Annotated[int, typer.Option("--limit", min=0, help="Number of changes to list for each relation.")] = 20,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """List facts and questions that differ between A and B.

    The exit code is 1 if a fact or question differs, else 0.

    Example: [bold]swaymeter diff workspaces/march workspaces/april[/bold]
    """
    from swaymeter.data.dataset.dataset import Dataset
    from swaymeter.data.dataset.snapshot import Snapshot
    from swaymeter.reports.changes import comparison_json, dataset_rows
    from swaymeter.tasks.statistics.changes import compare_items

    try:
        comparison = compare_items(Snapshot(Dataset.of(a)), Snapshot(Dataset.of(b)), pairs=())
    except SwaymeterError as error:  # exit code 2, because 1 means that the datasets differ
        raise UsageError(str(error)) from error
    for snapshot in comparison.snapshots:
        for warning in snapshot.dataset.warnings:
            warn(warning)
    if as_json:
        print_product(comparison_json(comparison, **dataset_rows(comparison)))
    else:
        show_dataset_changes(out, comparison.dataset_changes, limit=limit)
    if comparison.differs:
        raise typer.Exit(1)


@comparisons.command()
def history(
    study: options.Results,
    workspace: options.Folder = None,
    run: Annotated[
        int | None, typer.Option("--run", min=1, help="Show the changes of this run; default: the last.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every headline number of every run.")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw the numbers over time: a .svg or .png.")] = None,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Show the completed runs of a study and their changes.

    Each run has its headline numbers. The changes of a run are its differences from the run before.

    Example: [bold]swaymeter history nightly.yaml --csv numbers.csv --figure numbers.svg[/bold]
    """
    from swaymeter.flows.api import Study, database_of
    from swaymeter.reports.changes import NUMBERS, history_json, history_tables, run_lines
    from swaymeter.reports.report import write_csv

    database = Study.load(study, workspace).workspace.database if workspace else database_of(study)
    frames = read_history(database)
    run_number, changes = select_run(frames, run)
    files = []
    if csv is not None:
        try:
            write_csv(csv, frames[NUMBERS])
        except OSError as error:
            raise UsageError(f"{csv} cannot be written: {error.strerror or error}; name another file") from None
        files.append(csv)
    if figure is not None:
        files += _write_figures(figure, frames)
    if as_json:
        print_product(history_json(frames, changes))
        return
    runs, number_tables = history_tables(frames, run_number)
    print_table(runs.columns, runs.rows, numbers=("run",))
    for line in run_lines(run_number, changes):
        print_line(line)
    for table in number_tables:
        print_table(table.columns, table.rows, title=table.title)
    for file in files:
        print_line(f"written: {file}")


# ---- two runs --------------------------------------------------------------------------------------------------------


def compare_databases(first: Path, second: Path) -> "Comparison":
    """Compare the runs in two databases.

    Raises:
        UsageError: The databases have no question or query in common.
    """
    from swaymeter.data.dataset.snapshot import Snapshot
    from swaymeter.data.warehouse.warehouse import Limits, opened
    from swaymeter.flows.stages.aggregate import schema
    from swaymeter.tasks.statistics.changes import compare_snapshots

    def snapshot(database: Path) -> Snapshot:
        with opened(database, schema(), limits=Limits()) as warehouse:
            return Snapshot.from_database(warehouse, str(database))

    comparison = compare_snapshots(snapshot(first), snapshot(second))
    if not comparison.numbers:
        raise UsageError(
            f"{first} and {second} have no question or query in common; compare runs with the same questions"
        )
    return comparison


def _write_page(
    file: Path | None, databases: tuple[Path, Path], comparison: "Comparison", unmatched: Sequence[str]
) -> Path | None:
    """Write the page that compares two runs, by default beside the second database; return the path of the page.

    Without `file`, return None if the folder of the second database cannot be written.
    """
    from swaymeter.data.storage.workspace import DATABASE, slug
    from swaymeter.reports.changes import number_tables, write_two_runs
    from swaymeter.reports.models import ANSWERS_PAGE

    folders, names = [database.absolute().parent for database in databases], _run_names(databases)
    if file is None and not os.access(folders[1], os.W_OK):
        return None
    file = file or folders[1] / f"compared-with-{slug(names[0])}.html"

    def report_link(database: Path, folder: Path) -> str:
        report = folder / "report"
        has_report = database.name == DATABASE and (report / ANSWERS_PAGE).exists()
        return quote(os.path.relpath(report, file.absolute().parent)) if has_report else ""

    first, second = map(report_link, databases, folders)
    try:
        with temporary_beside(file) as temporary:
            tables = number_tables(comparison.numbers, MODEL_PREFIXES)
            write_two_runs(temporary, comparison, tables, unmatched, names, (first, second))
            move_to_target(temporary, file)
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written: {error.strerror or error}; name another file with --page"
        ) from None
    return file


def _run_names(databases: tuple[Path, Path]) -> tuple[str, str]:
    """Return the names of the folders of two runs, or their paths if the names are equal."""
    from swaymeter.data.storage.workspace import DATABASE

    paths = [database.absolute() for database in databases]
    names = [path.parent.name if path.name == DATABASE else f"{path.parent.name} {path.stem}" for path in paths]
    first, second = names if names[0] != names[1] else map(str, paths)
    return first, second


# ---- two datasets ----------------------------------------------------------------------------------------------------


def show_dataset_changes(console: Console, difference: "DatasetChanges", *, limit: int) -> None:
    """Print the size and sources of each dataset, a table of relations, and at most `limit` changes of a relation."""
    for side, dataset in (("A", difference.old), ("B", difference.new)):
        print_line(_dataset_lines(side, dataset), console)
    if difference.relations:
        _show_relations(console, "facts", difference.relations, difference.not_compared, limit)
    if difference.questions:
        _show_relations(console, "questions", difference.questions, difference.questions_not_compared, limit)
    if not difference.differs and difference.old.version == difference.new.version:
        console.print("A and B are the same.")
    elif not difference.differs:
        kinds = [("fact", difference.relations), ("question", difference.questions)]
        items = " and no ".join(kind for kind, changes in kinds if changes) or "fact"
        console.print(
            f"No {items} differs. The versions differ, because sources or fields that were not compared differ."
        )


def _dataset_lines(side: str, dataset: "Dataset") -> str:
    """Return two lines about a dataset: its path, then its version, counts and sources."""
    from swaymeter.reports.estimates import plural

    times = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    counts = {
        "fact": (len(dataset.facts), len(dataset.relations)),
        "question": (len(dataset.questions), len(dataset.question_relations)),
    }
    rows = " and ".join(
        f"{plural(count, kind)} of {plural(relation_count, 'relation')}"
        for kind, (count, relation_count) in counts.items()
        if count
    )
    version = f"version {dataset.version}: {rows} from {visible(', '.join(dataset.sources))}{visible(times)}"
    return f"{side}  {visible(str(dataset.path))}\n   {version}"


def _show_relations(
    console: Console, kind: str, relations: "Sequence[RelationChanges]", not_compared: Sequence[str], limit: int
) -> None:
    from swaymeter.reports.changes import NAMES, source_lines

    if not_compared:
        fields = ", ".join(NAMES.get(field, field) for field in not_compared)
        print_line(f"not compared, because only one dataset has the field: {fields}", console)
    numbers = ("added", "gone", "changed", "same")
    counts = [(len(each.added), len(each.gone), len(each.changed), each.same) for each in relations]
    rows: list[Sequence[str] | None] = [
        (relation.relation, *map(str, row)) for relation, row in zip(relations, counts, strict=True)
    ]
    if len(counts) > 1:
        rows += [None, ("all", *(str(sum(column)) for column in zip(*counts, strict=True)))]
    print_table(("relation" if kind == "facts" else f"{kind} about", *numbers), rows, console, numbers=numbers)
    for relation in relations if limit else ():
        lines = list(source_lines(relation))
        if lines:
            print_line(Text(f"\n{relation.relation}", style="bold"), console)
        for sign, line in lines[:limit]:
            print_line(Text.assemble((f"  {sign} ", STYLES[sign]), line), console)
        if len(lines) > limit:
            more = f"{len(lines) - limit} more; --limit {len(lines)} shows them, --json everything"
            print_line(f"  … and {more}", console)


# ---- one study over time ---------------------------------------------------------------------------------------------


def read_history(database: Path) -> "dict[str, pd.DataFrame]":
    """Return the rows of four named queries.

    RUNS_OVER_TIME has the completed runs, CHANGES_OF_RUNS their changes, and NUMBERS their headline numbers. RUNS has
    the models of the last run with their labels, for the figures.

    Raises:
        UsageError: There is no completed run.
    """
    from swaymeter.data.warehouse.warehouse import opened
    from swaymeter.flows.stages.aggregate import schema
    from swaymeter.reports.changes import NUMBERS, RUNS_OVER_TIME
    from swaymeter.reports.models import RUNS

    with opened(database, schema()) as warehouse:
        frames = {name: warehouse.frame(name) for name in (CHANGES_OF_RUNS, NUMBERS, RUNS_OVER_TIME, RUNS)}
    if frames[RUNS_OVER_TIME].empty:
        raise UsageError(f"{database} has no completed run yet; run the study to its end")
    return frames


def select_run(frames: "Mapping[str, pd.DataFrame]", run: int | None) -> "tuple[int, RunChanges | None]":
    """Return the number and the changes of a run, by default of the last run; the first run has no changes (None).

    Raises:
        UsageError: There is no such run.
    """
    from swaymeter.reports.changes import NUMBERS, RUNS_OVER_TIME
    from swaymeter.reports.frames import where
    from swaymeter.tasks.statistics.changes import changes_of_run

    numbers = [int(number) for number in frames[RUNS_OVER_TIME]["run"]]
    run = numbers[-1] if run is None else run
    if run not in numbers:
        raise UsageError(f"there is no run {run}; name a run from {numbers[0]} to {numbers[-1]}")
    return run, changes_of_run(where(frames[CHANGES_OF_RUNS], run=run), frames[NUMBERS])


def _write_figures(file: Path, frames: "Mapping[str, pd.DataFrame]") -> list[Path]:
    """Write the figure of each model as SVG or PNG, by the ending of `file`."""
    from swaymeter.reports.changes import NUMBERS
    from swaymeter.reports.figures.figure import draw_all
    from swaymeter.reports.figures.over_time import OVER_TIME
    from swaymeter.reports.figures.rendering import rendered
    from swaymeter.reports.models import RUNS

    if file.suffix not in (".svg", ".png"):
        raise UsageError(f"the figure {file} is not a .svg or .png file; end the file's name in .svg or .png")
    pictures, _ = draw_all([OVER_TIME], {OVER_TIME.queries[0]: frames[NUMBERS], RUNS: frames[RUNS]})
    if not pictures:
        raise UsageError("a figure over time needs two runs with headline numbers; run the study again later")
    files = [
        file if len(pictures) == 1 else file.with_stem(f"{file.stem}-{picture.model.slug}") for picture in pictures
    ]
    for picture, path in zip(pictures, files, strict=True):
        write_file(path, getattr(rendered(picture), file.suffix[1:]))
    return files
