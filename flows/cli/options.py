"""What the commands have in common: where they write, and the options that several of them take."""

from typing import Annotated

import typer
from rich.console import Console

from flows.items import Selection

out = Console()
err = Console(stderr=True)

StudyFile = Annotated[str, typer.Argument(metavar="STUDY", help="A study's YAML file, or the name of a bundled one.")]
Folder = Annotated[str | None, typer.Option("--workspace", help="The folder of the study's files.")]
Relations = Annotated[list[str] | None, typer.Option("--relation", help="Only this relation; may be repeated.")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Only this model; may be repeated.")]
Measures = Annotated[list[str] | None, typer.Option("--measure", help="Only this measure; may be repeated.")]
Force = Annotated[bool, typer.Option("--force", help="Do it again, also what is done.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network: no hub, no downloads.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask edits and page views of live questions anew.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="On an error, show where in the code it arose.")]


def selection(relation: list[str] | None, model: list[str] | None, measure: list[str] | None) -> Selection:
    """The selection that the options name."""
    return Selection(tuple(relation or ()), tuple(model or ()), tuple(measure or ()))
