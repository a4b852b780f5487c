import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from swaymeter.data.sources.http.session import close_sessions
from swaymeter.flows.stages.refusals import refusals
from swaymeter.tasks.models import size
from swaymeter.tasks.models.endpoints import model
from tests.data.sources.servers.faults import unused_address
from tests.flows.small_study import load_study, small_study
from tests.tasks.models.endpoints.letter_server import TOKENIZER, letter_server
from tests.tasks.models.tiny import CHAT, byte_tokenizer

PARAMETERS = 200
"""Numbers in the weights of a model; each has 2 bytes in bfloat16 and 4 bytes in float32."""
TEMPLATE_WITH_KEYWORD = "{{ 'off' if not enable_thinking }}" + CHAT


@pytest.mark.parametrize(
    ("device", "dtype", "memory_per_gpu", "refusal"),
    [
        ("cuda:1", "bfloat16", 2 * PARAMETERS - 1, "in bfloat16 has 0 GB of weights, and cuda:1 has 0 GB; use device "),
        ("cuda", "bfloat16", 2 * PARAMETERS, ""),
        ("auto", "bfloat16", 2 * PARAMETERS - 1, "and cuda:0 has"),
        ("balanced", "float32", 2 * PARAMETERS - 1, "and the GPUs of this machine have"),
        ("balanced", "float32", 2 * PARAMETERS, ""),  # on both GPUs, 4 bytes for each parameter
        ("cpu", "float32", 1, ""),
    ],
)
def test_models_larger_than_their_gpus_are_refused(
    device: str, dtype: str, memory_per_gpu: int, refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    gpu = SimpleNamespace(total_memory=memory_per_gpu)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: gpu)
    monkeypatch.setattr(size, "SMALL", 0)  # the device auto checks only larger models
    model = tmp_path / "large"
    model.mkdir()
    (model / "config.json").write_text("{}")
    for number, shape in enumerate([(10, 10), (100,)]):  # together PARAMETERS
        save_file({"weights": np.zeros(shape, dtype=np.float32)}, model / f"{number}.safetensors")
    shards = {"weight_map": {"one": "0.safetensors", "other": "1.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(shards))
    study = load_study(
        tmp_path,
        questions=None,
        measures={"persuasion": {}},
        models=[{"name": str(model), "dtype": dtype, "device": device}],
    )
    (reason,) = [*refusals(study.graph, study.plan, study.graph.nodes)] or [""]
    assert refusal in reason
    assert reason.startswith(f"models.0: model '{model}' " if refusal else "")
    assert bool(reason) == bool(refusal)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            CHAT,
            "has no keyword 'enable_thinking' (its keywords: none); leave enable_thinking out, or run this model",
        ),
        (TEMPLATE_WITH_KEYWORD, ""),
        (None, "is used without a chat template, so leave prompt.template_options out"),
        ("no tokenizer", ""),
    ],
)
def test_options_that_a_template_lacks_are_refused(template: str | None, message: str, tmp_path: Path) -> None:
    changes = {"prompt": {"template_options": {"enable_thinking": False}}}
    (model,) = small_study(tmp_path)["models"]
    if template != "no tokenizer":
        byte_tokenizer(chat_template=template).save_pretrained(model["name"])
    study = load_study(tmp_path, **changes)
    reasons = [*refusals(study.graph, study.plan, study.graph.nodes)]
    assert len(reasons) == bool(message)
    assert all(reason.startswith("models.0: ") and message in reason and model["name"] in reason for reason in reasons)
    only_facts = load_study(tmp_path, **changes, questions=None, measures={"persuasion": {}})
    assert not [*refusals(only_facts.graph, only_facts.plan, only_facts.graph.nodes)]


def test_an_unusable_file_of_facts_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("relation,subject,object\ncapital,A\x1b,B\n")
    facts = {"source": "file", "file": str(tmp_path / "facts.csv"), "relations": ["capital"], "real_entities": 1}
    study = load_study(tmp_path, facts={**facts, "invented_entities": 1}, questions=None, measures={"persuasion": {}})
    (refusal,) = refusals(study.graph, study.plan, study.graph.nodes)
    assert refusal.count("facts.csv") == 1


@pytest.mark.parametrize(
    ("faults", "has_local_model", "refusal"),
    [
        ((), False, ""),
        (("refuses whole distributions",), False, "cannot give next_token_logits (whole: "),
        # None: no server has the address
        (None, False, "cannot be reached"),
        (None, True, ""),  # the local model can run; the steps of the served model fail
    ],
)
def test_servers_are_probed_before_a_run(
    faults: tuple[str, ...] | None, has_local_model: bool, refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "load_transformers_tokenizer", lambda identity: TOKENIZER)
    monkeypatch.setattr(model, "identify_model", lambda name, kind: SimpleNamespace(location=name))
    with letter_server(*(faults or ())) as server:
        address = unused_address() if faults is None else server.address
        endpoint = {"name": "made-up", "endpoint": address, "tokenizer": str(tmp_path / "model")}
        models = [endpoint, *([{"name": str(tmp_path / "model")}] if has_local_model else [])]
        study = load_study(tmp_path, questions=None, measures={"persuasion": {}}, models=models)
        (reason,) = [*refusals(study.graph, study.plan, study.graph.nodes)] or [""]
    close_sessions()
    assert refusal in reason
    assert reason.startswith("models.0: " if refusal else "")
    assert bool(reason) == bool(refusal)
