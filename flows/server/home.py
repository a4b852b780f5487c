"""Home folder: the folder in which a Prefect worker runs deployments, named by the variable SWAYMETER_HOME."""

import atexit
import os
import socket
import tempfile
from pathlib import Path

from swaymeter.data.errors import UsageError

HOME = "SWAYMETER_HOME"


def enter() -> dict[str, str]:
    """Return {"directory": home folder} for the pull step of `prefect.yaml`, so that Prefect enters this folder.

    Without a home folder the result is {}, and `check_home` later refuses the run.
    """
    home = os.environ.get(HOME, "")
    return {"directory": home} if Path(home or os.devnull).is_dir() else {}  # Path("") would be the current folder


def check_home() -> None:
    """Refuse the run of a deployment without a home folder: relative paths would lead into a temporary folder.

    Raises:
        UsageError: The home folder does not exist. Or no variable names it, and the worker runs the deployment in a
            temporary folder.
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
        raise UsageError(f"the worker on {socket.gethostname()} has no environment variable {HOME}; {advice}")


def _mute() -> None:
    """Discard standard error at the end of the process, because Prefect's threads make DuckDB print leak reports."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
