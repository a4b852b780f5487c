"""The commands about study files: `list` for the names in study files, and `init` for a first study."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from swaymeter.flows.cli.console import print_line, print_product, print_table
from swaymeter.flows.cli.options import AsJson, Folder, Offline, StudyPath, Traceback

listing = typer.Typer(help="List what a study can name.", no_args_is_help=True)
study_files = typer.Typer()


@listing.command()
def measures(as_json: AsJson = False) -> None:
    """List the measures with their meanings, units and requirements.

    Example: [bold]swaymeter list measures[/bold]
    """
    _list("measures", as_json)


@listing.command()
def relations(
    source: Annotated[str | None, typer.Option("--source", help="Only the relations of this source of facts.")] = None,
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List the relations of facts, each with a query.

    Example: [bold]swaymeter list relations --source sample[/bold]
    """
    _list("relations", as_json, source)


@listing.command()
def models(
    at: Annotated[str, typer.Option("--at", help="List the models of the server at this address.")] = "",
    key_from: Annotated[str, typer.Option("--key-from", help="The environment variable with the server's key.")] = "",
    as_json: AsJson = False,
    traceback: Traceback = False,
) -> None:
    """List the models with short names, installed or not; a study can also name any folder or hub id.

    Example: [bold]swaymeter list models --at http://127.0.0.1:8000/v1[/bold]
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


@listing.command()
def sources(as_json: AsJson = False) -> None:
    """List the sources of facts and questions, with their keys in a study file.

    Example: [bold]swaymeter list sources[/bold]
    """
    _list("sources", as_json)


@listing.command()
def predicates(
    study: StudyPath, workspace: Folder = None, offline: Offline = False, traceback: Traceback = False
) -> None:
    """List the predicates of the knowledge graph of a study's facts, and the relations that use each predicate.

    Example: [bold]swaymeter list predicates yago[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import predicates_of_graph

    rows = []
    for row, relation_names in predicates_of_graph(Study.load(study, workspace).contents, offline=offline):
        classes = ", ".join(iri[max(iri.rfind("/"), iri.rfind("#")) + 1 :] for iri in row.subject_classes)
        rows.append((row.iri, f"{row.triples:,}", classes, ", ".join(relation_names)))
    print_table(("predicate", "triples", "classes of its subjects", "relations"), rows, numbers=("triples",))


@study_files.command()
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write.")] = Path("study.yaml"),
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of study files instead, for editors.")
    ] = False,
    traceback: Traceback = False,
) -> None:
    """Write a first study, with a comment on every key.

    An existing file is never overwritten.

    Example: [bold]swaymeter init study.yaml[/bold]
    """
    if schema:
        from swaymeter.flows.config.schema import study_schema

        print_product(json.dumps(study_schema(), indent=2))
        return
    from swaymeter.flows.config.places import write_starter

    write_starter(file)
    print_line(f"{file}: run it with `swaymeter run {file}`; `swaymeter run {file} --dry-run` shows what would be done")


def _list(name: str, as_json: bool, *arguments: Any) -> None:
    """Print the rows of the function `name` in `views/listings.py`, as a table or as JSON."""
    from swaymeter.flows.cli.views import listings

    rows = list(getattr(listings, name)(*arguments))
    if as_json:
        print_product(json.dumps(rows, indent=2))
    else:
        cells = ([cell if isinstance(cell, str) else ", ".join(cell) for cell in row.values()] for row in rows)
        print_table([column.replace("_", " ") for column in rows[0]], cells)
