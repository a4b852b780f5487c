import pytest
import torch

from flows.cli.doctor import checks


def processors() -> str:
    """What is said of the processors."""
    return next(check.seen for check in checks() if check.name == "processors")


@pytest.mark.parametrize(
    ("capabilities", "said"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, "bfloat16 is much faster than float32"),
        ({"amx_bf16": False, "avx512_bf16": True}, "bfloat16 saves memory and hardly time"),
        ({"amx_bf16": False, "avx2": True}, "bfloat16 is slower than float32"),
    ],
)
def test_whether_bfloat16_is_fast_on_this_cpu_is_said(
    capabilities: dict[str, bool], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert said in processors()


def test_a_gpu_without_bitsandbytes_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Some GPU")
    assert 'GPU: cuda:0 Some GPU; 8bit and 4bit need bitsandbytes: pip install "swaymeter[quantised]"' in processors()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "GPU: none; 8bit and 4bit need one" in processors()
