"""The command `swaymeter`, which kills itself with SIGKILL at an exact moment.

python tests/faults/killed_at.py MOMENT NTH PASSES run STUDY.yaml …

MOMENT is what is about to happen for the NTH time: a layer of the model computes ("layer"), a part of the scores takes
its name ("rename"), a table is loaded into the database ("load"). The file PASSES grows by a byte a forward pass.
"""

import functools
import os
import signal
import sys
from pathlib import Path
from typing import Any

from transformers.models.llama.modeling_llama import LlamaForCausalLM, LlamaMLP

from data.warehouse import Warehouse
from flows.cli import main

moment, nth, passes = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
del sys.argv[1:4]
seen = 0


def before(owner: type, method: str, do: Any) -> None:
    """Does something before each call of a method."""
    original = getattr(owner, method)

    @functools.wraps(original)  # transformers reads the signatures of models
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
    if seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)


before(LlamaForCausalLM, "forward", lambda _: os.write(passes, b"."))
before(*{"layer": (LlamaMLP, "forward"), "rename": (Path, "replace"), "load": (Warehouse, "load")}[moment], perhaps_die)
main()
