"""Home folder of a worker, in which it runs the flows of deployments: the variable SWAYMETER_HOME of the worker."""

import atexit
import os
import socket
import tempfile
from pathlib import Path

from swaymeter.data.errors import UsageError

HOME = "SWAYMETER_HOME"


def enter() -> dict[str, str]:
    """Return the home folder for the pull step of `prefect.yaml`; empty without one, which `check_home` refuses."""
    home = os.environ.get(HOME, "")
    return {"directory": home} if Path(home or os.devnull).is_dir() else {}


def check_home() -> None:
    """Refuse a run without a home folder, because its relative paths would lead into a temporary folder.

    Raises:
        UsageError: The worker has no SWAYMETER_HOME, or the folder does not exist.
    """
    from prefect.runtime import deployment

    home = os.environ.get(HOME, "")
    if deployment.id is None:
        return
    atexit.register(_mute)
    if Path(home or os.devnull).is_dir():
        return
    advice = f"start the worker with {HOME} set to the project's folder, such as {HOME}=$PWD"
    if home:
        raise UsageError(f"the folder {home}, which {HOME} names, does not exist on {socket.gethostname()}; {advice}")
    if Path.cwd().is_relative_to(Path(tempfile.gettempdir()).resolve()):
        raise UsageError(f"the worker on {socket.gethostname()} has no variable {HOME}; {advice}")


def _mute() -> None:
    """Close standard error at the end of the process, because Prefect's threads make DuckDB print leak reports."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
