"""A quantised GGUF file becomes a folder of safetensors once; later loads read the folder, verified by its manifest."""

import contextlib
import io
import json
import logging
from pathlib import Path
from typing import Any

from filelock import FileLock

from swaymeter.data.errors import ModelError, WorkspaceError
from swaymeter.data.storage.folders import replaced
from swaymeter.data.storage.sealed import json_object
from swaymeter.tasks.models.files.hub import cache_folder, sha256_of

_log = logging.getLogger(__name__)
_FORM = "1"  # raise it when the same GGUF file has to give another folder
_MANIFEST = "manifest.json"
_ADVICE = "set SWAYMETER_CACHE to another folder"


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
