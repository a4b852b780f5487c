import pytest
import torch

from swaymeter.flows.cli.views.doctor import checks


@pytest.mark.parametrize(
    ("capabilities", "gpus", "text"),
    [
        (["amx_bf16", "avx512_bf16"], 0, "bfloat16 is much faster than float32"),
        (["avx512_bf16"], 0, "bfloat16 saves memory and hardly time"),
        (["avx2"], 0, "bfloat16 is slower than float32 on this CPU; GPU: none; 8bit and 4bit need one"),
        ([], 1, 'GPU: cuda:0 Some GPU; 8bit and 4bit need bitsandbytes: pip install "swaymeter[quantised]"'),
    ],
)
def test_what_computes_here_is_explained(
    capabilities: list[str], gpus: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(capabilities, True))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Some GPU")
    assert text in next(check.detail for check in checks() if check.name == "processors")
