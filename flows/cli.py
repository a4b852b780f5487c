"""The command line: `swaymeter run STUDY.yaml` and its parts."""

import logging
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from data.errors import SwaymeterError, WorkFailed
from flows.orchestrator import orchestrator, quiet
from flows.plan import Plan, Selection

quiet()  # before anything imports Prefect

app = typer.Typer(
    help="How far a context sways a language model away from what it already believes, fact by fact.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Example: [bold]swaymeter run quickstart[/bold], then [bold]swaymeter status quickstart[/bold]",
)
out = Console()
err = Console(stderr=True)
STOPPED = 130
GO_ON = "stopped; what was computed is kept, run the same command again to go on"

StudyFile = Annotated[str, typer.Argument(metavar="STUDY", help="A study's YAML file, or the name of a bundled one.")]
Folder = Annotated[str | None, typer.Option("--workspace", help="The folder of the study's files.")]
Relations = Annotated[list[str] | None, typer.Option("--relation", help="Only this relation; may be repeated.")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Only this model; may be repeated.")]
Measures = Annotated[list[str] | None, typer.Option("--measure", help="Only this measure; may be repeated.")]
Force = Annotated[bool, typer.Option("--force", help="Do it again, also what is done.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network: no hub, no downloads.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="On an error, show where in the code it arose.")]


def main() -> None:
    """The entry point of the command `swaymeter`.

    Prefect's threads live on while the interpreter ends, and DuckDB's binding then prints pages about objects they
    hold; all is written and sent by now, so the process ends at once.
    """
    code = _exit_code()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _exit_code() -> int:
    if "--offline" in sys.argv:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        app(standalone_mode=True)
    except SystemExit as ended:
        if ended.code == STOPPED:  # Typer makes this of Ctrl-C, without a word
            err.print(GO_ON)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except SwaymeterError as error:
        if "--traceback" in sys.argv:
            err.print_exception()
        err.print(f"[red]error[/red]  {escape(str(error))}", soft_wrap=True)
        return error.exit_code
    except KeyboardInterrupt:
        err.print(GO_ON)
        return STOPPED
    return 0


def _say_version(asked: bool) -> None:
    if asked:
        out.print(f"swaymeter {version('swaymeter')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and end.")
    ] = False,
) -> None:
    pass


def _stage(name: str, doc: str) -> Callable[..., None]:
    def command(
        study: StudyFile,
        workspace: Folder = None,
        relation: Relations = None,
        model: Models = None,
        measure: Measures = None,
        force: Force = False,
        offline: Offline = False,
        dry_run: DryRun = False,
        traceback: Traceback = False,
    ) -> None:
        only = Selection(tuple(relation or ()), tuple(model or ()), tuple(measure or ()))
        plan = Plan.of(study, workspace, only)
        if name in ("run", "score"):
            plan.check_models()
        if dry_run:
            _say_what_would_be_done(plan, force)
            return
        _conduct(name, plan, study, force, offline, traceback)

    command.__doc__ = f"{doc}\n\nExample: [bold]swaymeter {name} quickstart --relation capital[/bold]"
    return command


COMMANDS = {
    "run": "Fetch, build, score, aggregate and report; again = only what is missing, failed or changed.",
    "fetch": "Bring facts and questions from their sources.",
    "build": "Write queries, contexts and questions from what was fetched.",
    "score": "Ask the models and compute the measures.",
    "aggregate": "Load what is done into the database and test it.",
    "report": "Draw the page, its figures and tables.",
}
for _name, _doc in COMMANDS.items():
    app.command(_name)(_stage(_name, _doc))


@app.command()
def status(
    study: StudyFile,
    workspace: Folder = None,
    relation: Relations = None,
    model: Models = None,
    measure: Measures = None,
) -> None:
    """Say what is done, failed (and why) or missing: model x relation x measure.

    Example: [bold]swaymeter status quickstart --measure persuasion[/bold]
    """
    from flows.status import cells
    from flows.terminal import status_table

    plan = Plan.of(study, workspace, Selection(tuple(relation or ()), tuple(model or ()), tuple(measure or ())))
    listed = list(cells(plan))
    out.print(status_table(listed))
    counts = {state: sum(cell.state == state for cell in listed) for state in ("done", "failed", "missing")}
    out.print(
        ", ".join(f"{count} {state}" for state, count in counts.items()),
        f"in {escape(str(plan.workspace.root))}",
        soft_wrap=True,
    )


@app.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A workspace with fetched facts, or a yago_qec.json.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one, such as that of a later fetch.")],
    limit: Annotated[int, typer.Option("--limit", min=0, help="Single changes that are shown of each relation.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Say all of it, as JSON on standard output.")] = False,
    traceback: Traceback = False,
) -> None:
    """Say which facts were added, gone or changed from A to B; exit code 1 where any were, 0 where none.

    Example: [bold]swaymeter diff workspaces/march workspaces/april[/bold]
    """
    from flows import diff

    found = diff.compare(a, b)
    for warning in (*found.old.warnings, *found.new.warnings):
        err.print(f"[yellow]warning[/yellow]  {escape(warning)}", soft_wrap=True)
    if as_json:
        typer.echo(diff.as_json(found))
    else:
        diff.show(out, found, limit=limit)
    if found.differs:
        raise typer.Exit(1)


@app.command()
def export(
    study: StudyFile,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE where it is there already.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write a study's facts and invented names in the layout of measureLM's yago_qec.json.

    Example: [bold]swaymeter export quickstart yago_qec.json[/bold]
    """
    from flows.export import export

    exported = export(Plan.of(study, workspace, Selection(tuple(relation or ()))), file, force=force)
    if exported.left_out:
        said = f"left out, since YAGO has no predicate for them: {', '.join(exported.left_out)}"
        err.print(f"[yellow]warning[/yellow]  {said}", soft_wrap=True)
    facts = sum(exported.facts.values())
    out.print(escape(f"{file}: {facts} facts of {len(exported.facts)} relations"), soft_wrap=True)


@app.command()
def predicates(
    study: StudyFile, workspace: Folder = None, offline: Offline = False, traceback: Traceback = False
) -> None:
    """List the predicates of the graph that a study's facts come from, and the catalog's relations that ask for them.

    Example: [bold]swaymeter predicates yago[/bold]
    """
    from flows import predicates

    predicates.show(out, predicates.of_graph(Plan.of(study, workspace), offline=offline))


@app.command()
def doctor() -> None:
    """Say what is installed and what works: models, GPU, Prefect's API, DuckDB.

    Example: [bold]swaymeter doctor[/bold]
    """
    from flows.doctor import checks

    broken = 0
    for check in checks():
        broken += not check.works
        mark = "[green]works [/green]" if check.works else "[red]broken[/red]"
        out.print(f"{mark}  {check.name:<16} {escape(check.seen)}", soft_wrap=True)
    if broken:
        raise typer.Exit(1)


def _conduct(name: str, plan: Plan, study: str, force: bool, offline: bool, traceback: bool) -> None:
    from flows.terminal import TerminalWatcher, log_to, summary

    started = time.monotonic()
    watcher = TerminalWatcher(out)
    log_to(out, verbose=traceback)
    with plan.workspace.conducted(), orchestrator(meanwhile=_import_flows):
        flows = _import_flows()
        flows.watch(watcher)
        with watcher.progress:
            only = [list(names) or None for names in (plan.only.relations, plan.only.models, plan.only.measures)]
            state = flows.FLOWS[name](study, str(plan.workspace.root), *only, force, offline, return_state=True)
    summary(out, plan.whole, watcher, time.monotonic() - started)
    if state.is_completed():
        return
    if not watcher.failures:
        problem = state.result(raise_on_failure=False)
        raise problem if isinstance(problem, SwaymeterError) else WorkFailed(state.message or f"{name} failed")
    raise typer.Exit(WorkFailed.exit_code)


def _import_flows() -> Any:
    from flows import conduct  # Prefect takes seconds to import, and the API to start: both at once

    return conduct


def _say_what_would_be_done(plan: Plan, force: bool) -> None:
    from flows.dry_run import estimate

    for line in estimate(plan, force=force):
        out.print(escape(line), soft_wrap=True)


if __name__ == "__main__":
    main()
