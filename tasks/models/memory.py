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
    """Return the bytes for a scoring pass beside the model: 2 GiB on a CPU, half of the free memory on a GPU."""
    if torch.device(device).type != "cuda":
        return 2 << 30
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    return (free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)) // 2


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for an error of exhausted memory, of a GPU or of this machine."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def release_memory(device: str) -> None:
    """Return cached memory to the GPU, or freed memory to the system if its C library is glibc."""
    if torch.device(device).type == "cuda":
        torch.cuda.empty_cache()
    else:
        give_freed_memory_back()


class Halving:
    """Amounts of work for one batch; they are halved after memory ran out.

    The caller loops until its work is done: it takes `amounts` of it (such as queries, and derivatives of each) inside
    `attempt`, and repeats the batch if `ran_out` is set.

    Args:
        model: the network, for messages.
        work: a clause such as "prompts are read", for the warning.
        *amounts: the first amounts.
    """

    def __init__(self, model: Network, work: str, *amounts: int) -> None:
        self.amounts = amounts
        self.ran_out = False
        self._model, self._work, self._warned = model, work, False

    @contextmanager
    def attempt(self, *amounts: int, smallest: Callable[[], str]) -> Iterator[None]:
        """Run the body, which processes `amounts`; after an out-of-memory error halve the first amount above 1.

        Args:
            *amounts: the amounts of this batch.
            smallest: describes the work if all amounts are 1, for the message of the ScoreError.

        Raises:
            ScoreError: memory ran out, and every amount is 1.
        """
        if self.ran_out:  # the failed attempt's memory is free only after its error was dropped
            release_memory(self._model.device)
        self.ran_out = False
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            large = next((index for index, amount in enumerate(amounts) if amount > 1), None)
            if large is None:
                raise ScoreError(
                    f"{self._model.name} in {self._model.dtype}: memory runs out with {smallest()}; "
                    "choose a smaller dtype, or a device with more memory"
                ) from error
            self.amounts = tuple(amount // 2 if index == large else amount for index, amount in enumerate(amounts))
            self.ran_out = True
            if not self._warned:
                log.warning("%s: memory ran out; %s in smaller batches", self._model.name, self._work)
            self._warned = True
