"""Prefect's API is started before a study is read, where its workspace seems to have changed.

It takes longer to start than all that a command has to read and import. Nothing but time follows from the guess: what
is done is decided by the graph, and what is wrong with the study file is said by who reads it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from swaymeter.data.storage.workspace import Workspace
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.flows.server.api import Starting, is_named, temporary_api
from swaymeter.flows.study.places import folder_of, study_file

FOLLOWS = ("run", "aggregate", "report")
"""The commands that make something from the tables of a workspace."""


@contextmanager
def started_early(command: str, study: str, workspace: str | None) -> Iterator[Starting | None]:
    """A temporary API that need not answer yet, where the command will probably need one; it stops on leaving."""
    if command in FOLLOWS and not is_named() and _seems_changed(study, workspace):
        with temporary_api() as starting:
            yield starting
    else:
        yield None


def _seems_changed(study: str, workspace: str | None) -> bool:
    try:
        content = untrusted_yaml(text_of(study_file(study)))
        name, folder = content["name"], workspace or content.get("workspace")
        return Workspace(folder_of(folder, name), name).seems_changed()
    except Exception:
        return False
