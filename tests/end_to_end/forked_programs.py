"""Programs for forked processes, whose parent has imported all modules, because imports take long.

In the command `swaymeter`, a chunk has eight queries, so that a study of seconds has several chunks. Figures are empty
pictures, because drawing takes as long as all other steps together.
"""

import faulthandler
import gc
import importlib
import os
import runpy
import signal
import sys
from collections.abc import Callable, Mapping

PRELOAD = "SWAYMETER_PRELOAD"
"""Environment variable of the process from which others are forked."""

FIXED = {"HF_HUB_OFFLINE": "1", "COLUMNS": "400", "DO_NOT_TRACK": "1"}
"""Environment variables that libraries read on import."""


def use_small_chunks() -> None:
    from swaymeter.tasks.measures import measure

    measure.LEAST_QUERIES, measure.LEAST_PROMPTS = 8, 1


def _use_empty_figures() -> None:
    from swaymeter.reports import report
    from swaymeter.reports.figures.rendering import Pictures

    report.rendered = lambda drawn, limits: Pictures("<svg></svg>", b"<svg></svg>", b"")  # type: ignore[attr-defined]


def _become(command: list[str], environment: Mapping[str, str], output: str) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = command
    os.environ.clear()
    os.environ.update(environment)
    from prefect.context import refresh_global_settings_context

    from swaymeter.flows.server.settings import keep_quiet

    keep_quiet()
    refresh_global_settings_context()  # otherwise Prefect ignores the API in the environment and starts its own


def script(arguments: list[str], environment: Mapping[str, str], output: str) -> None:
    """Become the script that is the first argument."""
    _become(arguments, environment, output)
    _use_empty_figures()
    runpy.run_path(arguments[0], run_name="__main__")


def prefect(arguments: list[str], environment: Mapping[str, str], output: str) -> None:
    """Become the command `prefect`."""
    _become(["prefect", *arguments], environment, output)
    from prefect.cli import app

    app()


def swaymeter(
    arguments: list[str], environment: Mapping[str, str], output: str, before: Callable[[], None] | None = None
) -> None:
    """Become the command `swaymeter`.

    Args:
        arguments: the arguments of the command line.
        environment: all environment variables.
        output: the file for both output streams.
        before: a function that is called before the command.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt of this preparation just ends the process
    _become(["swaymeter", *arguments], environment, output)
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # shows where a command hangs
    from swaymeter.flows.cli.main import main

    use_small_chunks()
    _use_empty_figures()
    signal.signal(signal.SIGINT, handler)
    if before:
        before()
    main()


if os.environ.get(PRELOAD):
    os.environ.update(FIXED)
    for name in (
        "swaymeter.flows.cli.main",
        "swaymeter.flows.api",
        "swaymeter.tasks.statistics.changes",
        "swaymeter.reports.changes",
        "swaymeter.flows.cli.commands.annotate",
        "swaymeter.flows.study",
        "swaymeter.flows.datasets.annotate",
        "swaymeter.flows.server.api",
        "swaymeter.tasks.measures.stored_chunks",
        "swaymeter.tasks.models",
        "swaymeter.tasks.models.pretrained",
        "swaymeter.tasks.models.embedder",
        "swaymeter.reports.report",
        "swaymeter.reports.figures.rendering",
        "swaymeter.tasks.scoring.accuracy",
        "swaymeter.data.warehouse.loading",
        "fastapi",
        "scipy.stats",
        "transformers.models.llama.modeling_llama",
        "transformers.models.bert.modeling_bert",
    ):
        importlib.import_module(name)
    gc.freeze()  # keeps the garbage collection of each command out of these modules

if __name__ == "__main__":  # a new process, with figures
    from swaymeter.flows.cli.main import main

    use_small_chunks()
    main()
