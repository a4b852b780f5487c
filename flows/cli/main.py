"""The command line: the command `swaymeter`, its groups of commands, and its exit codes."""

import gc
import logging
import os
import sys
import traceback
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated

import typer
from rich.markup import escape

from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.flows.cli.commands.annotate import annotate
from swaymeter.flows.cli.commands.audits import audits
from swaymeter.flows.cli.commands.catalog import listing, study_files
from swaymeter.flows.cli.commands.cluster import cluster
from swaymeter.flows.cli.commands.comparisons import comparisons
from swaymeter.flows.cli.commands.datasets import datasets, exports
from swaymeter.flows.cli.commands.run import runs
from swaymeter.flows.cli.console import err, out, print_line
from swaymeter.flows.execution.interrupt import GO_ON, STOPPED, TERMINATED, end_when_interrupted
from swaymeter.flows.execution.threads import limit_threads
from swaymeter.flows.graph.stage import STAGES
from swaymeter.flows.server.settings import keep_quiet

keep_quiet()  # before anything imports Prefect
limit_threads()  # before anything imports torch
gc.set_threshold(500_000)  # with the default of 700, garbage collection takes an eighth of the time of imports

app = typer.Typer(
    help="How far a context sways a language model, fact by fact. Begin with [bold]swaymeter run quickstart[/bold]; "
    "[bold]swaymeter init[/bold] writes a study of your own.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for _group in (runs, audits, comparisons):
    app.add_typer(_group)
app.add_typer(annotate, name="annotate")
app.add_typer(exports, name="export")
app.add_typer(datasets)
app.add_typer(listing, name="list")
app.add_typer(study_files)
app.add_typer(cluster, name="cluster")

RENAMED: dict[str, str] = {
    **{stage: f"run --stage {stage}" for stage in STAGES},
    **{kind: f"list {kind}" for kind in ("measures", "relations", "models", "sources", "predicates")},
    "export-questions": "export questions",
    "label": "annotate passages",
    "schema": "init --schema",
}
"""Current name of a command, by its earlier name."""


def main() -> None:
    """Run the command `swaymeter`, and end the process without the interpreter's cleanup.

    During a cleanup, Prefect's threads would still have objects of DuckDB, and DuckDB's binding would print pages of
    leak reports.
    """
    for stream in (sys.stdout, sys.stderr):  # characters that the encoding lacks are printed as codes
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end_when_interrupted()
    logging.raiseExceptions = False  # a log that Prefect's API refuses must not print a traceback
    try:
        code = run_command()
    except Exception:  # a bug; `print_line` makes control characters of the traceback visible
        print_line(traceback.format_exc().rstrip(), err)
        code = 1
    logging.shutdown()
    with suppress(OSError):  # the reader of a pipe has ended
        sys.stdout.flush()
    os._exit(code)


def run_command() -> int:
    """Run the command of sys.argv, and return its exit code.

    The codes are 0, 1 (work failed), 2 (usage), 130 (Ctrl-C) and 143 (SIGTERM).
    """
    if "--offline" in sys.argv:
        os.environ["HF_HUB_OFFLINE"] = "1"  # before the import of the hub's client, which reads the variable
    try:
        if name := RENAMED.get(sys.argv[1] if sys.argv[1:] else ""):
            raise UsageError(f"`swaymeter {sys.argv[1]}` is now `swaymeter {name}`")
        app(standalone_mode=True)
    except SystemExit as ended:
        if ended.code in (STOPPED, TERMINATED):  # STOPPED is Typer's code for Ctrl-C
            err.print(GO_ON)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except SwaymeterError as error:
        if "--traceback" in sys.argv:
            err.print_exception()
        err.print(f"[red]error[/red]  {escape(str(error))}", soft_wrap=True)
        return error.exit_code
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        err.print(GO_ON)
        return STOPPED
    return 0


def _print_version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version  # imports email and zipfile

        out.print(f"swaymeter {version('swaymeter')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
