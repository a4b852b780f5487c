"""The command `swaymeter annotate`: export, import and status."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from swaymeter.data.errors import first_names
from swaymeter.flows.cli.console import print_line, print_table, warn
from swaymeter.flows.cli.options import Folder, StudyFile, Traceback

annotate = typer.Typer(
    help="Have people judge the questions: sheets for annotators, and the import of what they fill in.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Sheet = Annotated[Path, typer.Argument(metavar="FILE", help="The annotator's sheet: .xlsx or .csv.")]
Annotator = Annotated[str, typer.Option("--annotator", help="Who judges: the same name every time.")]
Partitions = Annotated[list[str] | None, typer.Option("--partition", help="Only this partition; may be repeated.")]
NAMED = 20


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
    """Write a sheet of the questions that an annotator has still to judge; a file that exists is left alone.

    Example: [bold]swaymeter annotate export quickstart ada.xlsx --annotator ada[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets import annotate as work

    contents = Study.load(study, workspace).contents
    exported = work.export(contents, file, annotator, conflicts=conflicts, partitions=tuple(partition or ()))
    _warn_of(exported.missing)
    if exported.too_long:
        warn(f"questions with a text that no cell holds, not in the sheet: {first_names(exported.too_long, NAMED)}")
    print_line(f"{file}: {exported.questions} questions for {annotator}; docs/annotation.md explains each choice")


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
    """Import an annotator's sheet; it may be half done, and imported again later.

    Example: [bold]swaymeter annotate import quickstart ada.xlsx --annotator ada[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets import annotate as work

    imported = work.import_(Study.load(study, workspace).contents, file, annotator, revise=revise)
    _warn_of(imported.missing)
    if imported.unfinished:
        warn(f"rows with a note and no choice yet, not imported: {first_names(imported.unfinished, NAMED)}")
    if imported.outdated:
        rows = first_names(imported.outdated, NAMED)
        warn(f"rows whose question has other texts now, or is gone, kept and not counted: {rows}; export a new sheet")
    if imported.others:
        warn(f"columns that no sheet has, not read: {', '.join(imported.others)}")
    print_line(f"{file}: {imported.new} new, {imported.revised} revised, {imported.known} known already")


@annotate.command()
def status(study: StudyFile, workspace: Folder = None, traceback: Traceback = False) -> None:
    """Show who judged how much, how far two annotators agree, which conflicts are open, and the outcome.

    Example: [bold]swaymeter annotate status quickstart[/bold]
    """
    from swaymeter.data.records import ANNOTATION_CHOICES
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets import annotate as work

    standing = work.standing(Study.load(study, workspace).contents)
    _warn_of(standing.missing)
    agreement, rows = standing.agreement, []
    for name, counts in agreement.counts.items():
        judged = [counts.get(choice, 0) for choice in ANNOTATION_CHOICES]
        rows.append((name, *map(str, judged), f"{sum(judged)}/{standing.questions}"))
    numbers = (*ANNOTATION_CHOICES, "of")
    print_table(("annotator", *numbers), rows, numbers=numbers)
    alpha = f"{agreement.alpha:.3f} over {agreement.units} questions" if agreement.alpha is not None else None
    print_line(f"Krippendorff's alpha: {alpha or agreement.undefined}")
    print_line(f"conflicts that a third has to decide: {standing.open_conflicts}")
    print_line(f"outcome: {', '.join(f'{count} {reason}' for reason, count in standing.outcome.items())}")
    if standing.outdated:
        print_line(f"of texts that no question has any more: {standing.outdated} annotations, kept and not counted")


def _warn_of(missing: Sequence[str]) -> None:
    if missing:
        warn(f"not all questions are there: {first_names(missing, NAMED)}")
