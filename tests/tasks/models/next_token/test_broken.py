import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.network import Verdict
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.tiny import tiny_language_model

CONTEXTS = ["Oslo is big.\n", "Lima is small.\n", "x"]
LONG = "Q: What is the capital of Norway, and who lives there?\nA:"


def _deaf() -> LanguageModel:
    """A model whose attention adds nothing: only the last token counts."""
    model = tiny_language_model()
    with torch.no_grad():
        for layer in model.model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
    return model


@pytest.mark.parametrize("way", [PREFIX_TREE, PLAIN])
def test_contexts_that_change_nothing_are_refused(way: str) -> None:
    model = _deaf()
    if way == PLAIN:
        model.engine.verdicts[PREFIX_TREE, False] = Verdict("for this test")
    with pytest.raises(ScoreError, match=r"tiny in float32 .* after all 3 contexts of the query 'Where is'"):
        persuasion(model, CONTEXTS, ["Where is"])
    with pytest.raises(ScoreError, match="same distribution"):
        answer_set_persuasion(model, CONTEXTS, ["Where is"], [["Oslo"], ["Lima"]])


@pytest.mark.parametrize("contexts", [["Oslo.\n"], ["Oslo.\n", "Oslo.\n"]])
def test_a_single_context_may_change_nothing(contexts: list[str]) -> None:
    assert (persuasion(_deaf(), contexts, ["Where is"]).scores == 0).all()


def test_contexts_out_of_reach_may_change_nothing() -> None:
    model = tiny_language_model("mistral")  # two layers that look back by 8 tokens
    assert (persuasion(model, CONTEXTS, [LONG]).scores < 1e-6).all()
    assert persuasion(model, CONTEXTS, ["Where"]).scores.max() > 1e-3


@pytest.mark.parametrize("logit", [torch.nan, torch.inf, -torch.inf])
def test_a_single_logit_that_is_not_finite_is_refused(logit: float) -> None:
    model = tiny_language_model()

    def break_one(network: object, inputs: object, output: torch.nn.Module) -> None:
        output.logits[..., 7] = logit

    model.model.register_forward_hook(break_one)
    with pytest.raises(ScoreError, match=r"NaN or infinite.* for the query 'Where is' after the context 'Oslo is big"):
        persuasion(model, CONTEXTS, ["Where is"])
