"""Digests of files as they are now, the hub's cache held against them, and GGUF files converted into folders.

The cache names the content of a file by the hub's digest: the SHA-256 of a large file, git's SHA-1 of another. What was
verified is remembered in our own cache by path, size and times of change. A GGUF file is converted once; later loads
read its folder, verified by its manifest.
"""

import contextlib
import io
import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from filelock import FileLock

from swaymeter.data.digests import digest_once, git_sha1
from swaymeter.data.errors import ModelError, WorkspaceError
from swaymeter.data.storage.notes import json_object
from swaymeter.data.storage.writing import replaced, write_file

_log = logging.getLogger(__name__)
_FORM = "1"  # raise it when the same GGUF file has to give another folder
_MANIFEST = "manifest.json"
_ADVICE = "set SWAYMETER_CACHE to another folder"
_OFFLINE = "HF_HUB_OFFLINE"
_IS_OFFLINE = os.environ.get(_OFFLINE, "").upper() in {"1", "ON", "YES", "TRUE"}  # as the hub reads it

State = tuple[int, int, int]


def cache_folder() -> Path:
    """$SWAYMETER_CACHE, else ~/.cache/swaymeter."""
    chosen = os.environ.get("SWAYMETER_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "swaymeter"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hex; remembered for as long as its size and times of change stay the same."""
    return digest_once(path, "sha256", _state(path))


def _state(path: Path) -> State:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


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
    verified = cache_folder() / "verified.json"
    try:
        known: dict[str, list[int]] = json_object(verified.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    is_new = False
    for file in sorted(folder.rglob("*")):
        blob = file.resolve()
        if not blob.is_file() or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", blob.name):
            continue  # a system without symbolic links has no blobs
        state = list(_state(blob))
        if known.get(str(blob)) == state:
            continue
        if (sha256_of(blob) if len(blob.name) == 64 else git_sha1(blob.read_bytes())) != blob.name:
            raise ModelError(
                f"model {name!r}: the hub's cache is damaged: {file.name} does not have the digest that the hub gave; "
                f"delete {blob} so that it is downloaded again"
            )
        known[str(blob)], is_new = state, True
    if is_new:  # where it cannot be written, they are verified again
        with contextlib.suppress(WorkspaceError):
            write_file(verified, json.dumps(known))


def converted_folder(gguf: Path, digest: str) -> Path:
    """The folder with the float32 weights and tokenizer of a GGUF file; digest: its SHA-256. Raises ModelError."""
    folder = folder_of(gguf, digest)
    if _damage(folder) is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / ".lock"):
            if damage := _damage(folder):  # else another process has made it meanwhile
                if folder.is_dir():
                    _log.warning("%s is damaged: %s; %s is converted again", folder, damage, gguf.name)
                else:
                    _log.info("converting %s to %s, once", gguf.name, folder)
                _make(gguf, folder)
    except (OSError, WorkspaceError) as error:
        raise ModelError(f"the cache {folder.parent} cannot be written ({error}); {_ADVICE}") from error
    return folder


def folder_of(gguf: Path, digest: str) -> Path:
    """Where the converted folder of a GGUF file with that SHA-256 lies, if it was converted."""
    return cache_folder() / "models" / f"{gguf.stem.lower()}-{digest[:16]}-{_FORM}"


def _make(gguf: Path, folder: Path) -> None:
    with replaced(folder, lambda _: True, "converted model", _ADVICE) as new:
        try:
            _convert(gguf, new)
        except Exception as error:
            raise ModelError(f"{gguf.name} cannot be converted into {folder.parent}: {error}") from error
        digests = {file.name: sha256_of(file) for file in sorted(new.iterdir())}
        (new / _MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")


def _damage(folder: Path) -> str | None:
    """What is wrong with a sealed folder; None where its files are those of its manifest."""
    try:
        digests = json_object((folder / _MANIFEST).read_text(encoding="utf-8"))
        files = {file.name: file for file in folder.iterdir() if file.name != _MANIFEST}
        if set(files) != set(digests):
            return "its files are not those of its manifest"
        changed = [name for name, file in files.items() if sha256_of(file) != digests[name]]
    except (OSError, ValueError) as error:
        return f"its manifest or its files cannot be read ({error})"
    return f"{', '.join(sorted(changed))} changed on the disk" if changed else None


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = str(gguf.parent)
    with contextlib.redirect_stderr(io.StringIO()):  # progress bars that no setting turns off
        model: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=gguf.name, dtype=torch.float32)
        # Without these two, saving is refused: the model still believes that it is quantised.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer: Any = AutoTokenizer.from_pretrained(source, gguf_file=gguf.name)
        tokenizer.save_pretrained(folder)
