"""A tokenizer that puts a start token before each text, like those of Llama, Mistral and Gemma."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import processors

from swaymeter.data import catalog
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.network import MethodDecision, ReadingMethod
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.models.prompts.tokens import start_tokens, tokenize, tokenize_prompts
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.first_token import first_tokens
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.memorization import greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.reference_values import log_probs, step_log_probs
from tests.tasks.models.tiny import CHAT, byte_tokenizer, tiny_language_model

ORACLE = Path(__file__).parents[3] / "oracle" / "start_token"
EXPECTED: Any = json.loads((ORACLE / "expected.json").read_text(encoding="utf-8"))
CONTEXTS, QUERIES = EXPECTED["contexts"], EXPECTED["queries"]
VOCABULARY, WINDOW = 368, 256
"""The size of the model's vocabulary, and the largest number of tokens that it reads."""


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return load_language_model(str(ORACLE / "model"), dtype="float32", device="cpu")


def test_prompts_have_the_tokenizers_own_tokens(model: LanguageModel) -> None:
    by_query = zip(*tokenize_prompts(model, CONTEXTS, QUERIES), strict=True)
    assert [list(row) for row in by_query] == EXPECTED["prompt_token_ids"]


@pytest.mark.parametrize("engine", [PREFIX_TREE, PLAIN])
def test_persuasion_agrees_with_plain_passes(
    model: LanguageModel, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == PLAIN:
        monkeypatch.setitem(
            model.traits.method_decisions, ReadingMethod(PREFIX_TREE), MethodDecision(reason="for this test")
        )
    result = persuasion(model, CONTEXTS, QUERIES)
    assert result.engine == engine
    np.testing.assert_allclose(result.scores, EXPECTED["persuasion"], atol=1e-4, rtol=0)
    np.testing.assert_allclose(result.susceptibility, EXPECTED["susceptibility"], atol=1e-4, rtol=0)
    without_start = persuasion(model, CONTEXTS, QUERIES, start_token=False)
    assert np.abs(without_start.scores - result.scores).max() > 0.1


def test_greedy_answer_agrees_with_plain_passes(model: LanguageModel) -> None:
    greedy = EXPECTED["greedy"]
    prompt = answer_prompt(model, "What is the capital of Kenya?").tokens
    assert list(prompt) == greedy["prompt_token_ids"]
    (answers,) = sample_answers(model, [prompt], [("kenya",)], max_new_tokens=6)
    assert list(answers.greedy.token_ids) == greedy["token_ids"]
    np.testing.assert_allclose(answers.greedy.token_log_probs, greedy["token_log_probs"], atol=1e-4)


def test_line_of_greedy_answers_follows_start_token(model: LanguageModel) -> None:
    (texts,), _ = greedy_answers(model, CONTEXTS[:2], QUERIES[2:3], max_new_tokens=6)
    ids: list[int] = list(EXPECTED["prompt_token_ids"][2][0])
    for _ in range(6):
        ids.append(int(log_probs(model, [ids])[0].argmax()))
    text = model.tokenizer.decode(ids[-6:], skip_special_tokens=True)
    assert texts[0] == text.strip().split("\n")[0].strip()


def test_answers_of_a_set_follow_the_start_token(model: LanguageModel) -> None:
    context, query, answer = CONTEXTS[0], QUERIES[3], "Oslo"
    result = answer_set_persuasion(model, [context, CONTEXTS[1]], [query], [[answer]], terminators=["\n"])
    prompt, with_answer = (model.tokenizer(context + text)["input_ids"] for text in (query, f"{query} {answer}"))
    assert with_answer[: len(prompt)] == prompt
    # The token 0 stands for any token; the last step is the distribution after the answer, where the answer ends.
    log_probs_of_steps = step_log_probs(model, prompt, [*with_answer[len(prompt) :], 0]).double()
    ends = {
        model.model.config.eos_token_id,
        *(token for token in range(VOCABULARY) if model.tokenizer.decode([token]).startswith("\n")),
    }
    log_prob = sum(float(log_probs_of_steps[step, token]) for step, token in enumerate(with_answer[len(prompt) :]))
    assert result.mass[0, 0] == pytest.approx(
        np.exp(log_prob + float(log_probs_of_steps[-1, sorted(ends)].logsumexp(0))), rel=1e-4
    )


def test_fisher_does_not_vary_the_start_token(model: LanguageModel) -> None:
    ids = torch.tensor([model.tokenizer(QUERIES[0])["input_ids"]])
    embeddings = model.model.get_input_embeddings()(ids).detach().requires_grad_()
    log_p = torch.log_softmax(model.model(inputs_embeds=embeddings).logits[0, -1], dim=-1)
    top = log_p.topk(5).values
    gradients = [torch.autograd.grad(log_prob, embeddings, retain_graph=True)[0][0] for log_prob in top]
    without_start = sum(
        (log_prob.exp() * gradient[1:].square().sum()).item() for log_prob, gradient in zip(top, gradients, strict=True)
    )
    with_start = sum(
        (log_prob.exp() * gradient.square().sum()).item() for log_prob, gradient in zip(top, gradients, strict=True)
    )
    trace = fisher_susceptibility(model, QUERIES[:2], top_k=5).trace[0]
    assert trace == pytest.approx(without_start, rel=1e-3)
    assert trace != pytest.approx(with_start, rel=1e-3)


def test_a_study_may_omit_the_start_token(model: LanguageModel) -> None:
    never = replace(catalog.prompts(), start_token="never")
    plain = model.tokenizer("Q: Who?\nA:", add_special_tokens=False)["input_ids"]
    assert list(answer_prompt(model, "Who?", prompts=never).tokens) == plain
    assert tokenize(model, ["Q: Who?\nA:"], start_token=False) == [plain]
    assert first_tokens(model, ["Oslo"]) == first_tokens(model, ["Oslo"], never)


def _model_with_template(template: str, *, chat: str | None = None) -> LanguageModel:
    tokenizer = byte_tokenizer(chat_template=chat)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<cls>", 3), ("<sep>", 4)]
    )
    return tiny_language_model(tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("template", "start"), [("<cls> $A", (3,)), ("<cls> <sep> $A", (3, 4)), ("$A <sep>", ()), ("<cls> $A <sep>", (3,))]
)
def test_prompt_excludes_tokens_after_the_text(template: str, start: tuple[int, ...]) -> None:
    model = _model_with_template(template)
    assert start_tokens(model) == start
    assert tokenize(model, ["ab"]) == [[*start, *model.tokenizer("ab", add_special_tokens=False)["input_ids"]]]


def test_a_chat_template_writes_its_own_start_token() -> None:
    prompt = answer_prompt(_model_with_template("<cls> $A", chat=f"<cls>{CHAT}"), "Who?").tokens
    assert prompt[0] == 3
    assert prompt.count(3) == 1


def test_the_start_token_counts_for_the_window(model: LanguageModel) -> None:
    context = "Oslo is big. " * 60
    prompt = answer_prompt(model, "Where is Oslo?", context, reserved_tokens=6)
    assert prompt.tokens[0] == 0
    assert prompt.context_cut > 0
    assert len(prompt.tokens) + 6 <= WINDOW
