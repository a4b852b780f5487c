"""How much memory there is to work with, and what is done where it was not enough."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.machine import give_freed_memory_back
from swaymeter.tasks.models.network import Network

log = logging.getLogger(__name__)


def memory_budget(device: str) -> int:
    """The bytes that a scoring pass may fill beside the model: 2 GiB on a CPU, half of what torch can get on a GPU."""
    if torch.device(device).type != "cuda":
        return 2 << 30
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    return (free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)) // 2


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error says that memory ran out: of a GPU, or of this machine."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def release_memory(device: str) -> None:
    """Gives memory that is kept for later back: to the GPU, or to the machine where its C library can (glibc)."""
    if torch.device(device).type == "cuda":
        torch.cuda.empty_cache()
    else:
        give_freed_memory_back()


class Halving:
    """How much of some work is done at once; halved wherever memory runs out.

    The caller loops until its work is done: it takes `amounts` of it (such as queries, and derivatives of each) inside
    `attempt`, and does it again where it `ran_out` of memory. work: such as "prompts are read", for the warning.
    """

    def __init__(self, model: Network, work: str, *amounts: int) -> None:
        self.amounts = amounts
        self.ran_out = False
        self._model, self._work, self._warned = model, work, False

    @contextmanager
    def attempt(self, *amounts: int, smallest: Callable[[], str]) -> Iterator[None]:
        """Runs its body, which does so much at once; where memory runs out, the first amount above 1 is halved.

        smallest: what is done where all are 1, for the ScoreError that is raised where memory runs out with these.
        """
        if self.ran_out:  # not at once: what the failed attempt held is free only after its error is gone
            release_memory(self._model.device)
        self.ran_out = False
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            large = next((place for place, amount in enumerate(amounts) if amount > 1), None)
            if large is None:
                raise ScoreError(
                    f"{self._model.name} in {self._model.dtype}: memory runs out with {smallest()}; "
                    "choose a smaller dtype, or a device with more memory"
                ) from error
            self.amounts = tuple(amount // 2 if place == large else amount for place, amount in enumerate(amounts))
            self.ran_out = True
            if not self._warned:
                log.warning("%s: memory ran out; %s in smaller batches", self._model.name, self._work)
            self._warned = True
