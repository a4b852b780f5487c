"""The product of a linear layer's weights with states, in float32, by the two libraries that torch has for a CPU.

For each layer of the bundled model and several numbers of states: what MKL does, which torch takes by default, and how
many times as much oneDNN does. `MKL_ENABLE_INSTRUCTIONS=AVX2` before the command has MKL compute on an Intel processor
with the instructions that it takes elsewhere.
"""

import torch

from benchmarks.machine import this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.linear import FASTER, ROWS, is_meant, measured

STATES = (1, 16, 64, 256, 1024)


def main() -> None:
    """Measures, prints and writes."""
    asked = arguments(__doc__).parse_args()
    model = load_language_model(MODEL, dtype="float32", device="cpu").model
    layers = {
        (layer.in_features, layer.out_features): layer
        for layer in model.modules()
        if isinstance(layer, torch.nn.Linear) and is_meant(layer.weight)
    }
    rows = STATES[:2] if asked.quick else STATES
    found = {shape: [measured(layer, count) for count in rows] for shape, layer in sorted(layers.items())}
    cells = [(f"{inside} to {outside}", *(f"{ratio:.2f}" for ratio in of)) for (inside, outside), of in found.items()]
    columns = ("layer", *(f"{count:,} state{'s' * (count > 1)}" for count in rows))
    used = "is used" if model.get_output_embeddings().__class__ is not torch.nn.Linear else "is not used"
    note = f"oneDNN {used} on this machine: it has to be {FASTER} times as fast with {ROWS} states."
    settings = [{"inside": a, "outside": b, "rows": rows, "ratios": of} for (a, b), of in found.items()]
    machine = this_machine("cpu")
    table = Table(f"oneDNN / MKL, {MODEL}, {machine.name}", columns, cells, [note])
    publish("products", machine, [table], {"model": MODEL, "settings": settings}, asked)


if __name__ == "__main__":
    main()
