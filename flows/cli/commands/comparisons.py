"""The commands that compare: `compare` two runs, `diff` two data sets, `history` the runs of one study."""

from pathlib import Path
from typing import Annotated

import typer

from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import out, print_line, print_product, warn

_DATASET = "A workspace with fetched facts or questions, a folder of DynamicQA's CSV files, or a yago_qec.json."
comparisons = typer.Typer()


@comparisons.command()
def compare(
    a: options.Results,
    b: options.Results,
    page: Annotated[Path | None, typer.Option("--page", help="The page; default: in the workspace of B.")] = None,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Compare two runs on the terminal and on a page.

    The rows are settings, facts, questions, flipped replies and headline numbers.

    Example: [bold]swaymeter compare float32.yaml bfloat16.yaml[/bold]
    """
    from swaymeter.flows.cli.views import comparison as view

    databases = view.database_of(a), view.database_of(b)
    comparison = view.compare(*databases)
    rejected = view.rejected_lines(comparison)
    if page or not as_json:
        page = view.write_page(page, databases, comparison, rejected)
    if as_json:
        print_product(view.as_json(comparison, **view.datasets(comparison), rejected=rejected))
        return
    for name, database in zip("AB", databases, strict=True):
        print_line(f"{name}: {database}")
    view.show(out, comparison, rejected)
    where = f"the page: {page}" if page else "no page: the workspace of B cannot be written; name a --page"
    print_line(f"flipped replies: {len(comparison.flips)}; {where}")


@comparisons.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_DATASET)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one, such as that of a later fetch.")],
    limit: Annotated[int, typer.Option("--limit", min=0, help="Single changes that are shown of each relation.")] = 20,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """List facts and questions that differ between A and B.

    The exit code is 1 if any was added, removed or changed, else 0.

    Example: [bold]swaymeter diff workspaces/march workspaces/april[/bold]
    """
    from swaymeter.flows.cli.views import comparison as view

    comparison = view.compare_sources(a, b)
    for snapshot in comparison.snapshots:
        for warning in snapshot.sources.warnings:
            warn(warning)
    if as_json:
        print_product(view.as_json(comparison, **view.datasets(comparison)))
    else:
        view.show_sources(out, comparison.sources, limit=limit)
    if comparison.differs:
        raise typer.Exit(1)


@comparisons.command()
def history(
    study: options.Results,
    workspace: options.Folder = None,
    run: Annotated[int | None, typer.Option("--run", min=1, help="What changed in it; default: the last.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every headline number of every run.")] = None,
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw them over time: a .svg or .png.")] = None,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Show the completed runs of a study and their changes.

    Each run has its headline numbers; the changes are those since the run before.

    Example: [bold]swaymeter history nightly.yaml --csv numbers.csv --figure numbers.svg[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.cli.views import comparison as view

    database = Study.load(study, workspace).workspace.database if workspace else view.database_of(study)
    frames = view.read_history(database)
    number, changes = view.select_run(frames, run)
    files = []
    if csv is not None:
        view.write_numbers(csv, frames)
        files.append(csv)
    if figure is not None:
        files += view.write_figures(figure, frames)
    if as_json:
        print_product(view.history_json(frames, changes))
        return
    view.show_history(out, frames, number, changes)
    for file in files:
        print_line(f"written: {file}")
