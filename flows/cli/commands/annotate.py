"""The command `swaymeter annotate`: people judge questions and passages; answers.html collects verdicts on replies."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from swaymeter.data.errors import first_few
from swaymeter.flows.cli.console import print_line, print_table, warn
from swaymeter.flows.cli.options import Columns, Folder, OwnFile, StudyPath, Traceback

annotate = typer.Typer(
    help="Collect people's judgements of questions and passages.",
    epilog="To judge replies, use the page answers.html, then `swaymeter audit --judgements`.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Sheet = Annotated[Path, typer.Argument(metavar="FILE", help="The annotator's sheet: .xlsx or .csv.")]
Annotator = Annotated[str, typer.Option("--annotator", help="Your name; use the same name every time.")]
Partitions = Annotated[list[str] | None, typer.Option("--partition", help="Only this partition; may be repeated.")]
SHOWN_ITEMS = 20
"""Limit of the judgements, partitions or unfinished steps that a warning lists."""


@annotate.command()
def passages(
    file: OwnFile,
    annotator: Annotator,
    to: Annotated[
        Path | None, typer.Option("--to", help="The file of judgements to write; default: FILE-judgements.csv.")
    ] = None,
    map_: Columns = None,
    everything: Annotated[bool, typer.Option("--all", help="Ask about every context, also those with a kind.")] = False,
    traceback: Traceback = False,
) -> None:
    """Ask in the terminal for the missing kinds of passages.

    Each judgement is stored at once, so the same command continues after an interruption.

    Example: [bold]swaymeter annotate passages mine.csv --annotator ada[/bold]
    """
    from swaymeter.flows.cli.views import audit
    from swaymeter.flows.cli.views import passages as view

    path = audit.questions_file(file)
    annotation = view.annotation_of(path, to, audit.columns_of(map_ or ()), annotator, everything=everything)
    if not annotation.contexts:
        print_line("every context has a kind, or its text decides the kind; --all asks about every context")
        return
    view.ask(annotation, print_line, input)
    if annotation.target.exists():
        options = [file, *(f"--map={pair}" for pair in map_ or ()), "--judgements", str(annotation.target)]
        print_line(f"next: swaymeter audit {shlex.join(options)} --model MODEL (or --replies COLUMN)")


@annotate.command("export")
def export(
    study: StudyPath,
    file: Sheet,
    annotator: Annotator,
    conflicts: Annotated[bool, typer.Option("--conflicts", help="Only what two other people disagree about.")] = False,
    partition: Partitions = None,
    workspace: Folder = None,
    traceback: Traceback = False,
) -> None:
    """Write a sheet of the questions that an annotator has not judged yet; never overwrite a file.

    Example: [bold]swaymeter annotate export quickstart ada.xlsx --annotator ada[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets import annotate as judging

    contents = Study.load(study, workspace).contents
    sheet = judging.export(contents, file, annotator, conflicts=conflicts, partitions=tuple(partition or ()))
    _warn_of_missing(sheet.missing)
    print_line(f"{file}: questions for {annotator}: {sheet.questions}; docs/judgements.md explains each choice")
    print_line(f"next: fill in the column `value` of {file}, and name the file under `judgements` of {study}")


@annotate.command()
def status(study: StudyPath, workspace: Folder = None, traceback: Traceback = False) -> None:
    """Show the number of judgements of each annotator, their agreement, open conflicts, and the outcome.

    Example: [bold]swaymeter annotate status quickstart[/bold]
    """
    from swaymeter.data.records.judgements import CHOICES
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets import annotate as judging

    summary = judging.annotation_status(Study.load(study, workspace).contents)
    _warn_of_missing(summary.missing)
    if summary.problems:
        warn(f"judgements that do not count: {first_few(summary.problems, SHOWN_ITEMS, separator='; ')}")
    rows = []
    for name, counts in summary.choices.items():
        judged = [counts.get(choice, 0) for choice in CHOICES]
        rows.append((name, *map(str, judged), f"{sum(judged)}/{summary.questions}"))
    numbers = (*CHOICES, "judged")
    print_table(("annotator", *numbers), rows, numbers=numbers)
    for row in summary.agreement:
        value = row["undefined"] or f"{row['alpha']:.3f} over {row['items']} items"
        print_line(f"Krippendorff's alpha of the field {row['field']}: {value}")
    if not summary.agreement:
        print_line("Krippendorff's alpha: none, because no two annotators judged the same question")
    print_line(f"conflicts that a third person has to decide: {summary.open_conflicts}")
    print_line(f"outcome: {', '.join(f'{count} {reason}' for reason, count in summary.outcome.items())}")


def _warn_of_missing(missing: Sequence[str]) -> None:
    if missing:
        warn(f"questions are missing: {first_few(missing, SHOWN_ITEMS)}")
