"""Memory budgets, and smaller batches after memory ran out."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.machine import give_freed_memory_back
from swaymeter.tasks.models.network import Network

log = logging.getLogger(__name__)


def memory_budget(device: str) -> int:
    """Return the bytes that forward passes may use: 2 GiB on a CPU, half of the free memory on a GPU."""
    if torch.device(device).type != "cuda":
        return 2 << 30
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    # Memory that torch has reserved and does not use is free, too.
    return (free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)) // 2


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for an error of exhausted memory, of a GPU or of this machine."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def release_memory(device: str) -> None:
    """Give cached memory back to the GPU, or freed memory to the system if its C library is glibc."""
    if torch.device(device).type == "cuda":
        torch.cuda.empty_cache()
    else:
        give_freed_memory_back()


class Halving:
    """Sizes of a batch, such as (queries, derivatives of each); a size is halved after memory ran out.

    Inside `attempt`, the caller computes a batch of at most `amounts`. If `ran_out` is True after `attempt`, the caller
    computes the batch again with the new, smaller `amounts`.

    Attributes:
        amounts: the sizes of the next batch.
        ran_out: True if memory ran out in the last batch.

    Args:
        model: the network, whose name and device are used.
        work: a clause for the warning, such as "prompts are read".
        *amounts: the sizes of the first batch.
    """

    def __init__(self, model: Network, work: str, *amounts: int) -> None:
        self.amounts = amounts
        self.ran_out = False
        self._model, self._work, self._warned = model, work, False

    @contextmanager
    def attempt(self, *amounts: int, smallest: Callable[[], str]) -> Iterator[None]:
        """Run the block, which computes a batch; if memory runs out, halve the first amount above 1.

        Args:
            *amounts: the sizes of this batch.
            smallest: returns the error's description of a batch whose sizes are all 1, such as "a single prompt".

        Raises:
            ScoreError: memory ran out, and every amount is 1.
        """
        if self.ran_out:  # the failed attempt could not release the memory, because its error still held the tensors
            release_memory(self._model.device)
        self.ran_out = False
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            halved = next((index for index, amount in enumerate(amounts) if amount > 1), None)
            if halved is None:
                raise ScoreError(
                    f"{self._model.name} in {self._model.dtype}: memory runs out even with {smallest()}; "
                    "choose a smaller dtype, or a device with more memory"
                ) from error
            self.amounts = tuple(amount // 2 if index == halved else amount for index, amount in enumerate(amounts))
            self.ran_out = True
            if not self._warned:
                log.warning("%s: memory ran out; %s in smaller batches", self._model.name, self._work)
            self._warned = True
