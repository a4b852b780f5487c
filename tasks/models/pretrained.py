"""Loading of every kind of model: device, dtype, and errors with a remedy, without the log lines of libraries.

In the dtypes 8bit (LLM.int8) and 4bit (NF4), bitsandbytes quantises the weights of linear layers, on CUDA only; all
other weights are then in bfloat16. The plan of a run needs neither torch nor transformers, so functions import them.
"""

import functools
import gc
import importlib.util
import logging
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

from swaymeter.data.errors import ModelError, UsageError, first_line
from swaymeter.data.storage.notes import json_object
from swaymeter.tasks.models.files.hub import snapshot_folder, verify_snapshot
from swaymeter.tasks.models.files.identity import ModelIdentity, check_index

QUANTISED = {"8bit": "Linear8bitLt", "4bit": "Linear4bit"}  # dtypes, and the classes of their layers in bitsandbytes
DTYPES = ("float32", "bfloat16", "float16", *QUANTISED)
BALANCED = "balanced"
"""The device of a model that is spread over all GPUs."""

Load = TypeVar("Load", bound=Callable[..., Any])


_cached: list[Any] = []
"""The functions whose caches `forget_models` clears."""


def load_once(load: Load) -> Load:
    """Decorate `load`: cache its result until `forget_models`, and let one thread load at a time."""
    lock = threading.Lock()
    return _once(load, lambda arguments: lock)


def once_per_arguments(find: Load) -> Load:
    """Decorate `find`: cache its results until `forget_models`; threads with the same arguments wait for each other."""
    locks: dict[Any, threading.Lock] = {}
    return _once(find, lambda arguments: locks.setdefault(arguments, threading.Lock()))


def _once(load: Load, lock_of: Callable[[Any], threading.Lock]) -> Load:
    """Return `load` with a cache; the lock that `lock_of` gives for the arguments is held during a call."""
    cached_load = functools.cache(load)
    _cached.append(cached_load)

    def once(*arguments: Any) -> Any:
        with lock_of(arguments):
            return cached_load(*arguments)

    return cast("Load", once)


def forget_models() -> None:
    """Drop all models that this process has loaded; a model without another reference leaves the memory."""
    # gc.collect also frees a model whose loading failed. It takes 0.2 s.
    has_begun = any(load.cache_info().misses for load in _cached)
    for load in _cached:
        load.cache_clear()
    if has_begun:
        gc.collect()


def choose_device(device: str, *, spread: bool = False) -> str:
    """Return the device, "cpu" or "cuda:N", that "auto", "cpu", "cuda" or "cuda:N" stands for.

    Args:
        device: the name in the study file.
        spread: accept "balanced", too (spread over all GPUs), and return it unchanged.

    Raises:
        UsageError: unknown name.
        ModelError: this machine lacks the device.
    """
    if device == "cpu":
        return device
    if not re.fullmatch(rf"auto|cuda(:\d+)?{f'|{BALANCED}' if spread else ''}", device):
        raise UsageError(
            f"device {device!r} is unknown; use auto, cpu, cuda or cuda:N (for a language model, also {BALANCED})"
        )
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return "cuda:0" if count else "cpu"
    if count == 0:
        raise ModelError(f"device {device!r}: this machine has no CUDA device that torch can use; use cpu or auto")
    if device == BALANCED:
        return device
    number = int(device.partition(":")[2] or 0)
    if number >= count:
        raise ModelError(
            f"device {device!r}: the last CUDA device of this machine is cuda:{count - 1}; use auto or a lower number"
        )
    return f"cuda:{number}"


def choose_dtype(dtype: str, device: str) -> str:
    """Return the name of the dtype; "auto" is float32 on a CPU and bfloat16 on a GPU.

    Args:
        dtype: the name in the study file.
        device: a result of `choose_device`.

    Raises:
        UsageError: unknown name.
        ModelError: a CUDA device or bitsandbytes is missing, which 8bit and 4bit need.
    """
    if dtype == "auto":
        return "float32" if device == "cpu" else "bfloat16"
    if dtype not in DTYPES:
        raise UsageError(f"dtype {dtype!r} is unknown; choose one of auto, {', '.join(DTYPES)}")
    if dtype in QUANTISED and device == "cpu":
        raise ModelError(f"dtype {dtype!r} needs a CUDA device, but the model would be on the CPU; use bfloat16")
    if dtype in QUANTISED and importlib.util.find_spec("bitsandbytes") is None:
        raise ModelError(
            f'dtype {dtype!r} needs bitsandbytes, which is not installed: pip install "swaymeter[quantised]", '
            "or use bfloat16"
        )
    return dtype


def resolve_dtype(dtype: str, device: str) -> str:
    """Return the dtype that `load_language_model` would use; raises like `choose_device` and `choose_dtype`."""
    return dtype if dtype in DTYPES else choose_dtype(dtype, choose_device(device, spread=True))


def load_pretrained(
    identity: ModelIdentity,
    load: Callable[..., Any],
    *,
    folder: Path | None = None,
    unused: tuple[str, ...] = (),
    **options: Any,
) -> Any:
    """Load a model or a tokenizer by a from_pretrained method of transformers; files from the hub are verified.

    Args:
        identity: the model.
        load: the from_pretrained method.
        folder: the folder to load from; by default the location of the identity.
        unused: prefixes of names of weights that no score uses, such as "pooler."; these weights may be missing.
        **options: options of from_pretrained; "dtype" is among them if weights are loaded.

    Raises:
        ModelError: the model cannot be loaded, is damaged, or has a weight that is missing or not finite.
    """
    import transformers
    from safetensors import SafetensorError

    transformers.logging.set_verbosity(logging.ERROR)
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    for library in ("huggingface_hub", "bitsandbytes"):  # bitsandbytes logs a line for each layer
        logging.getLogger(library).setLevel(logging.ERROR)
    loads_weights, is_hub = "dtype" in options, identity.origin == "hub"
    source = str(folder or identity.location)
    local_folder = snapshot_folder(source, identity.revision) if is_hub else Path(source)
    options |= {"revision": identity.revision} if is_hub else {"local_files_only": True}
    if loads_weights:
        options |= {"output_loading_info": True} | ({} if is_hub else {"use_safetensors": True})
    if is_hub:
        verify_snapshot(identity.name, local_folder)
    try:
        if loads_weights and not is_hub:
            _check_layers(identity, local_folder)
        loaded = load(source, trust_remote_code=False, **options)
    except ModelError:
        raise
    except Exception as error:
        reason = first_line(error)
        if isinstance(error, SafetensorError):  # truncated, or not a file of weights
            reason += f"; its weights are damaged: remove the folder {local_folder} and download the model again"
        raise ModelError(f"model {identity.name!r} cannot be loaded from {source}: {reason}") from error
    if is_hub:
        verify_snapshot(identity.name, local_folder)  # again, because the load may have downloaded files
        check_index(identity.name, local_folder)
    if loads_weights:
        loaded, loading_info = loaded
        _check_weights(identity, loaded, (name for name in loading_info["missing_keys"] if not name.startswith(unused)))
        from swaymeter.tasks.models.linear import multiply_faster

        multiply_faster(loaded)
    return loaded


def _check_layers(identity: ModelIdentity, folder: Path) -> None:
    """Raise ModelError if config.json sets more layers than there are tensors; building the layers may take hours."""
    from safetensors import safe_open

    config = json_object((folder / "config.json").read_text(encoding="utf-8"))
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]  # a part, such as text_config
    names = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    numbers = (part.get(name) for part in parts for name in names)
    layers = max((number for number in numbers if isinstance(number, int)), default=0)
    tensors = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "np") as opened:
            tensors += len(opened.keys())
    if layers > tensors:
        raise ModelError(
            f"model {identity.name!r}: its config.json sets {layers:,} layers, but its files have only {tensors:,} "
            "weight tensors; download the model again"
        )


def _check_weights(identity: ModelIdentity, network: Any, missing: Iterable[str]) -> None:
    """Raise ModelError for weights that are not finite or missing; transformers draws missing weights at random."""
    import torch

    if names := sorted(missing):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise ModelError(
            f"model {identity.name!r}: its files lack the weight {names[0]}{more}, which its config.json needs; "
            "download the model again, or use a model that was trained for its purpose in the study, such as entailment"
        )
    for name, weights in network.named_parameters():
        if not weights.is_floating_point() or weights.is_meta or not weights.numel():
            continue
        extremes = torch.aminmax(weights.detach())  # NaN if any weight is NaN; ten times as fast as isfinite
        if not all(map(torch.isfinite, extremes)):
            raise ModelError(
                f"model {identity.name!r}: its weight {name} is not finite; remove the model's files and "
                "download them again"
            )


def weights_options(dtype: str, device: str) -> dict[str, Any]:
    """Return the options of from_pretrained for a dtype and a device, neither of which is "auto"."""
    import torch

    options: dict[str, Any] = {"dtype": torch.bfloat16 if dtype in QUANTISED else getattr(torch, dtype)}
    if dtype in QUANTISED:
        import transformers

        nf4 = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": torch.bfloat16}
        config: Any = transformers.BitsAndBytesConfig
        options["quantization_config"] = config(**(nf4 if dtype == "4bit" else {"load_in_8bit": True}))
    if device != "cpu":
        options["device_map"] = device if device == BALANCED else {"": device}
    return options


def context_window(config: Any) -> int | None:
    """Return the largest number of tokens that a model reads, by its configuration; None if unknown."""
    text_config = config.get_text_config()
    names = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx", "seq_length")
    lengths = (getattr(text_config, name, None) for name in names)
    return next((length for length in lengths if isinstance(length, int) and length > 0), None)
