"""The commands about a study over time: `history`, what its runs were and what changed."""

from pathlib import Path
from typing import Annotated

import typer

from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import out, print_line, print_product

over_time = typer.Typer()


@over_time.command()
def history(
    study: options.Results,
    workspace: options.Folder = None,
    run: Annotated[int | None, typer.Option("--run", min=1, help="What changed in it; default: the last.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every headline number of every run.")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw them over time: a .svg or .png.")] = None,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Show every completed run of a study, its headline numbers, and what changed since the run before.

    Example: [bold]swaymeter history nightly.yaml --csv numbers.csv --figure numbers.svg[/bold]
    """
    from swaymeter.flows.cli.pipeline import Selected
    from swaymeter.flows.cli.views import history as view
    from swaymeter.flows.cli.views.compare import database_of

    frames = view.read(Selected.of(study, workspace).workspace.database if workspace else database_of(study))
    found = view.changes_of(frames, run)
    files = []
    if csv is not None:
        view.write_numbers(csv, frames)
        files.append(csv)
    if figure is not None:
        files += view.write_figures(figure, frames)
    if as_json:
        print_product(view.as_json(frames, found))
        return
    view.show(out, frames, found, run)
    for file in files:
        print_line(f"written: {file}")
