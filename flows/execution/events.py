"""An event of Prefect's starts work once: its server may answer one twice, such as where its database is busy."""

from contextlib import suppress
from pathlib import Path

from swaymeter.data.storage.files import written_whole
from swaymeter.data.storage.sealed import sealed, unsealed
from swaymeter.data.storage.workspace import Workspace

KEPT = 100
"""Events that are remembered: a second run for one comes within minutes."""


def is_first_run(workspace: Workspace, event: str, run: str) -> bool:
    """Whether no other run has begun for an event in a workspace, which this one holds; the run is noted."""
    file = events_of(workspace)
    noted: dict[str, str] = {}
    with suppress(OSError, ValueError):  # without the note what failed is tried once more
        noted = unsealed(file.read_bytes())
    if noted.setdefault(event, run) != run:  # a run that is retried is the same one
        return False
    with written_whole(file) as temporary:
        temporary.write_text(sealed(dict([*noted.items()][-KEPT:])), encoding="utf-8")
    return True


def events_of(workspace: Workspace) -> Path:
    """The file of the events for which a run has begun, with the ids of the runs."""
    return workspace.root / "events.json"
