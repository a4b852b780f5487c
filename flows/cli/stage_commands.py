"""The commands that compute: `swaymeter run` and its stages."""

import inspect
import time
from collections.abc import Callable

import typer

from data.errors import WorkFailed
from flows.cli.console import out, print_line
from flows.cli.options import DryRun, Folder, Force, Measures, Models, Offline, Refresh, Relations, StudyFile, Traceback

stages = typer.Typer()

COMMANDS = {
    "run": "Fetch, build, score, aggregate and report; again = only what is missing, failed or changed.",
    "fetch": "Fetch facts and questions from their sources.",
    "build": "Write queries, contexts and questions from what was fetched.",
    "score": "Run the models and compute the measures.",
    "aggregate": "Load what is done into the database and test it.",
    "report": "Draw the page, its figures and tables.",
}


def _stage(name: str) -> Callable[..., None]:
    def command(
        study: StudyFile,
        workspace: Folder = None,
        relation: Relations = None,
        model: Models = None,
        measure: Measures = None,
        force: Force = False,
        refresh: Refresh = False,
        offline: Offline = False,
        dry_run: DryRun = False,
        traceback: Traceback = False,
    ) -> None:
        from flows.cli.pipeline import Selected
        from flows.cli.terminal import TerminalProgress, log_to, summary

        began = time.monotonic()
        selected = Selected.of(study, workspace, relation, model, measure)
        selected.check_models(name)
        if dry_run:
            for line in selected.estimate(name, force=force, refresh=refresh):
                print_line(line)
            return
        progress = TerminalProgress(out)
        log_to(out, verbose=traceback)
        graph, message = selected.execute(name, progress, force=force, refresh=refresh, offline=offline)
        summary(out, selected.description(graph), progress, time.monotonic() - began, selected.outputs())
        if message and not progress.failures:
            raise WorkFailed(message)
        if message:
            raise typer.Exit(WorkFailed.exit_code)

    if name not in ("run", "fetch"):  # the others fetch nothing
        signature = inspect.signature(command)
        options = [option for option in signature.parameters.values() if option.name != "refresh"]
        command.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return command


for _name, _doc in COMMANDS.items():
    _command = _stage(_name)
    _command.__doc__ = f"{_doc}\n\nExample: [bold]swaymeter {_name} quickstart --relation capital[/bold]"
    stages.command(_name)(_command)
