"""A quantised GGUF file becomes a folder of safetensors once; later loads read the folder, verified by its manifest.

The folder is written under a temporary name and renamed, so a folder with the final name is whole. One process at a
time converts; what a killed one left is removed by the next that looks.
"""

import contextlib
import io
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from swaymeter.data.errors import ModelError
from swaymeter.data.storage.sealed import json_object
from swaymeter.tasks.models.files.hub import cache_folder, sha256_of

_log = logging.getLogger(__name__)
_FORM = "1"  # raise it when the same GGUF file has to give another folder
_UNFINISHED = ".unfinished-"
_MANIFEST = "manifest.json"


def converted_folder(gguf: Path, digest: str) -> Path:
    """The folder with the float32 weights and the tokenizer of a GGUF file, made where it is missing or damaged.

    digest: the file's SHA-256 in hex. Raises ModelError where it cannot be converted, or the cache cannot be written.
    """
    folder = folder_of(gguf, digest)
    home = folder.parent
    if any(home.glob(f"{_UNFINISHED}*")):  # of a killed conversion, unless one is under way now
        with contextlib.suppress(Timeout, OSError), FileLock(home / ".lock", blocking=False):
            _remove_unfinished(home)
    if folder.is_dir() and _damage(folder) is None:
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / ".lock"):
            _remove_unfinished(home)
            _make(gguf, folder)
    except OSError as error:
        raise ModelError(
            f"the cache {home} cannot be written ({error}); set SWAYMETER_CACHE to another folder"
        ) from error
    return folder


def folder_of(gguf: Path, digest: str) -> Path:
    """Where the converted folder of a GGUF file with that SHA-256 lies, if it was converted."""
    return cache_folder() / "models" / f"{gguf.stem.lower()}-{digest[:16]}-{_FORM}"


def _make(gguf: Path, folder: Path) -> None:
    """Makes the folder, unless another process has made it meanwhile."""
    if folder.is_dir():
        damage = _damage(folder)
        if damage is None:
            return
        _log.warning("%s is damaged: %s; %s is converted again", folder, damage, gguf.name)
    else:
        _log.info("converting %s to %s, once", gguf.name, folder)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        _convert(gguf, unfinished)
        _seal(unfinished)
        if folder.exists():
            os.rename(folder, tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
        os.rename(unfinished, folder)
    except Exception as error:
        raise ModelError(f"{gguf.name} cannot be converted into {folder.parent}: {error}") from error
    finally:
        _remove_unfinished(folder.parent)


def _remove_unfinished(home: Path) -> None:
    for unfinished in home.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def _seal(folder: Path) -> None:
    """Writes the manifest of a folder's files, and all of them to the disk."""
    digests = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")
    for path in (*folder.iterdir(), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
