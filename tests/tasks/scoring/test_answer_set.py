"""Answer-set scores against a brute force that reads each answer separately; bounds and degenerate cases."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.next_token import complete_answers, shared
from swaymeter.tasks.models.prompts.template_options import end_tokens
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from tests.tasks.models.reference_values import break_token, step_log_probs, tokens_of
from tests.tasks.models.tiny import SEAMS, byte_tokenizer, tiny_language_model

CONTEXTS = ["Oslo is big.\n", "Norway's capital is Rome.\n", "Lima.\n", ""]
# With merged bytes, the last letter of "Where" and the space after it are one token. All queries are short, because
# mistral has a window of 8 tokens.
QUERIES = ["Q: So?\nA:", "Where", "At \n"]
# Answers of few letters: each has a probability far above 0, even for a model of bytes.
ANSWERS = [["O", "Os"], ["N"], ["NY"], ["S"], ["S. L", "S."], ["Q:"]]
TOKENIZERS = {"bytes": byte_tokenizer(), "merged bytes": byte_tokenizer(SEAMS)}


def _log_probs(model: LanguageModel, prompt: str, aliases: Sequence[str]) -> NDArray[np.float64]:
    """Return the log-probability of each alias and its end after a prompt, (n_aliases,)."""
    space = "" if prompt[-1:].isspace() else " "
    sequences = [tokens_of(model, f"{prompt}{space}{alias}") for alias in aliases]
    are_equal = [len(set(tokens)) == 1 for tokens in zip(tokens_of(model, prompt), *sequences, strict=False)]
    start = [*are_equal, False].index(False)
    texts = model.tokenizer.batch_decode([[token] for token in range(len(model.tokenizer))])
    stops = {token for token, text in enumerate(texts) if text.startswith(("\n", "."))} | end_tokens(model)
    log_probs = []
    for sequence in sequences:
        # The token 0 stands for any token; the last step is the distribution after the alias, where the alias ends.
        steps = step_log_probs(model, sequence[:start], [*sequence[start:], 0]).double()
        longer = [other for other in sequences if other[: len(sequence)] == sequence and len(other) > len(sequence)]
        continuations = {other[len(sequence)] for other in longer}
        tokens = sum(float(step[token]) for step, token in zip(steps, sequence[start:], strict=False))
        log_probs.append(tokens + float(steps[-1, sorted(stops - continuations)].logsumexp(dim=0)))
    return np.array(log_probs)


def _by_brute_force(
    model: LanguageModel, contexts: Sequence[str], query: str, answers: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores and the mass of a query, (n_contexts,) each."""
    aliases = [alias for answer in answers for alias in answer]
    numbers = np.array([number for number, answer in enumerate(answers) for _ in answer])
    rows = np.array([_log_probs(model, context + query, aliases) for context in contexts])
    largest = rows.max(axis=1, keepdims=True)
    p = np.stack([np.exp(rows - largest)[:, numbers == number].sum(axis=1) for number in range(len(answers))], axis=1)
    p /= p.sum(axis=1, keepdims=True)
    return (p * np.log(p / p.mean(axis=0))).sum(axis=1), np.exp(rows).sum(axis=1)


@pytest.mark.parametrize(
    ("family", "tokens"),
    [("llama", "bytes")] + [(family, "merged bytes") for family in ("llama", "gpt2", "gpt_neox", "mistral", "bloom")],
)
def test_scores_and_mass_match_brute_force(family: str, tokens: str) -> None:
    tokenizer: PreTrainedTokenizerFast = TOKENIZERS[tokens]
    model = tiny_language_model(family, tokenizer=tokenizer)
    result = answer_set_persuasion(model, CONTEXTS, QUERIES, ANSWERS)
    for query, scores, mass in zip(QUERIES, result.scores, result.mass, strict=True):
        expected, expected_mass = _by_brute_force(model, CONTEXTS, query, ANSWERS)
        np.testing.assert_allclose(scores, expected, atol=1e-5)
        np.testing.assert_allclose(mass, expected_mass, rtol=1e-4)
    assert result.scores.max() > 0.01
    np.testing.assert_allclose(result.susceptibility, result.scores.mean(axis=1), atol=1e-12)
    assert result.engine == ("plain" if family == "bloom" else "prefix tree")


def test_mass_is_the_probability_of_exclusive_answers() -> None:
    """Each character is an answer, and so is each character after a full stop."""
    model = tiny_language_model()
    characters = [chr(code) for code in range(33, 127)]
    with torch.no_grad():  # the model writes almost only these characters and newlines
        model.model.lm_head.weight *= 0
        model.model.lm_head.bias = torch.nn.Parameter(torch.full((len(model.tokenizer),), -20.0))
        likely = [model.tokenizer(text)["input_ids"][0] for text in (*characters, "\n")]
        model.model.lm_head.bias[likely] = 0.0
    answers = [[character] for character in characters] + [[f".{character}"] for character in characters]
    result = answer_set_persuasion(model, [""], ["Q:\n"], answers, terminators=("\n", "."))
    # p(character) = 1/95 for 94 characters. The newline and the full stop end an answer. But after ".", only the
    # newline is an end, because a full stop continues to the answer "..".
    by_hand = 93 / 95 * 2 / 95 + 1 / 95 * 1 / 95 + 94 / 95**2 * 2 / 95
    assert result.mass[0, 0] == pytest.approx(by_hand, rel=1e-3)


def test_scores_keep_bounds_with_a_repeated_context(tiny: LanguageModel) -> None:
    contexts = [*CONTEXTS[:3], CONTEXTS[0]]
    result = answer_set_persuasion(tiny, contexts, QUERIES, ANSWERS)
    weights = np.array([0.5, 0.25, 0.25, 0.5])
    assert (result.scores >= 0).all()
    assert (result.scores <= -np.log(weights)).all()
    assert ((result.mass > 0) & (result.mass < 1)).all()
    np.testing.assert_array_equal(result.scores[:, 0], result.scores[:, 3])
    np.testing.assert_allclose(result.susceptibility, result.scores.mean(axis=1), atol=1e-12)
    once = answer_set_persuasion(tiny, CONTEXTS[:3], QUERIES, ANSWERS)
    assert (result.scores[:, 0] < once.scores[:, 0]).all()


def test_one_answer_or_context_has_zero_persuasion(tiny: LanguageModel) -> None:
    np.testing.assert_allclose(answer_set_persuasion(tiny, CONTEXTS, QUERIES, [["Oslo", "Rome"]]).scores, 0, atol=1e-12)
    result = answer_set_persuasion(tiny, CONTEXTS[:1] * 3, QUERIES, ANSWERS)
    np.testing.assert_allclose(result.scores, 0, atol=1e-12)
    np.testing.assert_allclose(result.susceptibility, 0, atol=1e-12)


def test_answers_with_underflowing_mass_are_still_compared(tiny: LanguageModel) -> None:
    answers = [["x" * 150], ["x" * 149 + "y"]]
    result = answer_set_persuasion(tiny, CONTEXTS[:2], QUERIES[:1], answers)
    assert (result.mass == 0).all()
    expected, _ = _by_brute_force(tiny, CONTEXTS[:2], QUERIES[0], answers)
    np.testing.assert_allclose(result.scores[0], expected, atol=1e-4)


def test_fewer_terminators_give_less_mass(tiny: LanguageModel) -> None:
    default = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS).mass
    only_end = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS, terminators=()).mass
    only_line = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS, terminators=("\n",)).mass
    assert only_end < only_line < default


def test_memory_order_and_parts_change_nothing(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    result = answer_set_persuasion(tiny, CONTEXTS, QUERIES, ANSWERS)
    with monkeypatch.context() as without_memory:
        without_memory.setattr(shared, "memory_budget", lambda device: 1)
        backwards = answer_set_persuasion(tiny, CONTEXTS[::-1], QUERIES[::-1], ANSWERS[::-1])
    np.testing.assert_allclose(result.scores, backwards.scores[::-1, ::-1], atol=1e-5)
    monkeypatch.setattr(complete_answers, "_PROMPTS_AT_ONCE", 1)
    in_parts = answer_set_persuasion(tiny, CONTEXTS, QUERIES, ANSWERS)
    np.testing.assert_allclose(result.scores, in_parts.scores, atol=1e-5)
    np.testing.assert_allclose(result.mass, in_parts.mass, rtol=1e-4)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "has no answers"),
        ([["Oslo"], []], r"answer 1 has the texts \[\]; give at least one text"),
        ([["Oslo", " "]], "answer 0 has the texts .*, and no blank text"),
        ([["Oslo"], ["Rome", "Oslo"]], "'Oslo' and 'Oslo'"),
        ([["Oslo", "Oslo "]], "'Oslo' and 'Oslo'"),
    ],
)
def test_missing_or_equal_answers_are_refused(answers: list[list[str]], message: str, tiny: LanguageModel) -> None:
    with pytest.raises(UsageError, match=message):
        answer_set_persuasion(tiny, CONTEXTS, QUERIES, answers)


def test_invalid_terminators_and_broken_scores_are_refused(tiny: LanguageModel) -> None:
    with pytest.raises(UsageError, match="terminator"):
        answer_set_persuasion(tiny, CONTEXTS, QUERIES, ANSWERS, terminators=("\n", ""))
    with pytest.raises(ScoreError, match="does not fit"):
        answer_set_persuasion(tiny_language_model(window=40), CONTEXTS[:1], ["Where?"], [["x" * 30]])
    model = tiny_language_model()
    break_token(model, "x")
    with pytest.raises(ScoreError, match=r"NaN.*query 'a query' after the context 'with an x"):
        answer_set_persuasion(model, ["fine\n", "with an x\n"], ["a query"], ANSWERS)
    with pytest.raises(ScoreError, match=r"NaN.*query 'a query' after the context 'fine"):
        answer_set_persuasion(model, ["fine\n"], ["a query"], [["Oslo"], ["x-ray"]])
    model = tiny_language_model()
    model.model.lm_head.bias = torch.nn.Parameter(torch.zeros(len(model.tokenizer)))
    with torch.no_grad():
        model.model.lm_head.bias[tokens_of(model, "O")[0]] = -float("inf")
    with pytest.raises(ScoreError, match=r"infinite logits.*'a query' after the context 'fine"):
        answer_set_persuasion(model, ["fine\n"], ["a query"], [["Oslo"], ["Odense"]])
