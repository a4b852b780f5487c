"""Digests of files, verification of the hub's cache, and GGUF files converted into folders.

The hub's cache names a file by its digest: the SHA-256 of a large file, git's SHA-1 of a small file. Swaymeter's cache
lists the files that are verified, with their sizes and times of change. A GGUF file is converted once, into a folder.
The manifest of this folder has the digests by which later loads verify it.
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
from swaymeter.data.storage.writing import replacing_folder, write_file

_log = logging.getLogger(__name__)
_FORMAT_VERSION = "1"  # raise it when GGUF files must be converted again
_MANIFEST = "manifest.json"
_ADVICE = "set SWAYMETER_CACHE to another folder"
_OFFLINE = "HF_HUB_OFFLINE"
_IS_OFFLINE = os.environ.get(_OFFLINE, "").upper() in {"1", "ON", "YES", "TRUE"}  # the rule of huggingface_hub

State = tuple[int, int, int]
"""Size of a file in bytes, and its two times of change (mtime and ctime) in nanoseconds."""


def cache_folder() -> Path:
    """Return $SWAYMETER_CACHE, or ~/.cache/swaymeter."""
    folder_name = os.environ.get("SWAYMETER_CACHE")
    return Path(folder_name).expanduser() if folder_name else Path.home() / ".cache" / "swaymeter"


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file in hex, computed again only if the size or a time of change differs."""
    return digest_once(path, "sha256", _state(path))


def _state(path: Path) -> State:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def set_offline(offline: bool) -> None:
    """Forbid or allow requests to the hub in this process; HF_HUB_OFFLINE of the environment always forbids them."""
    offline = offline or _IS_OFFLINE
    os.environ[_OFFLINE] = str(int(offline))  # subprocesses inherit it
    if constants := sys.modules.get("huggingface_hub.constants"):  # the library reads the variable only once
        constants.HF_HUB_OFFLINE = offline  # type: ignore[attr-defined]


def snapshot_folder(hub_id: str, commit: str) -> Path:
    """Return the folder of the hub's cache for a model's files at a commit; the folder may be missing."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}" / "snapshots" / commit


def verify_snapshot(name: str, folder: Path) -> None:
    """Raise ModelError if a file of a snapshot does not match the hub's digest; files without a digest pass."""
    verified = cache_folder() / "verified.json"
    try:
        states: dict[str, list[int]] = json_object(verified.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        states = {}
    has_new_states = False
    for file in sorted(folder.rglob("*")):
        blob = file.resolve()
        if not blob.is_file() or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", blob.name):
            continue  # the name is no digest: on a system without symbolic links, files have their own names
        state = list(_state(blob))
        if states.get(str(blob)) == state:
            continue
        digest = sha256_of_file(blob) if len(blob.name) == 64 else git_sha1(blob.read_bytes())
        if digest != blob.name:
            raise ModelError(
                f"model {name!r}: the hub's cache is damaged: {file.name} does not have the digest that the hub gave; "
                f"delete {blob} so that it is downloaded again"
            )
        states[str(blob)], has_new_states = state, True
    if has_new_states:
        with contextlib.suppress(WorkspaceError):  # without this file, snapshots are verified again
            write_file(verified, json.dumps(states))


def convert_once(gguf: Path, digest: str) -> Path:
    """Convert a GGUF file into a folder, unless an earlier call has converted it.

    Args:
        gguf: the GGUF file.
        digest: the SHA-256 of the file.

    Returns:
        The folder with the weights in float32 and the tokenizer.

    Raises:
        ModelError: the file cannot be converted, or the cache cannot be written.
    """
    folder = conversion_folder(gguf, digest)
    if _damage(folder) is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / ".lock"):
            if damage := _damage(folder):  # another process may have converted the file meanwhile
                if folder.is_dir():
                    _log.warning("%s is damaged: %s; %s is converted again", folder, damage, gguf.name)
                else:
                    _log.info("converting %s to %s, which later runs use again", gguf.name, folder)
                _write_conversion(gguf, folder)
    except (OSError, WorkspaceError) as error:
        raise ModelError(f"the cache {folder.parent} cannot be written ({error}); {_ADVICE}") from error
    return folder


def conversion_folder(gguf: Path, digest: str) -> Path:
    """Return the folder for the conversion of a GGUF file with this SHA-256; the folder may be missing."""
    return cache_folder() / "models" / f"{gguf.stem.lower()}-{digest[:16]}-{_FORMAT_VERSION}"


def _write_conversion(gguf: Path, folder: Path) -> None:
    """Convert a GGUF file into a folder with a manifest; the folder appears only when it is complete."""
    # `lambda _: True`: any content of the folder may be replaced.
    with replacing_folder(folder, lambda _: True, "converted model", _ADVICE) as new:
        try:
            _convert(gguf, new)
        except Exception as error:
            raise ModelError(
                f"{gguf.name} cannot be converted to safetensors in {folder.parent} ({error}); name the folder or the "
                "hub id of a model in safetensors"
            ) from error
        digests = {file.name: sha256_of_file(file) for file in sorted(new.iterdir())}
        (new / _MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")


def _damage(folder: Path) -> str | None:
    try:
        digests = json_object((folder / _MANIFEST).read_text(encoding="utf-8"))
        files = {file.name: file for file in folder.iterdir() if file.name != _MANIFEST}
        if set(files) != set(digests):
            return "its files are not those of its manifest"
        changed = [name for name, file in files.items() if sha256_of_file(file) != digests[name]]
    except (OSError, ValueError) as error:
        return f"its manifest or its files cannot be read ({error})"
    return f"{', '.join(sorted(changed))} changed on the disk" if changed else None


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = str(gguf.parent)
    with contextlib.redirect_stderr(io.StringIO()):  # no setting turns these progress bars off
        model: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=gguf.name, dtype=torch.float32)
        # Without the next three lines, the model still claims to be quantised, and cannot be saved.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer: Any = AutoTokenizer.from_pretrained(source, gguf_file=gguf.name)
        tokenizer.save_pretrained(folder)
