"""Products with the weights of linear layers, in float32 on a CPU, by the faster of torch's two libraries.

torch multiplies by MKL, which leaves half of the width of some processors unused, and has oneDNN beside it, which does
not. Which is faster is measured once a process, on a layer of the first model that is loaded.
"""

import time
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

FASTER = 1.15
"""So many times as fast oneDNN has to be: chance decides nothing, as it is 0.8 to 1.0 times as fast, or from 1.3 on."""
ROWS, TRIES = 256, 5
FEW = 16
"""With fewer states MKL is faster everywhere."""

_ratios = list[float]()


class Linear(torch.nn.Linear):
    """A layer that oneDNN computes, but where derivatives may be wanted or states are few."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """input: (..., in) to (..., out)."""
        if torch.is_grad_enabled() or input.numel() < FEW * self.in_features:
            return functional.linear(input, self.weight, self.bias)
        return by_onednn(self, input)


def by_onednn(layer: torch.nn.Linear, states: torch.Tensor) -> torch.Tensor:
    """What the layer makes of states (..., in): (..., out). Its weights are read where they are, without a copy."""
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, layer.weight, layer.bias, "none", [], "")
    return product


def multiply_faster(network: torch.nn.Module) -> None:
    """Has oneDNN compute the linear layers of a network on a CPU, where that is faster here."""
    layers = [one for one in network.modules() if type(one) is torch.nn.Linear and is_meant(one.weight)]
    has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if layers and has_onednn and ratio(layers) >= FASTER:
        for layer in layers:
            layer.__class__ = Linear


def ratio(layers: Sequence[torch.nn.Linear]) -> float:
    """How many times as fast as torch's own product oneDNN's is on this machine; measured by the first layers alone."""
    if not _ratios:
        sizes = sorted(layers, key=lambda layer: layer.weight.numel())
        _ratios.append(measured(sizes[len(sizes) // 2], ROWS))
    return _ratios[0]


@torch.inference_mode()
def measured(layer: torch.nn.Linear, rows: int) -> float:
    """The same for one layer and so many rows of states."""
    states = torch.linspace(-1, 1, rows * layer.in_features).view(rows, -1)  # no draw: seeds are of studies
    return in_turns(lambda: functional.linear(states, layer.weight, layer.bias), lambda: by_onednn(layer, states))


def in_turns(one: Callable[[], torch.Tensor], other: Callable[[], torch.Tensor]) -> float:
    """How many times as fast the other is, by the least seconds of a few tries each."""
    ones, others = zip(*([_seconds(one), _seconds(other)] for _ in range(TRIES)), strict=True)
    return float(min(ones) / min(others))


def _seconds(compute: Callable[[], torch.Tensor]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


def is_meant(weights: torch.Tensor) -> bool:
    """Whether there is a choice: in other formats torch takes oneDNN by itself."""
    return weights.device.type == "cpu" and weights.dtype == torch.float32
