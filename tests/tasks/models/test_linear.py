import pytest
import torch

from swaymeter.tasks.models import linear, machine
from swaymeter.tasks.models.linear import FEW, Linear, multiply_faster


def _network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(48, 96), torch.nn.SiLU(), torch.nn.Linear(96, 40, bias=False))


@pytest.mark.parametrize(
    ("lacks_avx512", "dtype", "expected"),
    [
        (True, torch.float32, Linear),
        (False, torch.float32, torch.nn.Linear),
        (True, torch.bfloat16, torch.nn.Linear),
    ],
)
def test_the_faster_library_multiplies(
    lacks_avx512: bool, dtype: torch.dtype, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "mkl_lacks_avx512", lambda: lacks_avx512)
    network = _network().to(dtype)
    multiply_faster(network)
    assert [type(network[0]), type(network[2])] == [expected, expected]


@pytest.mark.parametrize("shape", [(FEW, 48), (7, 48), (2, 90, 48), (0, 48)])
def test_both_libraries_compute_the_same(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[int]()
    by_onednn = linear.by_onednn

    def count_call(states: torch.Tensor, *layer: torch.Tensor) -> torch.Tensor:
        calls.append(len(states))
        return by_onednn(states, *layer)

    monkeypatch.setattr(linear, "mkl_lacks_avx512", lambda: True)
    monkeypatch.setattr(linear, "by_onednn", count_call)
    plain, faster = _network(), _network()
    multiply_faster(faster)
    states = torch.randn(shape)
    with torch.inference_mode():
        torch.testing.assert_close(faster(states), plain(states))
        torch.testing.assert_close(faster(states.transpose(0, -2)), plain(states.transpose(0, -2)))
    assert len(calls) == (4 if states.numel() >= FEW * 48 else 0)  # two layers, each for two inputs
    gradients = []
    for network in (plain, faster):
        inputs = states.clone().requires_grad_()
        network(inputs).square().sum().backward()
        gradients.append(inputs.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(
    ("vendor", "width", "lacks_avx512"),
    [
        ("AuthenticAMD", "AVX512", True),
        ("AuthenticAMD", "AVX2", False),
        ("GenuineIntel", "AVX512", False),
    ],
)
def test_mkl_ignores_avx512_on_amd_processors(
    vendor: str, width: str, lacks_avx512: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: width)
    monkeypatch.setattr(machine, "_processor_field", {"vendor_id": vendor}.get)
    assert machine.mkl_lacks_avx512() == lacks_avx512
