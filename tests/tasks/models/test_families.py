"""Engine of each model family: a fast engine, unless this module lists the family among the exceptions."""

import pytest

from swaymeter.tasks.models.generation.readers import PLAIN, SLOTS, engine_of_answers
from swaymeter.tasks.models.next_token.by_query import PREFIX_TREE, engine
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from tests.tasks.models.tiny import FAMILIES, family_model

_RECURRENT = (
    "bamba falcon_h1 falcon_mamba granitemoehybrid jamba lfm2 mamba mamba2 minimax qwen3_next recurrent_gemma rwkv "
    "xlstm zamba2"
)
_OWN_POSITIONS = "bart blenderbot-small bloom mbart mpt openai-gpt pegasus roberta roformer trocr xlm-roberta"
_LOCAL_ATTENTION = "gpt_neo llama4"
_OWN_ATTENTION = (
    "codegen deepseek_v2 deepseek_v3 diffllama falcon gemma2 gpt_neox_japanese gpt_oss gptj jetmoe vaultgemma xglm"
)
WITHOUT_PREFIX_TREE = {*" ".join((_RECURRENT, _OWN_POSITIONS, _LOCAL_ATTENTION)).split(), "falcon with ALiBi"}
WITHOUT_SLOTS = {*WITHOUT_PREFIX_TREE, *_OWN_ATTENTION.split()}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_fastest_engine(family: str) -> None:
    model = family_model(family)
    prompts = tokenize_prompts(model, ["Oslo is big.\n", "x"], ["Q: Who?\nA:", "The capital is"])
    flat_prompts = [prompt for row in prompts for prompt in row]
    assert engine(model, prompts) == (PLAIN if family in WITHOUT_PREFIX_TREE else PREFIX_TREE)
    assert engine_of_answers(model, flat_prompts, new_tokens=4) == (PLAIN if family in WITHOUT_SLOTS else SLOTS)
