"""The command `swaymeter` in a process that is forked from one that has imported all of it: each would take long to.

Chunks hold eight queries, so that a study that is over in seconds has several of them, and a figure is an empty
picture: drawing them takes as long as everything else together.
"""

import faulthandler
import gc
import importlib
import os
import runpy
import signal
import sys
from collections.abc import Callable, Mapping

SIGN = "SWAYMETER_PRELOAD"
"""A variable that says that this is the process from which others are forked."""

FIXED = {"HF_HUB_OFFLINE": "1", "COLUMNS": "400", "DO_NOT_TRACK": "1"}
"""What libraries read once, when they are imported."""


def in_small_chunks() -> None:
    """Makes chunks small."""
    from swaymeter.tasks.measures import measure

    measure.LEAST_QUERIES, measure.LEAST_PROMPTS = 8, 1


def _with_empty_figures() -> None:
    from swaymeter.reports import report
    from swaymeter.reports.figures.rendering import Pictures

    report.rendered = lambda drawn, limits: Pictures("<svg></svg>", b"<svg></svg>", b"")  # type: ignore[attr-defined]


def _become(command: list[str], environment: Mapping[str, str], said: str) -> None:
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = command
    os.environ.clear()
    os.environ.update(environment)
    from prefect.context import refresh_global_settings_context

    from swaymeter.flows.server.settings import keep_quiet

    keep_quiet()
    refresh_global_settings_context()  # else the API that the environment names is not used, and Prefect starts its own


def script(arguments: list[str], environment: Mapping[str, str], said: str, before: None) -> None:
    """Becomes the script that is the first argument, with the others; the rest as `swaymeter` below."""
    _become(arguments, environment, said)
    _with_empty_figures()
    runpy.run_path(arguments[0], run_name="__main__")


def prefect(arguments: list[str], environment: Mapping[str, str], said: str, before: None) -> None:
    """Become the command `prefect`."""
    _become(["prefect", *arguments], environment, said)
    from prefect.cli import app

    app()


def swaymeter(
    arguments: list[str], environment: Mapping[str, str], said: str, before: Callable[[], None] | None
) -> None:
    """Becomes the command.

    Args:
        arguments: of the command line.
        environment: all of it.
        said: the file of what it writes on both outputs.
        before: is called first of all.
    """
    interrupted = signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is done here is none of the command's
    _become(["swaymeter", *arguments], environment, said)
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # of a command that hangs
    from swaymeter.flows.cli.main import main

    in_small_chunks()
    _with_empty_figures()
    signal.signal(signal.SIGINT, interrupted)
    if before:
        before()
    main()


if os.environ.get(SIGN):
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
    gc.freeze()  # else each command looks for garbage among all of these modules

if __name__ == "__main__":  # a real process, with figures
    from swaymeter.flows.cli.main import main

    in_small_chunks()
    main()
