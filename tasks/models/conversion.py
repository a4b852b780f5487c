"""A quantised GGUF file becomes a folder of safetensors once; later loads read the folder.

The folder lies in $SWAYMETER_CACHE, else ~/.cache/swaymeter. It is written under a temporary name and renamed, so a
folder with the final name is whole; of two processes that convert at once, the first to finish wins.
"""

import contextlib
import errno
import io
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from data.errors import ModelError

_log = logging.getLogger(__name__)
_FORM = "1"  # raise it when the same GGUF file has to give another folder


def cache_folder() -> Path:
    """Where converted models are kept."""
    chosen = os.environ.get("SWAYMETER_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "swaymeter"


def converted_folder(gguf: Path, digest: str) -> Path:
    """The folder with the float32 weights and the tokenizer of a GGUF file, made if it is not there.

    gguf: the file; digest: its SHA-256. Raises ModelError when it cannot be converted or the cache not be written.
    """
    home = cache_folder() / "models"
    folder = home / f"{gguf.stem.lower()}-{digest[:16]}-{_FORM}"
    if (folder / "config.json").is_file():
        return folder
    _log.info("converting %s to %s, once", gguf.name, folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=home))
    except OSError as error:
        raise ModelError(
            f"the cache {home} cannot be written ({error}); set SWAYMETER_CACHE to another folder"
        ) from error
    try:
        _convert(gguf, unfinished)
        _rename(unfinished, folder)
    except Exception as error:
        raise ModelError(f"{gguf.name} cannot be converted into {home}: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = str(gguf.parent)
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar that no setting turns off
        model: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=gguf.name, dtype=torch.float32)
    # Without these two, saving is refused: the model still believes that it is quantised.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(source, gguf_file=gguf.name)
    tokenizer.save_pretrained(folder)
    for file in folder.iterdir():
        with open(file, "rb") as written:
            os.fsync(written.fileno())


def _rename(unfinished: Path, folder: Path) -> None:
    try:
        os.rename(unfinished, folder)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
