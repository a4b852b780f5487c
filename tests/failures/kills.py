"""A command that kills itself with SIGKILL at an exact moment."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


class Prompts(int):
    """A number of prompts, in contrast to a number of items of a measure without prompts."""


@dataclass(frozen=True)
class Kill:
    """A function that a command calls first, and that lets the command kill itself.

    Attributes:
        moment: the event before which the command dies: a layer of the model computes in the nth chunk, the file of a
            part of the scores is renamed for the nth time, or the nth table is loaded into the database.
        nth: the number of the event, from 1.
        prompts: a file that grows by one byte for each prompt of a chunk that begins.
    """

    moment: Literal["layer", "rename", "load"]
    nth: int
    prompts: Path

    def __call__(self) -> None:
        """Change the command so that it dies at the moment."""
        from transformers.models.llama.modeling_llama import LlamaMLP

        from swaymeter.data.warehouse.loading import Building
        from swaymeter.tasks.measures import stored_chunks

        prompts_file = os.open(self.prompts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        report, count_prompts = stored_chunks._chunk_reporter, stored_chunks.count_prompts
        chunks = events = 0

        def report_and_count(progress: Any, done: int, prompts: int, total: int) -> Any:
            nonlocal chunks
            if isinstance(prompts, Prompts) and prompts:
                chunks += 1
                os.write(prompts_file, b"." * prompts)
            return report(progress, done, prompts, total)

        def die_at_moment(subject: Any) -> None:
            nonlocal events
            if self.moment == "rename" and ".part-" not in subject.name:
                return
            events += 1
            if (chunks if self.moment == "layer" else events) == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)

        stored_chunks._chunk_reporter = report_and_count  # is called when a chunk begins
        stored_chunks.count_prompts = lambda *arguments: Prompts(count_prompts(*arguments))
        moments = {"layer": (LlamaMLP, "forward"), "rename": (Path, "replace"), "load": (Building, "_insert")}
        _call_before(*moments[self.moment], die_at_moment)


def _call_before(owner: type, method: str, function: Callable[[Any], None]) -> None:
    original = getattr(owner, method)

    def function_and_method(self: Any, *arguments: Any, **options: Any) -> Any:
        function(self)
        return original(self, *arguments, **options)

    setattr(owner, method, function_and_method)
