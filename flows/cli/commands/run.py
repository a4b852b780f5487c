"""The commands `run`, `status` and `doctor`."""

import time
from collections.abc import Collection
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from swaymeter.data.errors import UsageError, WorkFailed
from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import err, out, print_line, print_product, warn
from swaymeter.flows.graph.stage import STAGES

if TYPE_CHECKING:
    from swaymeter.flows.api import Study  # takes long to import

runs = typer.Typer()


def run_study(
    selected: "Study", stages: Collection[str] = STAGES, *, traceback: bool = False, **options_: bool
) -> None:
    """Run the unfinished steps of some stages, and print the outcome; `options_` are options of `Study.execute`."""
    from swaymeter.flows.cli.terminal import TerminalProgress, log_to, summary

    began = time.monotonic()
    progress = TerminalProgress(out, selected.study.name)
    log_to(out, verbose=traceback)
    graph, failure = selected.execute(progress, stages=stages, on_wait=warn, starts_api=True, **options_)
    findings, took = selected.findings(graph) if "report" in stages else None, time.monotonic() - began
    summary(out, selected.description(graph), progress, took, selected.outputs(), err, findings=findings)
    if failure and not progress.failures:
        raise WorkFailed(failure)
    if failure:  # `summary` has printed the failures
        raise typer.Exit(WorkFailed.exit_code)
    if selected.study.thresholds and ("aggregate" in stages or "report" in stages):
        from swaymeter.flows.config.thresholds import refuse_unmet
        from swaymeter.flows.stages.thresholds import study_threshold_outcomes

        refuse_unmet(study_threshold_outcomes(selected.study, selected.workspace.database))


@runs.command()
def run(
    study: options.StudyPath,
    stage: options.Stages = None,
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
    """Run the missing, failed and changed steps of a study.

    Example: [bold]swaymeter run quickstart --stage fetch --stage build --relation capital[/bold]
    """
    from swaymeter.flows.api import Study

    stages = stage or STAGES
    if refresh and "fetch" not in stages:
        raise UsageError("--refresh needs the stage fetch; add --stage fetch, or leave --refresh out")
    selected = Study.load(study, workspace, relation, model, measure, runner)
    selected.check_models(stages)
    if not dry_run:
        run_study(selected, stages, force=force, refresh=refresh, offline=offline, wait=wait, traceback=traceback)
        return
    for line in selected.estimate(stages, force=force, refresh=refresh):
        print_line(line)


@runs.command()
def status(
    study: options.StudyPath,
    workspace: options.Folder = None,
    relation: options.Relations = None,
    model: options.Models = None,
    measure: options.Measures = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every step.")] = False,
    as_json: options.AsJson = False,
    traceback: options.Traceback = False,
) -> None:
    """Show which steps are done, missing, failed or damaged.

    The exit code is 1 if a step has failed or is damaged.

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


@runs.command()
def doctor(
    study: Annotated[str | None, typer.Argument(metavar="[STUDY]", help="Also the servers of this study.")] = None,
    traceback: options.Traceback = False,
) -> None:
    """Check the installation: models, GPU, Prefect's API, DuckDB.

    The exit code is 1 if a check fails. With a study, a dozen requests also probe each server that it names.

    Example: [bold]swaymeter doctor my-study.yaml[/bold]
    """
    from swaymeter.flows.cli.views import doctor as view
    from swaymeter.flows.config.study import read_study

    models = read_study(study).models if study else ()
    if not view.show(out, chain(view.checks(), view.servers(models))):
        raise typer.Exit(1)
