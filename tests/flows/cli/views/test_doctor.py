import pytest
import torch

from swaymeter.flows.cli.views.doctor import checks


def processors() -> str:
    """The result of the check of the processors."""
    return next(check.detail for check in checks() if check.name == "processors")


@pytest.mark.parametrize(
    ("capabilities", "text"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, "bfloat16 is much faster than float32"),
        ({"amx_bf16": False, "avx512_bf16": True}, "bfloat16 saves memory and hardly time"),
        ({"amx_bf16": False, "avx2": True}, "bfloat16 is slower than float32"),
    ],
)
def test_bfloat16_on_this_cpu_is_explained(
    capabilities: dict[str, bool], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert text in processors()


def test_a_gpu_without_bitsandbytes_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Some GPU")
    assert 'GPU: cuda:0 Some GPU; 8bit and 4bit need bitsandbytes: pip install "swaymeter[quantised]"' in processors()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "GPU: none; 8bit and 4bit need one" in processors()
