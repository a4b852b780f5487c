"""What the hub's cache holds of a model, held against the digests that the hub gave.

The cache names the content of a file by the hub's digest of it: the SHA-256 of a large file, git's SHA-1 of another.
Large files take minutes to read, so what was verified is remembered in our own cache by path, size and times of change.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from swaymeter.data.errors import ModelError
from swaymeter.data.storage.sealed import json_object
from swaymeter.tasks.models.files.digests import cache_folder, file_state, git_sha1_of, sha256_of

_HASHES = {40: git_sha1_of, 64: sha256_of}
_OFFLINE = "HF_HUB_OFFLINE"
_IS_OFFLINE = os.environ.get(_OFFLINE, "").upper() in {"1", "ON", "YES", "TRUE"}  # as the hub reads it


def leave_alone(offline: bool) -> None:
    """Whether the hub is not asked from now on in this process, where its environment does not say so for all of it."""
    offline = offline or _IS_OFFLINE
    os.environ[_OFFLINE] = str(int(offline))  # of processes that it starts, too
    if constants := sys.modules.get("huggingface_hub.constants"):  # it looks at the variable only once
        constants.HF_HUB_OFFLINE = offline  # type: ignore[attr-defined]


def snapshot_folder(hub_id: str, commit: str) -> Path:
    """Where the hub's cache keeps a model's files at a commit; they need not be there yet."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}" / "snapshots" / commit


def verify_snapshot(name: str, folder: Path) -> None:
    """Raises ModelError where a file of a snapshot does not have the digest that the hub gave, if that is known."""
    known = _verified()
    before = dict(known)
    for file in sorted(folder.rglob("*")):
        blob = file.resolve()
        if not blob.is_file() or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", blob.name):
            continue  # a system without symbolic links has no blobs
        state = list(file_state(blob))
        if known.get(str(blob)) != state and _HASHES[len(blob.name)](blob) != blob.name:
            raise ModelError(
                f"model {name!r}: the hub's cache is damaged: {file.name} does not have the digest that the hub gave; "
                f"delete {blob} so that it is downloaded again"
            )
        known[str(blob)] = state
    if known != before:
        _remember(known)


def _verified() -> dict[str, list[int]]:
    try:
        return json_object((cache_folder() / "verified.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _remember(known: dict[str, list[int]]) -> None:
    with contextlib.suppress(OSError):  # then they are verified again
        cache_folder().mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".verified-", dir=cache_folder())
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(name, cache_folder() / "verified.json")
