"""The products of linear layers, in float32, by the two libraries that torch has for a CPU.

How many times as fast as MKL, which torch takes by default, oneDNN is: for each layer of the bundled model behind so
many states, and for a whole pass over a prompt of so many tokens. `MKL_ENABLE_INSTRUCTIONS=AVX2` before the command has
MKL compute on an Intel processor with the instructions that it keeps to elsewhere.
"""

import os
from typing import Any

import torch

from benchmarks.machine import this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.linear import FASTER, ROWS, Linear, in_turns, is_meant, measured

STATES = (1, 16, 64, 256, 1024)
WHOLE = "a whole pass"


def main() -> None:
    """Measures, prints and writes."""
    asked = arguments(__doc__).parse_args()
    model = load_language_model(MODEL, dtype="float32", device="cpu").model
    layers = [one for one in model.modules() if isinstance(one, torch.nn.Linear) and is_meant(one.weight)]
    is_used = isinstance(layers[0], Linear)
    shapes = {(layer.in_features, layer.out_features): layer for layer in layers}
    states = STATES[:2] if asked.quick else STATES
    found = {
        f"{inside} to {outside}": [measured(layer, count) for count in states]
        for (inside, outside), layer in sorted(shapes.items())
    }
    found[WHOLE] = [_of_pass(model, layers, tokens) for tokens in states]
    mkl, machine = os.environ.get("MKL_ENABLE_INSTRUCTIONS"), this_machine("cpu")
    with_mkl = f" with {mkl}" if mkl else ""
    note = f"oneDNN is{'' if is_used else ' not'} used here: it has to be {FASTER} times as fast behind {ROWS} states."
    columns = ("layer", *(f"{count:,} state{'s' * (count > 1)}" for count in states))
    rows = [(name, *(f"{ratio:.2f}" for ratio in ratios)) for name, ratios in found.items()]
    table = Table(f"oneDNN / MKL{with_mkl}, {MODEL}, {machine.name}", columns, rows, [note])
    measures = {"model": MODEL, "mkl": mkl, "states": states, "times_as_fast": found, "is_used": is_used}
    publish(f"products_{mkl.lower()}" if mkl else "products", machine, [table], measures, asked)


@torch.inference_mode()
def _of_pass(model: Any, layers: list[torch.nn.Linear], tokens: int) -> float:
    ids = torch.arange(tokens).view(1, -1)

    def by(kind: type) -> torch.Tensor:
        for layer in layers:
            layer.__class__ = kind
        logits: torch.Tensor = model(input_ids=ids, use_cache=False, logits_to_keep=1).logits
        return logits

    return in_turns(lambda: by(torch.nn.Linear), lambda: by(Linear))


if __name__ == "__main__":
    main()
