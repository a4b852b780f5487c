"""The commands about study files: what one can name, a first one to change, and their JSON schema."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from swaymeter.flows.cli.console import print_line, print_product, print_table
from swaymeter.flows.cli.options import AsJson, Traceback

catalog = typer.Typer()


@catalog.command()
def measures(as_json: AsJson = False) -> None:
    """List the measures: what each measures, its unit, and what it needs.

    Example: [bold]swaymeter measures[/bold]
    """
    _list("measures", as_json)


@catalog.command()
def relations(
    source: Annotated[str | None, typer.Option("--source", help="Only those of this source of facts.")] = None,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List the relations that facts can be asked about, each with a query.

    Example: [bold]swaymeter relations --source sample[/bold]
    """
    _list("relations", as_json, source)


@catalog.command()
def models(
    at: Annotated[str, typer.Option("--at", help="The models of a server at this address instead.")] = "",
    key_from: Annotated[str, typer.Option("--key-from", help="The environment variable with its key.")] = "",
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List the models that have a short name, and whether they are installed; a study can name any folder or hub id.

    Example: [bold]swaymeter models --at http://127.0.0.1:8000/v1[/bold]
    """
    if not at:
        _list("models", as_json)
        return
    from swaymeter.tasks.models.endpoints.probe import models_at

    rows = models_at(at, key_from)
    if as_json:
        print_product(json.dumps(rows, indent=2))
    else:
        print_table(("model", "server", "context window"), [[str(cell or "") for cell in row.values()] for row in rows])


@catalog.command()
def sources(as_json: AsJson = False) -> None:
    """List the sources of facts and questions with their keys.

    Example: [bold]swaymeter sources[/bold]
    """
    _list("sources", as_json)


@catalog.command()
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write.")] = Path("study.yaml"),
    traceback: Traceback = False,
) -> None:
    """Write a small study with a comment on every key, to run and to change; a file that exists is left alone.

    Example: [bold]swaymeter init study.yaml[/bold]
    """
    from swaymeter.flows.study.places import write_starter

    write_starter(file)
    print_line(f"{file}: run it with `swaymeter run {file}`; `swaymeter run {file} --dry-run` shows what would be done")


@catalog.command()
def schema() -> None:
    """Print the JSON schema of study files, by which editors complete and check them.

    Example: [bold]swaymeter schema > swaymeter.schema.json[/bold]
    """
    from swaymeter.flows.study.schema import study_schema

    print_product(json.dumps(study_schema(), indent=2))


def _list(name: str, as_json: bool, *of: Any) -> None:
    from swaymeter.flows.cli.views import listings

    rows = list(getattr(listings, name)(*of))
    if as_json:
        print_product(json.dumps(rows, indent=2))
    else:
        cells = ([cell if isinstance(cell, str) else ", ".join(cell) for cell in row.values()] for row in rows)
        print_table([column.replace("_", " ") for column in rows[0]], cells)
