"""Products with the weights of linear layers in float32 on a CPU, by the faster of torch's two libraries.

By default torch uses MKL, which leaves half of the vector width of some processors unused; oneDNN uses all of it.
"""

import torch
from torch.nn import functional

from swaymeter.tasks.models.machine import mkl_lacks_avx512

FEW = 64
"""Number of states (input vectors of a layer) below which MKL is as fast as oneDNN."""


class Linear(torch.nn.Linear):
    """Linear layer that oneDNN computes, or MKL for gradients and for fewer than FEW states."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Map (..., in) to (..., out)."""
        if torch.is_grad_enabled() or input.numel() < FEW * self.in_features:
            return functional.linear(input, self.weight, self.bias)
        return by_onednn(input, self.weight, self.bias)


def by_onednn(states: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Return the layer's output, (..., out), for states (..., in); weights (out, in) are not copied."""
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weights, bias, "none", [], "")
    return product


def multiply_faster(network: torch.nn.Module) -> None:
    """Let oneDNN compute the linear layers of a float32 network on a CPU, if it is faster on this machine."""
    layers = [layer for layer in network.modules() if type(layer) is torch.nn.Linear and is_float32_on_cpu(layer)]
    has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if layers and has_onednn and mkl_lacks_avx512():
        for layer in layers:
            layer.__class__ = Linear


def is_float32_on_cpu(layer: torch.nn.Linear) -> bool:
    """Return True for a layer whose library can be chosen; for other dtypes on a CPU, torch always uses oneDNN."""
    return layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
