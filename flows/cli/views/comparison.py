"""Comparisons on the terminal and as JSON: of two runs, of two data sets, and of a run with the one before.

Facts, questions and replies come from the web and from models: a text moves no cursor, reverses no line and has an end.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from rich.console import Console
from rich.text import Text

from swaymeter.data.dataset.comparison import Comparison, Snapshot, compare_items
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import Changed, Difference, RelationDifference
from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.escaping import visible
from swaymeter.data.records import Fact, as_row
from swaymeter.data.storage.workspace import DATABASE, slug
from swaymeter.data.storage.writing import beside, put, write_file
from swaymeter.data.warehouse.warehouse import Limits, opened
from swaymeter.flows.api import Study
from swaymeter.flows.cli.console import print_line, print_table
from swaymeter.flows.config.thresholds import name_of
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports import comparison as texts
from swaymeter.reports.comparison import NUMBERS, RUNS, RunChanges, changes_of_run, sentence, source_lines
from swaymeter.reports.estimates import estimate, verdict
from swaymeter.reports.figures.figure import draw_all
from swaymeter.reports.figures.over_time import OVER_TIME
from swaymeter.reports.figures.rendering import rendered
from swaymeter.reports.frames import records, where
from swaymeter.reports.models import ANSWERS_PAGE, Model
from swaymeter.reports.models import RUNS as MODELS
from swaymeter.reports.report import write_csv
from swaymeter.tasks.statistics import comparison as statistics

CHANGES = "changes_of_runs"
LIMIT = 20
"""Changes of one sort on the terminal."""
RUN_NAMES = ("A: ", "B: ")
STYLES = {"-": "red", "+": "green", "~": "yellow"}


def lines_of(comparison: Comparison, limit: int = LIMIT) -> list[str]:
    """Return the settings, facts, questions and replies that changed, in lines; at most `limit` of a sort."""
    sorts = [
        ("setting", [f"{name}: {before} → {after}" for name, before, after in texts.settings(comparison)]),
        *((what, [f"{sign} {line}" for sign, line in of]) for what, of in texts.sources(comparison.sources).items()),
        ("flipped reply", [
            f"{reply.question} ({reply.condition}, {reply.models}): {reply.before} ({reply.verdict_before}) → "
            f"{reply.after} ({reply.verdict})" for reply in texts.replies(comparison)
        ]),
    ]  # fmt: skip
    lines = []
    for sort, changes in sorts:
        lines += [f"{sort}: {line}" for line in changes[:limit]]
        lines += [f"{sort}: … and {len(changes) - limit} more; --json has all"] if len(changes) > limit else []
    return lines + [f"replies {sort}: {count}" for sort, count in comparison.others.items()]


def as_json(comparison: Comparison | None, **others: object) -> str:
    """Return a comparison and others as JSON in ASCII: no name can control the terminal."""
    changes = {} if comparison is None else _plain(comparison)
    return json.dumps({**others, **changes}, indent=2, default=str)


def _plain(comparison: Comparison) -> dict[str, Any]:
    difference = comparison.sources
    settings = [
        {"name": name, "before": before and json.loads(before), "after": after and json.loads(after)}
        for name, before, after in comparison.settings
    ]
    return {
        "differs": comparison.differs,
        "settings": settings,
        "facts": _sources_row(difference.relations, difference.not_compared),
        "questions": _sources_row(difference.questions, difference.questions_not_compared),
        "flipped_replies": [flip._asdict() for flip in comparison.flips],
        "other_replies": comparison.others,
        "numbers": comparison.numbers,
    }


def _sources_row(relations: Sequence[RelationDifference], not_compared: Sequence[str]) -> dict[str, Any]:
    return {"not_compared": not_compared, "relations": {each.relation: _relation_row(each) for each in relations}}


def _relation_row(relation: RelationDifference) -> dict[str, Any]:
    rows = {name: [as_row(row) for row in getattr(relation, name)] for name in ("added", "gone")}
    return {**rows, "changed": [_changed_row(changed) for changed in relation.changed], "same": relation.same}


def _changed_row(changed: Changed) -> dict[str, Any]:
    identity = ("subject_id", "property_id", "page", "object", "partition")
    names = ("subject", *(("subject_uri",) if isinstance(changed.new, Fact) else identity))
    changes = [{"field": change.field, "from": change.old, "to": change.new} for change in changed.changes]
    return {**{name: getattr(changed.new, name) for name in names}, "changes": changes}


def datasets(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Return the path, counts, version and sources of both data sets, for JSON."""
    return {side: _dataset_row(snapshot.sources) for side, snapshot in zip("ab", comparison.snapshots, strict=True)}


def _dataset_row(dataset: Dataset) -> dict[str, Any]:
    counts = {"facts": len(dataset.facts), "questions": len(dataset.questions)}
    about = {name: getattr(dataset, name) for name in ("version", "sources", "retrieved", "warnings")}
    return {"path": str(dataset.path), **counts, **about}


# ---- two runs --------------------------------------------------------------------------------------------------------


def database_of(run: str) -> Path:
    """Return the database of a run: of a study, of a workspace, or the file itself.

    Raises:
        UsageError: There is none.
    """
    path = Path(run).expanduser()
    database = path / DATABASE if path.is_dir() else path if path.suffix == ".duckdb" else None
    database = database or Study.load(run).workspace.database
    if not database.exists():
        raise UsageError(f"{run} has no database {database}; run the study, or name a workspace")
    return database


def compare(first: Path, second: Path) -> Comparison:
    """Compare two databases.

    Raises:
        UsageError: They have no question or query in common.
    """
    comparison = statistics.compare(_snapshot(first), _snapshot(second))
    if not comparison.numbers:
        raise UsageError(f"{first} and {second} have no question or query in common that both were asked")
    return comparison


def _snapshot(database: Path) -> Snapshot:
    with opened(database, schema(), limits=Limits()) as warehouse:
        return Snapshot.from_database(warehouse, str(database))


def rejected_lines(comparison: Comparison) -> list[str]:
    """Return the items without a counterpart, with numbers and reasons: a line for pairs of models that are alike."""
    alike: dict[str, list[str]] = {}
    for models, counts in statistics.rejected(comparison).items():
        named = ((text, ", ".join(name_of(*quantity) for quantity in of)) for text, of in counts.items())
        pair = " against ".join(f"{run}: {Model(*model)}" for run, model in zip("AB", models, strict=True))
        alike.setdefault("; ".join(f"{text} ({names})" for text, names in named), []).append(pair)
    return [f"{' and '.join(pairs)}: {text}" for text, pairs in alike.items()]


def show(console: Console, comparison: Comparison, rejected: Sequence[str]) -> None:
    """Print the changes between two runs, and a table of the differences for every two models."""
    for line in (*lines_of(comparison), *(f"not compared: {line}" for line in rejected)):
        print_line(line, console)
    show_numbers(console, comparison.numbers, RUN_NAMES)


def show_numbers(console: Console, rows: Sequence[Mapping[str, Any]], runs: tuple[str, str] = ("", "")) -> None:
    """Print a table of paired differences for every two models; runs: text before the names of the models."""
    for table in texts.number_tables(rows, name_of, runs):
        print_table(table.columns, table.rows, console, title=table.title)
    if rows:
        console.print(texts.NOTE, highlight=False, markup=False)


def write_page(
    file: Path | None, databases: tuple[Path, Path], comparison: Comparison, rejected: Sequence[str]
) -> Path | None:
    """Write the page of two runs and return its path; without a name it lies beside the second database.

    Returns:
        The path; None if no page is named and that folder cannot be written.

    Raises:
        UsageError: The page cannot be written.
    """
    folders, names = [database.absolute().parent for database in databases], _names(databases)
    if file is None and not os.access(folders[1], os.W_OK):
        return None
    file = file or folders[1] / f"compared-with-{slug(names[0])}.html"
    first, second = (
        quote(os.path.relpath(folder / "report", file.absolute().parent))
        if database.name == DATABASE and (folder / "report" / ANSWERS_PAGE).exists() else ""
        for folder, database in zip(folders, databases, strict=True)
    )  # fmt: skip
    try:
        with beside(file) as temporary:
            tables = texts.number_tables(comparison.numbers, name_of, RUN_NAMES)
            texts.write_two_runs(temporary, comparison, tables, rejected, names, (first, second))
            put(temporary, file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}; name another --page") from None
    return file


def _names(databases: tuple[Path, Path]) -> tuple[str, str]:
    """Return the names of two runs: their folders, with their files or paths where these would be alike."""
    paths = [database.absolute() for database in databases]
    names = [path.parent.name if path.name == DATABASE else f"{path.parent.name} {path.stem}" for path in paths]
    first, second = names if names[0] != names[1] else map(str, paths)
    return first, second


# ---- two data sets ---------------------------------------------------------------------------------------------------


def compare_sources(old: str, new: str) -> Comparison:
    """Compare the facts and questions of two data sets.

    Raises:
        UsageError: One cannot be read. The exit code is 2, because 1 means that they differ.
    """
    try:
        return compare_items(Snapshot(Dataset.of(old)), Snapshot(Dataset.of(new)), pairs=())
    except SwaymeterError as error:
        raise UsageError(str(error)) from error


def show_sources(console: Console, difference: Difference, *, limit: int) -> None:
    """Print both versions, a table of the relations, and at most `limit` changes of each relation."""
    for side, dataset in (("A", difference.old), ("B", difference.new)):
        print_line(_about(side, dataset), console)
    if difference.relations:
        _show_relations(console, "facts", difference.relations, difference.not_compared, limit)
    if difference.questions:
        _show_relations(console, "questions", difference.questions, difference.questions_not_compared, limit)
    if not difference.differs and difference.old.version == difference.new.version:
        console.print("They are the same.")
    elif not difference.differs:
        what = "fact" if not difference.questions else "fact and no question" if difference.relations else "question"
        console.print(f"No {what} differs; the versions do, since they count sources and what was not compared.")


def _about(side: str, dataset: Dataset) -> str:
    times = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    counts = {
        "facts": (len(dataset.facts), len(dataset.relations)),
        "questions": (len(dataset.questions), len(dataset.question_relations)),
    }
    rows = " and ".join(f"{count} {what} of {of} relations" for what, (count, of) in counts.items() if count)
    version = f"version {dataset.version}: {rows} from {visible(', '.join(dataset.sources))}{visible(times)}"
    return f"{side}  {visible(str(dataset.path))}\n   {version}"


def _show_relations(
    console: Console, what: str, relations: Sequence[RelationDifference], not_compared: Sequence[str], limit: int
) -> None:
    if not_compared:
        fields = ", ".join(texts.NAMES.get(field, field) for field in not_compared)
        print_line(f"not compared, since only one of them has it: {fields}", console)
    numbers = ("added", "gone", "changed", "same")
    counts = [(len(each.added), len(each.gone), len(each.changed), each.same) for each in relations]
    rows: list[Sequence[str] | None] = [
        (relation.relation, *map(str, row)) for relation, row in zip(relations, counts, strict=True)
    ]
    if len(counts) > 1:
        rows += [None, ("all", *(str(sum(column)) for column in zip(*counts, strict=True)))]
    print_table(("relation" if what == "facts" else f"{what} about", *numbers), rows, console, numbers=numbers)
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


def read_history(database: Path) -> dict[str, pd.DataFrame]:
    """Return the named queries about runs over time."""
    with opened(database, schema()) as warehouse:
        frames = {name: warehouse.frame(name) for name in (CHANGES, NUMBERS, RUNS, MODELS)}
    if frames[RUNS].empty:
        raise UsageError(f"{database} has no completed run yet; run the study to its end")
    return frames


def select_run(frames: Mapping[str, pd.DataFrame], run: int | None) -> tuple[int, RunChanges | None]:
    """Return the number of a run, by default of the last one, and its changes; no changes of the first run.

    Raises:
        UsageError: There is no such run.
    """
    numbers = [int(number) for number in frames[RUNS]["run"]]
    run = numbers[-1] if run is None else run
    if run not in numbers:
        raise UsageError(f"there is no run {run}; name one from {numbers[0]} to {numbers[-1]}")
    return run, changes_of_run(where(frames[CHANGES], run=run), frames[NUMBERS])


def show_history(console: Console, frames: Mapping[str, pd.DataFrame], run: int, changes: RunChanges | None) -> None:
    """Print every run in a line, the changes of one run, and its headline numbers."""
    runs = frames[RUNS].astype(object).where(frames[RUNS].notna(), "")
    cells = [[str(cell) for cell in row] for row in runs.itertuples(index=False)]
    print_table([str(name).replace("_", " ") for name in runs], cells, console, numbers=("run",))
    for line in _lines_of_run(run, changes):
        print_line(line, console)
    rows = [
        (_named(row), str(row["n"]), estimate(row), *_change(row)) for row in records(where(frames[NUMBERS], run=run))
    ]
    columns = ("headline number", "n", "mean [95%]", "change on the same items [95%]", "verdict")
    print_table(columns, rows, console, title=f"Run {run}")


def _lines_of_run(run: int, changes: RunChanges | None) -> Iterator[str]:
    if changes is None:
        yield f"run {run} is the first: nothing to compare it with"
    elif not changes.comparison.differs:
        yield f"since the run of {changes.before}: nothing has changed"
    else:
        yield f"since the run of {changes.before}:"
        moved = [f"moved: {sentence(row, _named(row))}" for row in changes.comparison.moved]
        for line in (*(moved or ["no headline number moved by more than its interval"]), *lines_of(changes.comparison)):
            yield f"  {line}"


def _named(row: Mapping[str, Any]) -> str:
    return f"{name_of(row['quantity'], row['group'])} of {Model(row['model'], row['dtype'])}"


def _change(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the change of a number and its verdict; a model without any change has no verdict."""
    if pd.isna(row["change"]):
        return "", ""
    if row["change"] == 0 and pd.isna(row["change_low"]):
        return "nothing changed", ""
    ends = {"low": row["change_low"], "high": row["change_high"]}
    return estimate({**row, **ends}, "change", signed=True), verdict({**row, "margin": None, "untestable": None})


def history_json(frames: Mapping[str, pd.DataFrame], changes: RunChanges | None) -> str:
    """Return every run, its headline numbers, and the changes of one run as JSON."""
    plain = {name: records(frames[name].astype(object).where(frames[name].notna(), None)) for name in (RUNS, NUMBERS)}
    last = None if changes is None else {"run": changes.run, "before": changes.before, **_plain(changes.comparison)}
    return as_json(None, runs=plain[RUNS], numbers=plain[NUMBERS], changes=last)


def write_numbers(file: Path, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write every headline number of every run as CSV; UsageError if it cannot be written."""
    try:
        write_csv(file, frames[NUMBERS])
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}; name another file") from None


def write_figures(file: Path, frames: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write the figure of each model as SVG or PNG, by the file's ending; UsageError if there is none to draw."""
    if file.suffix not in (".svg", ".png"):
        raise UsageError(f"{file}: end the name in .svg or .png")
    drawn, _ = draw_all([OVER_TIME], {OVER_TIME.queries[0]: frames[NUMBERS], MODELS: frames[MODELS]})
    if not drawn:
        raise UsageError("a figure over time needs two runs with headline numbers")
    files = [file if len(drawn) == 1 else file.with_stem(f"{file.stem}-{picture.model.slug}") for picture in drawn]
    for picture, path in zip(drawn, files, strict=True):
        write_file(path, getattr(rendered(picture), file.suffix[1:]))
    return files
