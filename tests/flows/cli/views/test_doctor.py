import pytest
import torch

from swaymeter.flows.cli.views.doctor import checks, servers
from swaymeter.flows.config.sections import ModelPart
from tests.tasks.models.endpoints.letter_server import letter_server


@pytest.mark.parametrize(
    ("capabilities", "gpus", "text"),
    [
        (["amx_bf16", "avx512_bf16"], 0, "bfloat16 is much faster than float32"),
        (["avx512_bf16"], 0, "bfloat16 saves memory, but little time"),
        (["avx2"], 0, "bfloat16 is slower than float32 on this CPU; GPU: none; 8bit and 4bit need a GPU"),
        ([], 1, 'GPU: cuda:0 Some GPU; 8bit and 4bit need bitsandbytes: pip install "swaymeter[quantised]"'),
    ],
)
def test_processors_and_missing_libraries_are_explained(
    capabilities: list[str], gpus: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: dict.fromkeys(capabilities, True))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Some GPU")
    assert text in next(check.detail for check in checks() if check.name == "processors")


def test_servers_of_the_models_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "a-key-of-this-test")
    with letter_server("refuses log-probabilities", "ignores seed", dialect="openai") as server:
        models = [
            ModelPart(name="here"),
            ModelPart(name="there", endpoint=server.address, served_as="made-up", key_from="A_KEY"),
            ModelPart(name="keyless", endpoint=server.address, key_from="NO_KEY"),
            ModelPart(name="gone", endpoint="http://127.0.0.1:1"),
        ]
        there, keyless, gone = servers(models)
    assert [check.name for check in (there, keyless, gone)] == ["server there", "server keyless", "server gone"]
    assert there.works
    for text in (
        f"openai at {server.address}; the key in A_KEY is accepted; prompts are sent as messages; ",
        "cannot give token_log_probs (log_probs: the server refuses log-probabilities: ",
        "failed check seed: the same seed gives another reply",
    ):
        assert text in there.detail
    assert not keyless.works
    assert "NO_KEY, which is not set" in keyless.detail
    assert not gone.works
    assert "cannot be reached" in gone.detail
