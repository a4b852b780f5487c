"""The arguments and options that several commands take."""

from typing import Annotated

import typer

from swaymeter.flows.config.places import RunnerName

StudyPath = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A study's YAML file, the name of a bundled study, or the folder of an audit's workspace."
    ),
]
OwnFile = Annotated[str, typer.Argument(metavar="FILE", help="Questions with contexts: CSV, JSON or Parquet.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--map", metavar="NAME=COLUMN", help="Map a column: question=query reads questions from the column query."
    ),
]
Results = Annotated[str, typer.Argument(help="A study, the folder of its workspace, or its database.")]
Stages = Annotated[
    list[str] | None,
    typer.Option("--stage", help="Only fetch, build, score, aggregate or report; may be repeated."),
]
Folder = Annotated[str | None, typer.Option("--workspace", help="The folder of the study's files.")]
Relations = Annotated[list[str] | None, typer.Option("--relation", help="Only this relation; may be repeated.")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Only this model; may be repeated.")]
Measures = Annotated[list[str] | None, typer.Option("--measure", help="Only this measure; may be repeated.")]
Force = Annotated[bool, typer.Option("--force", help="Compute the selected steps again.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network: no hub, no downloads.")]
Runner = Annotated[
    RunnerName | None,
    typer.Option("--runner", help="Runner of the models: threads, processes or dask; by default the study's."),
]
Refresh = Annotated[
    bool, typer.Option("--refresh", help="Fetch edits and page views again, for questions made from Wikidata.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another run uses the workspace.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the steps that would run; run nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON on standard output.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="Show the traceback of an error.")]
