"""The products of linear layers, in float32, by the two libraries that torch has for a CPU.

How many times as fast as MKL, which torch takes by default, oneDNN is: for each layer of the bundled model behind so
many states, and for a whole pass over a prompt of so many tokens. `MKL_ENABLE_INSTRUCTIONS=AVX2` before the command has
MKL compute on an Intel processor with the instructions that it keeps to elsewhere.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from benchmarks.machine import this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.linear import Linear, by_onednn, is_float32_on_cpu

COUNTS = (1, 16, 64, 256, 1024)
WHOLE = "a whole pass"
TRIES = 7


def main() -> None:
    """Measures, prints and writes."""
    asked = arguments(__doc__).parse_args()
    model = load_language_model(MODEL, dtype="float32", device="cpu").model
    linear = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    layers = [layer for layer in linear if is_float32_on_cpu(layer)]
    is_used = isinstance(layers[0], Linear)
    shapes = {(layer.in_features, layer.out_features): layer for layer in layers}
    counts = COUNTS[:2] if asked.quick else COUNTS
    found = {
        f"{inside} to {outside}": [_of_layer(layer, count) for count in counts]
        for (inside, outside), layer in sorted(shapes.items())
    }
    found[WHOLE] = [_of_pass(model, layers, tokens) for tokens in counts]
    mkl, machine = os.environ.get("MKL_ENABLE_INSTRUCTIONS"), this_machine("cpu")
    with_mkl = f" with {mkl}" if mkl else ""
    note = f"oneDNN is{'' if is_used else ' not'} used on this machine."
    columns = ("layer", *(f"{count:,} state{'s' * (count > 1)}" for count in counts))
    rows = [(name, *(f"{ratio:.2f}" for ratio in ratios)) for name, ratios in found.items()]
    table = Table(f"oneDNN / MKL{with_mkl}, {MODEL}, {machine.name}", columns, rows, [note])
    measures = {"model": MODEL, "mkl": mkl, "states": counts, "times_as_fast": found, "is_used": is_used}
    publish(f"products_{mkl.lower()}" if mkl else "products", machine, [table], measures, asked)


@torch.inference_mode()
def _of_layer(layer: torch.nn.Linear, count: int) -> float:
    states = torch.randn(count, layer.in_features)
    return _in_turns(lambda: functional.linear(states, layer.weight), lambda: by_onednn(states, layer.weight))


@torch.inference_mode()
def _of_pass(model: Any, layers: list[torch.nn.Linear], tokens: int) -> float:
    ids = torch.arange(tokens).view(1, -1)

    def by(kind: type) -> torch.Tensor:
        for layer in layers:
            layer.__class__ = kind
        logits: torch.Tensor = model(input_ids=ids, use_cache=False, logits_to_keep=1).logits
        return logits

    return _in_turns(lambda: by(torch.nn.Linear), lambda: by(Linear))


def _in_turns(mkl: Callable[[], torch.Tensor], onednn: Callable[[], torch.Tensor]) -> float:
    """How many times as fast the second is as the first; the median of a few tries."""
    mkl(), onednn()  # what is set up once is set up
    return statistics.median(_seconds(mkl) / _seconds(onednn) for _ in range(TRIES))


def _seconds(compute: Callable[[], torch.Tensor]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
