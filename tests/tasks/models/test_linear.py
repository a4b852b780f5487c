import copy

import pytest
import torch

from swaymeter.tasks.models import linear, machine
from swaymeter.tasks.models.linear import FEW, Linear, multiply_faster


def _network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(48, 96), torch.nn.SiLU(), torch.nn.Linear(96, 40, bias=False))


@pytest.mark.parametrize(
    ("is_narrow", "dtype", "expected"),
    [
        (True, torch.float32, Linear),
        (False, torch.float32, torch.nn.Linear),
        (True, torch.bfloat16, torch.nn.Linear),
    ],
)
def test_the_faster_library_multiplies(
    is_narrow: bool, dtype: torch.dtype, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "mkl_lacks_avx512", lambda: is_narrow)
    network = _network().to(dtype)
    multiply_faster(network)
    assert [type(network[0]), type(network[2])] == [expected, expected]


@pytest.mark.parametrize("shape", [(FEW, 48), (7, 48), (2, 90, 48), (0, 48)])
def test_both_libraries_compute_the_same(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list[int]()
    by_onednn = linear.by_onednn

    def count_rows(states: torch.Tensor, *layer: torch.Tensor) -> torch.Tensor:
        rows.append(len(states))
        return by_onednn(states, *layer)

    monkeypatch.setattr(linear, "mkl_lacks_avx512", lambda: True)
    monkeypatch.setattr(linear, "by_onednn", count_rows)
    plain, faster = _network(), copy.deepcopy(_network())
    multiply_faster(faster)
    states = torch.randn(shape)
    with torch.inference_mode():
        torch.testing.assert_close(faster(states), plain(states))
        torch.testing.assert_close(faster(states.transpose(0, -2)), plain(states.transpose(0, -2)))
    assert len(rows) == (4 if states.numel() >= FEW * 48 else 0)
    gradients = []
    for network in (plain, faster):
        inputs = states.clone().requires_grad_()
        network(inputs).square().sum().backward()
        gradients.append(inputs.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("vendor", "width", "is_narrow"),
    [
        ("AuthenticAMD", "AVX512", True),
        ("AuthenticAMD", "AVX2", False),
        ("GenuineIntel", "AVX512", False),
    ],
)
def test_mkl_ignores_avx512_on_amd_processors(
    vendor: str, width: str, is_narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: width)
    monkeypatch.setattr(machine, "_processor_field", {"vendor_id": vendor}.get)
    assert machine.mkl_lacks_avx512() == is_narrow
