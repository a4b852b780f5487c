"""What every kind of model needs to be loaded: a device, a dtype, quiet libraries, and errors that say what to do.

torch and transformers are imported by the functions that need them: a plan asks for identities and dtypes alone.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data.errors import ModelError, UsageError
from tasks.models.identity import ModelIdentity

DTYPES = ("float32", "bfloat16", "float16")


def chosen_device(device: str) -> str:
    """The device that "auto" or a torch device name stands for, such as "cpu" or "cuda:0".

    Raises UsageError for a name that is none, ModelError when this machine has no such device.
    """
    if device == "cpu":
        return device
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise UsageError(f"device {device!r} is unknown; use auto, cpu, cuda or cuda:N") from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"device {device!r}: this machine has no CUDA device that torch can use; use cpu or auto")
    return device


def chosen_dtype(dtype: str, device: str) -> str:
    """The dtype's name; "auto" is float32 on a CPU and bfloat16 on a GPU. Raises UsageError for an unknown name."""
    if dtype == "auto":
        return "bfloat16" if device.startswith("cuda") else "float32"
    if dtype not in DTYPES:
        raise UsageError(f"dtype {dtype!r} is unknown; use auto, {', '.join(DTYPES)}")
    return dtype


def pretrained(identity: ModelIdentity, load: Callable[..., Any], *, folder: Path | None = None, **options: Any) -> Any:
    """What load, a from_pretrained of transformers, makes of the model; folder: read this one instead.

    Raises ModelError for whatever goes wrong.
    """
    quieten()
    if identity.kind == "hub":
        source, options = identity.location, {**options, "revision": identity.revision}
    else:
        source, options = str(folder or identity.location), {**options, "local_files_only": True}
    if identity.kind != "hub" and "dtype" in options:
        options["use_safetensors"] = True
    try:
        return load(source, trust_remote_code=False, **options)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"model {identity.name!r} cannot be loaded from {source}: {reason}") from error


def weights_options(dtype: str, device: str) -> dict[str, Any]:
    """The options with which from_pretrained puts the weights in that dtype on that device."""
    import torch

    return {"dtype": getattr(torch, dtype), **({} if device == "cpu" else {"device_map": {"": device}})}


def context_window(config: Any) -> int | None:
    """How many tokens a model can read, from its configuration; None where that does not say."""
    text = config.get_text_config()
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx", "seq_length"):
        length = getattr(text, name, None)
        if isinstance(length, int) and length > 0:
            return length
    return None


def quieten() -> None:
    """No progress bars and no warnings from the libraries: what goes wrong here is raised."""
    import transformers

    transformers.logging.set_verbosity(logging.ERROR)
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
