import copy

import pytest
import torch

from swaymeter.tasks.models import linear
from swaymeter.tasks.models.linear import Linear, multiply_faster


def _network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(48, 96), torch.nn.SiLU(), torch.nn.Linear(96, 40, bias=False))


@pytest.mark.parametrize(("ratio", "dtype", "expected"), [
    (2.0, torch.float32, Linear), (1.1, torch.float32, torch.nn.Linear), (2.0, torch.bfloat16, torch.nn.Linear),
])  # fmt: skip
def test_the_faster_library_multiplies(
    ratio: float, dtype: torch.dtype, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "_ratios", [])
    monkeypatch.setattr(linear, "measured", lambda layer, rows: ratio)
    network = _network().to(dtype)
    multiply_faster(network)
    assert [type(network[0]), type(network[2])] == [expected, expected]


@pytest.mark.parametrize("shape", [(40, 48), (7, 48), (2, 30, 48), (0, 48)])
def test_both_libraries_give_the_same(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "_ratios", [2.0])
    plain, faster = _network(), copy.deepcopy(_network())
    multiply_faster(faster)
    states = torch.randn(shape)
    with torch.inference_mode():
        torch.testing.assert_close(faster(states), plain(states))
        torch.testing.assert_close(faster(states.transpose(0, -2)), plain(states.transpose(0, -2)))
    gradients = []
    for network in (plain, faster):
        wanted = states.clone().requires_grad_()
        network(wanted).square().sum().backward()
        gradients.append(wanted.grad)
    torch.testing.assert_close(*gradients)


def test_what_is_measured_is_a_ratio_of_seconds() -> None:
    assert 0.01 < linear.measured(torch.nn.Linear(256, 256), 64) < 100
