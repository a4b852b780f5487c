"""The commands that look and change nothing: how a study's steps stand, and what of the installation works."""

import typer

from flows.cli.console import out
from flows.cli.options import AsJson, Folder, Measures, Models, Relations, StudyFile, Traceback

checks = typer.Typer()


@checks.command()
def status(
    study: StudyFile,
    workspace: Folder = None,
    relation: Relations = None,
    model: Models = None,
    measure: Measures = None,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """Show which steps are done, missing, failed (and why) or damaged; exit code 1 where any failed or is damaged.

    Example: [bold]swaymeter status quickstart --measure persuasion[/bold]
    """
    from flows.cli import status as view
    from flows.cli.pipeline import Selected

    selected = Selected.of(study, workspace, relation, model, measure)
    rows, root = selected.rows(), selected.workspace.root
    if as_json:
        typer.echo(view.as_json(rows, root))
    else:
        view.show(out, rows, root)
    if view.is_broken(rows):
        raise typer.Exit(1)


@checks.command()
def doctor() -> None:
    """Show what is installed and what works: models, GPU, Prefect's API, DuckDB; exit code 1 where anything does not.

    Example: [bold]swaymeter doctor[/bold]
    """
    from flows.cli import doctor as view

    if not view.show(out, view.checks()):
        raise typer.Exit(1)
