"""The command `swaymeter`, which kills itself with SIGKILL at an exact moment.

python tests/faults/killed_at.py MOMENT NTH PROMPTS run STUDY.yaml …

MOMENT is what is about to happen: a layer of the model computes in the NTH chunk ("layer"), a part of the scores takes
its name for the NTH time ("rename"), a table is loaded into the database for the NTH time ("load"). The file PROMPTS
grows by a byte a prompt when a chunk is begun.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers.models.llama.modeling_llama import LlamaMLP

from data.warehouse import Warehouse
from tasks.measures import run
from tests.end_to_end.in_small_chunks import main

moment, nth, prompts = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
del sys.argv[1:4]
seen = begun = 0


def before(owner: type, method: str, do: Callable[[Any], None]) -> None:
    """Does something before each call of a method."""
    original = getattr(owner, method)

    def also(self: Any, *arguments: Any, **options: Any) -> Any:
        do(self)
        return original(self, *arguments, **options)

    setattr(owner, method, also)


def perhaps_die(subject: Any) -> None:
    """Dies without a word when the time has come."""
    global seen
    if moment == "rename" and ".part-" not in subject.name:
        return
    seen += 1
    if (begun if moment == "layer" else seen) == nth:
        os.kill(os.getpid(), signal.SIGKILL)


count_prompts = run.count_prompts


def noted(measure: Any, inputs: Any, chunk: Any) -> int:
    """Notes the prompts of each chunk that is begun."""
    global begun
    prompts_of_chunk = count_prompts(measure, inputs, chunk)
    if prompts_of_chunk:
        begun += 1
        os.write(prompts, b"." * prompts_of_chunk)
    return prompts_of_chunk


run.count_prompts = noted
before(*{"layer": (LlamaMLP, "forward"), "rename": (Path, "replace"), "load": (Warehouse, "load")}[moment], perhaps_die)
main()
