"""The command line: `swaymeter run STUDY.yaml` and its parts."""

import logging
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.markup import escape

from data.errors import SwaymeterError
from flows.cli.annotate_commands import annotate
from flows.cli.data_commands import datasets
from flows.cli.options import Folder, Measures, Models, Relations, StudyFile, err, out, selection
from flows.cli.stage_commands import stages
from flows.plan import Plan
from flows.server.orchestrator import quiet

quiet()  # before anything imports Prefect

app = typer.Typer(
    help="How far a context sways a language model away from what it already believes, fact by fact.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Example: [bold]swaymeter run quickstart[/bold], then [bold]swaymeter status quickstart[/bold]",
)
app.add_typer(stages)
STOPPED = 130
GO_ON = "stopped; what was computed is kept, run the same command again to go on"


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
    from flows.cli.terminal import status_table
    from flows.status import cells

    plan = Plan.of(study, workspace, selection(relation, model, measure))
    listed = list(cells(plan))
    out.print(status_table(listed))
    counts = {state: sum(cell.state == state for cell in listed) for state in ("done", "failed", "missing")}
    out.print(
        ", ".join(f"{count} {state}" for state, count in counts.items()),
        f"in {escape(str(plan.workspace.root))}",
        soft_wrap=True,
    )


app.add_typer(datasets)
app.add_typer(annotate, name="annotate")


@app.command()
def doctor() -> None:
    """Say what is installed and what works: models, GPU, Prefect's API, DuckDB.

    Example: [bold]swaymeter doctor[/bold]
    """
    from flows.cli.doctor import checks

    broken = 0
    for check in checks():
        broken += not check.works
        mark = "[green]works [/green]" if check.works else "[red]broken[/red]"
        out.print(f"{mark}  {check.name:<16} {escape(check.seen)}", soft_wrap=True)
    if broken:
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
