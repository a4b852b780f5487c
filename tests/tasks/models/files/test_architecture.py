import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.files.identity import check_left_to_right
from swaymeter.tasks.models.loading import identify_language_model
from tests.tasks.models.tiny import save_language_model


@pytest.mark.parametrize(
    ("architecture", "options", "kind"),
    [
        ("BertForMaskedLM", {}, "a masked language model"),
        ("RobertaForMaskedLM", {"is_decoder": False}, "a masked language model"),
        ("RobertaForCausalLM", {}, "an encoder"),
        ("DebertaV2Model", {}, "an encoder"),
        ("T5EncoderModel", {}, "an encoder"),
        ("T5ForConditionalGeneration", {"is_encoder_decoder": True}, "an encoder-decoder"),
        ("BartForConditionalGeneration", {"is_encoder_decoder": True}, "an encoder-decoder"),
        ("LlamaForSequenceClassification", {}, "a classifier"),
        ("XLNetLMHeadModel", {}, "a permutation language model"),
    ],
)
def test_noncausal_models_are_refused(architecture: str, options: dict[str, Any], kind: str, tmp_path: Path) -> None:
    folder = save_language_model(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": [architecture]} | options))
    with pytest.raises(ModelError, match=rf"/model' is {kind}.* \({architecture}\); use a language model"):
        identify_language_model(str(folder))


def test_left_to_right_models_are_accepted() -> None:
    for architecture in ("GPT2LMHeadModel", "Gemma3ForConditionalGeneration", "Ernie4_5ForCausalLM"):
        check_left_to_right("m", {"architectures": [architecture]})
    for architecture in ("BartForCausalLM", "RobertaForCausalLM", "BertGenerationDecoder"):
        check_left_to_right("m", {"architectures": [architecture], "is_decoder": True, "is_encoder_decoder": False})


def test_a_bidirectional_model_is_refused_when_loaded(tmp_path: Path) -> None:
    save_language_model(tmp_path, family="bert-generation", is_decoder=False)
    identify_language_model(str(tmp_path))
    with pytest.raises(ModelError, match=r"in both directions \(BertGenerationDecoder\)"):
        load_language_model(str(tmp_path), device="cpu")
