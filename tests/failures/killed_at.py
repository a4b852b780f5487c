"""A command that kills itself with SIGKILL at an exact moment."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


class Prompts(int):
    """A number of prompts, in contrast to the items of a measure without prompts."""


@dataclass(frozen=True)
class KilledAt:
    """What is called first of all in a command that is to be killed.

    moment: what is about to happen: a layer of the model computes in the nth chunk, a part of the scores takes its name
    for the nth time, a table is loaded into the database for the nth time. prompts: a file that grows by a byte a
    prompt when a chunk is begun.
    """

    moment: Literal["layer", "rename", "load"]
    nth: int
    prompts: Path

    def __call__(self) -> None:
        """Makes the command die in time."""
        from transformers.models.llama.modeling_llama import LlamaMLP

        from swaymeter.data.warehouse.loading import Building
        from swaymeter.tasks.measures import stored_chunks

        noted = os.open(self.prompts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        within, count_prompts = stored_chunks._chunk_reporter, stored_chunks.count_prompts
        begun = seen = 0

        def note(progress: Any, done: int, prompts: int, total: int) -> Any:
            nonlocal begun
            if isinstance(prompts, Prompts) and prompts:
                begun += 1
                os.write(noted, b"." * prompts)
            return within(progress, done, prompts, total)

        def perhaps_die(subject: Any) -> None:
            nonlocal seen
            if self.moment == "rename" and ".part-" not in subject.name:
                return
            seen += 1
            if (begun if self.moment == "layer" else seen) == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)

        stored_chunks._chunk_reporter = note  # which begins a chunk
        stored_chunks.count_prompts = lambda *of: Prompts(count_prompts(*of))
        moments = {"layer": (LlamaMLP, "forward"), "rename": (Path, "replace"), "load": (Building, "_insert")}
        _before(*moments[self.moment], perhaps_die)


def _before(owner: type, method: str, do: Callable[[Any], None]) -> None:
    original = getattr(owner, method)

    def also(self: Any, *arguments: Any, **options: Any) -> Any:
        do(self)
        return original(self, *arguments, **options)

    setattr(owner, method, also)
