"""The commands about what was fetched: what changed, what to hand on, what a graph holds."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from flows.cli.options import Folder, Offline, Relations, StudyFile, Traceback, err, out
from flows.items import Selection
from flows.plan import Plan

_A_DATASET = "A workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json."
datasets = typer.Typer()


@datasets.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_A_DATASET)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one, such as that of a later fetch.")],
    limit: Annotated[int, typer.Option("--limit", min=0, help="Single changes that are shown of each relation.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Say all of it, as JSON on standard output.")] = False,
    traceback: Traceback = False,
) -> None:
    """Say which facts and questions were added, gone or changed from A to B; exit code 1 where any were, 0 where none.

    Example: [bold]swaymeter diff workspaces/march workspaces/april[/bold]
    """
    from flows.cli import diff

    found = diff.compare(a, b)
    for warning in (*found.old.warnings, *found.new.warnings):
        err.print(f"[yellow]warning[/yellow]  {escape(warning)}", soft_wrap=True)
    if as_json:
        typer.echo(diff.as_json(found))
    else:
        diff.show(out, found, limit=limit)
    if found.differs:
        raise typer.Exit(1)


@datasets.command()
def export(
    study: StudyFile,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE where it is there already.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write a study's facts and invented names in the layout of measureLM's yago_qec.json.

    Example: [bold]swaymeter export quickstart yago_qec.json[/bold]
    """
    from flows.cli.export import export

    exported = export(Plan.of(study, workspace, Selection(tuple(relation or ()))), file, force=force)
    if exported.left_out:
        said = f"left out, since YAGO has no predicate for them: {', '.join(exported.left_out)}"
        err.print(f"[yellow]warning[/yellow]  {said}", soft_wrap=True)
    facts = sum(exported.facts.values())
    out.print(escape(f"{file}: {facts} facts of {len(exported.facts)} relations"), soft_wrap=True)


@datasets.command("export-questions")
def export_questions(
    study: StudyFile,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write the three files into.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there already.")] = False,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Write what there is.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write the questions that a study asks in the published layout of DynamicQA.

    Example: [bold]swaymeter export-questions wikidata my-dynamicqa[/bold]
    """
    from flows.cli.export import export_questions

    plan = Plan.of(study, workspace, Selection(tuple(relation or ())))
    exported = export_questions(plan, folder, force=force, incomplete=incomplete)
    for one in exported.left_out:
        said = f"left out, for {one.why}: {one.question.question!r}"
        err.print(f"[yellow]warning[/yellow]  {escape(said)}", soft_wrap=True)
    counted = ", ".join(f"{count} {partition}" for partition, count in exported.questions.items())
    out.print(escape(f"{folder}: {counted} questions"), soft_wrap=True)


@datasets.command()
def predicates(
    study: StudyFile, workspace: Folder = None, offline: Offline = False, traceback: Traceback = False
) -> None:
    """List the predicates of the graph that a study's facts come from, and the catalog's relations that ask for them.

    Example: [bold]swaymeter predicates yago[/bold]
    """
    from flows.cli import predicates

    predicates.show(out, predicates.of_graph(Plan.of(study, workspace), offline=offline))
