"""The command `swaymeter annotate`: export, import and status."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from data.records import ANNOTATION_CHOICES
from data.sources.http.printable import printable
from flows.cli.options import Folder, StudyFile, Traceback, err, out
from flows.plan import Plan

annotate = typer.Typer(
    help="Have people judge the questions: sheets for annotators, and what they say brought back.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Sheet = Annotated[Path, typer.Argument(metavar="FILE", help="The annotator's sheet: .xlsx or .csv.")]
Annotator = Annotated[str, typer.Option("--annotator", help="Who judges: the same name every time.")]
Partitions = Annotated[list[str] | None, typer.Option("--partition", help="Only this partition; may be repeated.")]
_NAMED = 20


@annotate.command("export")
def export(
    study: StudyFile,
    file: Sheet,
    annotator: Annotator,
    conflicts: Annotated[bool, typer.Option("--conflicts", help="Only what two others disagree about.")] = False,
    partition: Partitions = None,
    workspace: Folder = None,
    traceback: Traceback = False,
) -> None:
    """Write a sheet of the questions that an annotator has still to judge; a file that is there is left alone.

    Example: [bold]swaymeter annotate export quickstart ada.xlsx --annotator ada[/bold]
    """
    from flows.cli import annotate as work

    plan = Plan.of(study, workspace)
    done = work.export(plan, file, annotator, conflicts=conflicts, partitions=tuple(partition or ()))
    _warn_of(done.not_there)
    if done.too_long:
        _warn(f"questions with a text that no cell holds, not in the sheet: {_listed(done.too_long)}")
    _say(f"{file}: {done.questions} questions for {annotator}; what each choice means is told in docs/annotation.md")


@annotate.command("import")
def import_(
    study: StudyFile,
    file: Sheet,
    annotator: Annotator,
    revise: Annotated[
        bool, typer.Option("--revise", help="Let what differs from before count; both are kept.")
    ] = False,
    workspace: Folder = None,
    traceback: Traceback = False,
) -> None:
    """Take what an annotator's sheet says; it may be half done, and imported again later.

    Example: [bold]swaymeter annotate import quickstart ada.xlsx --annotator ada[/bold]
    """
    from flows.cli import annotate as work

    taken = work.import_(Plan.of(study, workspace), file, annotator, revise=revise)
    _warn_of(taken.not_there)
    if taken.unfinished:
        _warn(f"rows with a note and no choice yet, not taken: {_listed(taken.unfinished)}")
    if taken.outdated:
        said = "rows whose question was built anew with other texts, or is gone, kept and not counted"
        _warn(f"{said}: {_listed(taken.outdated)}; export a new sheet for them")
    if taken.others:
        _warn(f"columns that no sheet has, not read: {', '.join(map(printable, taken.others))}")
    _say(f"{file}: {taken.new} new, {taken.revised} revised, {taken.known} known already")


@annotate.command()
def status(study: StudyFile, workspace: Folder = None, traceback: Traceback = False) -> None:
    """Say who judged how much, how far two annotators agree, which conflicts are open, and what comes of it.

    Example: [bold]swaymeter annotate status quickstart[/bold]
    """
    from flows.cli import annotate as work

    standing = work.standing(Plan.of(study, workspace))
    _warn_of(standing.not_there)
    table = Table()
    table.add_column("annotator", overflow="fold")
    for choice in (*ANNOTATION_CHOICES, "of"):
        table.add_column(choice, justify="right")
    for name, counts in standing.agreement.counts.items():
        numbers = [counts.get(choice, 0) for choice in ANNOTATION_CHOICES]
        table.add_row(Text(printable(name)), *map(str, numbers), f"{sum(numbers)}/{standing.questions}")
    out.print(table)
    found = standing.agreement
    alpha = found.undefined if found.alpha is None else f"{found.alpha:.3f} over {found.units} questions"
    _say(f"Krippendorff's alpha: {alpha}")
    _say(f"conflicts that a third has to decide: {standing.open_conflicts}")
    _say(f"outcome: {', '.join(f'{count} {reason}' for reason, count in standing.outcome.items())}")
    if standing.outdated:
        _say(f"of texts that no question has any more: {standing.outdated} annotations, kept and not counted")


def _listed(found: Sequence[object]) -> str:
    return ", ".join(map(str, found[:_NAMED])) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")


def _warn_of(not_there: Sequence[str]) -> None:
    if not_there:
        _warn(f"not all questions are there: {_listed(not_there)}")


def _say(line: str) -> None:
    out.print(escape(line), soft_wrap=True)


def _warn(line: str) -> None:
    err.print(f"[yellow]warning[/yellow]  {escape(line)}", soft_wrap=True)
