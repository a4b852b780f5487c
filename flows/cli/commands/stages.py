"""The commands about a study's steps: `swaymeter run` and its stages, `status`; and `doctor`."""

import inspect
import time
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from swaymeter.data.errors import WorkFailed
from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import err, out, print_line, print_product, warn

if TYPE_CHECKING:
    from swaymeter.flows.api import Study  # takes long to import

stages = typer.Typer()

COMMANDS = {
    "run": "Fetch, build, score, aggregate and report; again = only what is missing, failed or changed.",
    "fetch": "Fetch facts and questions from their sources.",
    "build": "Write queries, contexts and questions from what was fetched.",
    "score": "Run the models and compute the measures.",
    "aggregate": "Load what is done into the database and test it.",
    "report": "Draw the page, its figures and tables.",
}

ONLY_OF = {"refresh": ("run", "fetch"), "runner": ("run", "fetch", "score")}
"""The commands that have an option: the others fetch nothing, or ask no model."""


def carry_out(name: str, selected: "Study", *, traceback: bool = False, **how: bool) -> None:
    """Runs what of a study is not done, and shows what came of it; name: `run` or a stage; how: as `execute` has it."""
    from swaymeter.flows.cli.terminal import TerminalProgress, log_to, summary

    began = time.monotonic()
    progress = TerminalProgress(out)
    log_to(out, verbose=traceback)
    graph, message = selected.execute(name, progress, waiting=warn, **how)
    found, took = selected.findings(graph) if name in ("run", "report") else None, time.monotonic() - began
    summary(out, selected.description(graph), progress, took, selected.outputs(), err, findings=found)
    if message and not progress.failures:
        raise WorkFailed(message)
    if message:
        raise typer.Exit(WorkFailed.exit_code)
    if selected.study.thresholds and name in ("run", "aggregate", "report"):
        from swaymeter.flows.stages.thresholds import judge_thresholds
        from swaymeter.flows.study.thresholds import refuse_unmet

        refuse_unmet(judge_thresholds(selected.study, selected.workspace.database))


def _stage(name: str) -> Callable[..., None]:
    def command(
        study: options.StudyFile,
        workspace: options.Folder = None,
        relation: options.Relations = None,
        model: options.Models = None,
        measure: options.Measures = None,
        force: options.Force = False,
        refresh: options.Refresh = False,
        offline: options.Offline = False,
        runner: options.Runner = None,
        wait: options.Wait = False,
        dry_run: options.DryRun = False,
        traceback: options.Traceback = False,
    ) -> None:
        from swaymeter.flows.api import Study

        selected = Study.load(study, workspace, relation, model, measure, runner)
        selected.check_models(name)
        if not dry_run:
            carry_out(name, selected, force=force, refresh=refresh, offline=offline, wait=wait, traceback=traceback)
            return
        for line in selected.estimate(name, force=force, refresh=refresh):
            print_line(line)

    signature = inspect.signature(command)
    without = {option for option, stages in ONLY_OF.items() if name not in stages}
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name not in without]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


for _name, _doc in COMMANDS.items():
    _command = _stage(_name)
    _command.__doc__ = f"{_doc}\n\nExample: [bold]swaymeter {_name} quickstart --relation capital[/bold]"
    stages.command(_name)(_command)


@stages.command()
def status(
    study: options.StudyFile,
    workspace: options.Folder = None,
    relation: options.Relations = None,
    model: options.Models = None,
    measure: options.Measures = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every step, not stages and relations.")] = False,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Show which steps are done, missing, failed (and why) or damaged; exit code 1 where any failed or is damaged.

    Example: [bold]swaymeter status quickstart --measure persuasion[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.cli.views import status as view

    selected = Study.load(study, workspace, relation, model, measure)
    rows, root = selected.rows(), selected.workspace.root
    if as_json:
        print_product(view.as_json(rows, root))
    else:
        view.show(out, rows, root, everything=everything)
    if view.is_broken(rows):
        raise typer.Exit(1)


@stages.command()
def doctor(
    study: Annotated[str | None, typer.Argument(metavar="[STUDY]", help="Also the servers of this study.")] = None,
    traceback: options.Traceback = False,
) -> None:
    """Show what is installed and what works: models, GPU, Prefect's API, DuckDB; exit code 1 where anything does not.

    With a study, also what each server that it names can give: a dozen requests find that out.

    Example: [bold]swaymeter doctor my-study.yaml[/bold]
    """
    from swaymeter.flows.cli.views import doctor as view
    from swaymeter.flows.study.reading import read_study

    models = read_study(study).models if study else ()
    if not view.show(out, chain(view.checks(), view.servers(models))):
        raise typer.Exit(1)
