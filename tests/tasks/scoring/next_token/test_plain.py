import pytest
import torch

from data.errors import ScoreError, UsageError
from tasks.models import LanguageModel
from tasks.scoring.next_token import next_token_log_probs
from tests.tasks.models.tiny import byte_tokenizer, tiny_language_model

PROMPTS = ["Q: Where?\nA:", "x", "The capital of Norway is Oslo.\nQ: What is the capital of Norway?\nA:", "Oslo", "x"]


def _alone(model: LanguageModel, prompt: str) -> torch.Tensor:
    ids = model.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        return torch.log_softmax(model.model(torch.tensor([ids])).logits[0, -1], dim=-1)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "mistral"])
def test_padded_batch_equals_prompts_read_alone(family: str) -> None:
    model = tiny_language_model(family)
    found = next_token_log_probs(model, PROMPTS, batch_size=4)
    torch.testing.assert_close(found, torch.stack([_alone(model, one) for one in PROMPTS]), atol=1e-5, rtol=0)


def test_batch_size_changes_nothing(tiny: LanguageModel) -> None:
    every = [next_token_log_probs(tiny, PROMPTS, batch_size=size) for size in (1, 2, 100)]
    torch.testing.assert_close(every[0], every[1], atol=1e-5, rtol=0)
    torch.testing.assert_close(every[0], every[2], atol=1e-5, rtol=0)


def test_probabilities_sum_to_one_in_float32_whatever_the_dtype() -> None:
    model = tiny_language_model()
    model.model.to(torch.bfloat16)
    found = next_token_log_probs(model, PROMPTS)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(len(PROMPTS)), atol=1e-5, rtol=0)


def test_equal_prompts_are_read_once() -> None:
    model = tiny_language_model()
    next_token_log_probs(model, ["a", "b", "a", "a"], batch_size=1)
    assert model.forward_passes == 2


def test_special_tokens_come_only_when_asked_for() -> None:
    model = tiny_language_model()
    model.tokenizer = byte_tokenizer(pairs=True)
    plain, marked = (next_token_log_probs(model, ["Oslo"], add_special_tokens=marks) for marks in (False, True))
    torch.testing.assert_close(plain[0], _alone(model, "Oslo"), atol=1e-5, rtol=0)
    assert not torch.allclose(plain, marked)


def test_prompt_longer_than_the_window_is_refused_not_cut() -> None:
    model = tiny_language_model(window=16)
    with pytest.raises(ScoreError, match=r"17 tokens.*never cut.*xxxx"):
        next_token_log_probs(model, ["short", "x" * 17])


def test_prompt_without_tokens_is_refused(tiny: LanguageModel) -> None:
    with pytest.raises(ScoreError, match="no tokens"):
        next_token_log_probs(tiny, ["fine", ""])


def test_model_that_gives_nan_is_refused_with_its_prompt() -> None:
    model = tiny_language_model()
    with torch.no_grad():
        model.model.lm_head.weight[7] = float("nan")
    with pytest.raises(ScoreError, match="Where are you"):
        next_token_log_probs(model, ["Where are you"])


def test_impossible_batch_size_is_refused(tiny: LanguageModel) -> None:
    with pytest.raises(UsageError, match="batch_size"):
        next_token_log_probs(tiny, ["a"], batch_size=0)


def test_no_prompts_give_no_rows(tiny: LanguageModel) -> None:
    assert next_token_log_probs(tiny, []).shape == (0, 261)
