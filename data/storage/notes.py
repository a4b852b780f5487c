"""Notes: small JSON files of a workspace.

A sealed note has a checksum, which detects every change. The note `HOLDER_NOTE` names the process that holds the lock.
"""

import json
import os
import shlex
import socket
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swaymeter.data.digests import open_file, sha256_of_json
from swaymeter.data.storage.writing import write_file

_CHECKSUM = "sha256"
LARGEST_NOTE = 2**26
"""The limit of the size of a note, in bytes. The largest notes are manifests, with a line for each file."""


def seal(content: Mapping[str, Any]) -> str:
    """Return the content as JSON with its checksum as a further key; `unseal` verifies the checksum."""
    return json.dumps({**content, _CHECKSUM: _checksum(content)}, indent=1)


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write the content with its checksum, whole or not at all; WorkspaceError if the file cannot be written."""
    write_file(path, seal(content))


def json_object(text: str | bytes) -> dict[str, Any]:
    """Return the object in a JSON text; ValueError for any other text."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("the text is not a JSON object")
    return content


def read_note(path: Path) -> bytes:
    """Return the bytes of a note.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is larger than `LARGEST_NOTE`.
    """
    # Python allocates all requested bytes first, so no more are requested than the file has.
    with open_file(path) as file:
        content = file.read(min(os.fstat(file.fileno()).st_size, LARGEST_NOTE) + 1)
    if len(content) > LARGEST_NOTE:
        raise ValueError(f"it has more than {LARGEST_NOTE // 2**20} MiB")
    return content


def unseal(text: str | bytes) -> dict[str, Any]:
    """Return the content of JSON that `seal` made; ValueError if the JSON has changed since."""
    content = json_object(text)
    if content.pop(_CHECKSUM, None) != _checksum(content):
        raise ValueError("its checksum does not match its content")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    return sha256_of_json(dict(content), sort_keys=True)


HOLDER_NOTE = ".holder.json"
"""The name of the file that says which process holds a workspace, for messages and to detect a lost lock."""
LONGEST_COMMAND = 200
"""Limit of the characters of a command in the note."""


def note_holder(root: Path) -> bytes:
    """Write the note that this process holds the workspace from now on, and return the note's bytes."""
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "command": command[:LONGEST_COMMAND],
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    note = json.dumps(holder)
    write_file(root / HOLDER_NOTE, note)
    return note.encode()


def describe_holder(root: Path) -> str:
    """Return a sentence on the process that holds the workspace; "another run" if the note cannot be read."""
    try:
        return _sentence(root, json_object(read_note(root / HOLDER_NOTE)))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return f"another run uses the workspace {root}"


def _sentence(root: Path, holder: Mapping[str, Any]) -> str:
    since = datetime.fromisoformat(holder["since"]).astimezone()
    return (
        f"process {int(holder['process'])} on {holder['host']} ({holder['command']}) "
        f"has used the workspace {root} since {since:%Y-%m-%d %H:%M:%S}"
    )
