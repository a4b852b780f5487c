"""Who holds a workspace: a note beside its lock, for the message to others and for nothing else."""

import json
import os
import shlex
import socket
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swaymeter.data.storage.files import written_whole
from swaymeter.data.storage.sealed import json_object

NAME = ".holder.json"
LONGEST_COMMAND = 200
"""Characters of a command that are noted."""


def note_holder(root: Path) -> None:
    """Notes that this process holds the workspace from now on."""
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "command": command[:LONGEST_COMMAND],
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with written_whole(root / NAME) as temporary:
        temporary.write_text(json.dumps(holder), encoding="utf-8")


def describe_holder(root: Path) -> str:
    """Who uses the workspace since when, in a sentence; "another run" where no note of it can be read."""
    try:
        return _sentence(root, json_object((root / NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return f"another run uses the workspace {root}"


def _sentence(root: Path, holder: Mapping[str, Any]) -> str:
    since = datetime.fromisoformat(holder["since"]).astimezone()
    return (
        f"process {int(holder['process'])} on {holder['host']} ({holder['command']}) "
        f"uses the workspace {root} since {since:%Y-%m-%d %H:%M:%S}"
    )
