"""How much memory there is to work with, and how a machine says that it was too much."""

import ctypes
import sys

import torch

GIB = 1 << 30


def memory_budget(device: str) -> int:
    """The bytes that a scoring pass may fill beside the model: 2 GiB on a CPU, half of what is free on a GPU.

    What torch keeps for later without using it is free, too.
    """
    if torch.device(device).type != "cuda":
        return 2 * GIB
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    return (free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)) // 2


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error says that memory ran out: of a GPU, or of this machine."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def released(device: str) -> None:
    """Gives memory that is kept for later back: to the GPU, or to the machine where its C library can (glibc).

    After many large tensors of many sizes glibc keeps twice what is in use, and more with every chunk of a study.
    """
    if torch.device(device).type == "cuda":
        torch.cuda.empty_cache()
    elif trim := getattr(ctypes.CDLL(None) if sys.platform == "linux" else None, "malloc_trim", None):
        trim(0)
