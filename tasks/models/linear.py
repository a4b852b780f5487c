"""Products with the weights of linear layers, in float32 on a CPU, by the faster of torch's two libraries.

torch multiplies by MKL, which leaves half of the width of some processors unused, and has oneDNN beside it, which does
not.
"""

import torch
from torch.nn import functional

from swaymeter.tasks.models.machine import keeps_mkl_narrow

FEW = 64
"""With fewer states MKL is as fast, also where it is narrow."""


class Linear(torch.nn.Linear):
    """A layer that oneDNN computes, except where gradients are enabled or there are fewer than FEW states."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """input: (..., in) to (..., out)."""
        if torch.is_grad_enabled() or input.numel() < FEW * self.in_features:
            return functional.linear(input, self.weight, self.bias)
        return by_onednn(input, self.weight, self.bias)


def by_onednn(states: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """What a layer makes of states (..., in): (..., out); weights (out, in) are read where they are, without a copy."""
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weights, bias, "none", [], "")
    return product


def multiply_faster(network: torch.nn.Module) -> None:
    """Has oneDNN compute the linear layers of a network on a CPU, where that is faster here."""
    layers = [layer for layer in network.modules() if type(layer) is torch.nn.Linear and is_float32_on_cpu(layer)]
    has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if layers and has_onednn and keeps_mkl_narrow():
        for layer in layers:
            layer.__class__ = Linear


def is_float32_on_cpu(layer: torch.nn.Linear) -> bool:
    """Whether there is a choice: for other formats torch takes oneDNN by itself."""
    return layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
