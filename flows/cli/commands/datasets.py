"""The commands `export` and `publish`: files for other programs and people."""

from pathlib import Path
from typing import Annotated

import typer

from swaymeter.flows.cli.console import print_line, warn
from swaymeter.flows.cli.options import Folder, Relations, StudyPath, Traceback

exports = typer.Typer(help="Write a study's facts or questions in a published layout.", no_args_is_help=True)
datasets = typer.Typer()


@exports.command()
def facts(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing FILE.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write a study's facts and invented names in the layout of measureLM's yago_qec.json.

    Example: [bold]swaymeter export facts quickstart yago_qec.json[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import export_facts
    from swaymeter.reports.estimates import plural

    counts, omitted = export_facts(Study.load(study, workspace, relation).contents, file, force=force)
    if omitted:
        warn(f"left out, because YAGO has no predicate for these relations: {', '.join(omitted)}")
    print_line(f"{file}: {plural(sum(counts.values()), 'fact')} of {plural(len(counts), 'relation')}")


@exports.command()
def questions(
    study: StudyPath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write the three files into.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Write the fetched questions although other questions are missing.")
    ] = False,
    traceback: Traceback = False,
) -> None:
    """Write the questions of a study in the published layout of DynamicQA.

    Example: [bold]swaymeter export questions wikidata my-dynamicqa[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import export_questions

    contents = Study.load(study, workspace, relation).contents
    counts, omitted = export_questions(contents, folder, force=force, incomplete=incomplete)
    for question, reason in omitted:
        warn(f"the question {question.question!r} is left out: {reason}")
    print_line(f"{folder}: {', '.join(f'{count} {partition}' for partition, count in counts.items())} questions")


@datasets.command()
def publish(
    study: StudyPath,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; an earlier publication is replaced.")],
    workspace: Folder = None,
    traceback: Traceback = False,
) -> None:
    """Write a study's figures, tables and data for publication.

    Example: [bold]swaymeter publish quickstart my-paper[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.publish import publish

    print_line(str(publish(Study.load(study, workspace).contents, study, folder)))
