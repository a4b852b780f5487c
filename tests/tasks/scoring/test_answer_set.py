"""Answer-set scores against a brute force that reads each answer as a prompt of its own; bounds, degenerate cases."""

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
from tests.tasks.models.alone import break_token, steps, tokens_of
from tests.tasks.models.tiny import byte_pair_tokenizer, byte_tokenizer, tiny_language_model

CONTEXTS = ["Oslo is big.\n", "Norway's capital is Rome.\n", "Lima.\n", ""]
# The last token of the second one joins the space behind it. All are short, since one model sees eight tokens back.
QUERIES = ["Q: So?\nA:", "Where", "At \n"]
# Few letters each, so that a model of bytes finds none of them out of the question.
ANSWERS = [["O", "Os"], ["N"], ["NY"], ["S"], ["S. L", "S."], ["Q:"]]
TOKENIZERS = {"bytes": byte_tokenizer(), "pairs": byte_pair_tokenizer()}


def _log_probs(model: LanguageModel, prompt: str, aliases: Sequence[str]) -> NDArray[np.float64]:
    """log p of each alias and its end behind a prompt: (n_aliases,)."""
    space = "" if prompt[-1:].isspace() else " "
    wholes = [tokens_of(model, f"{prompt}{space}{alias}") for alias in aliases]
    alike = [len(set(tokens)) == 1 for tokens in zip(tokens_of(model, prompt), *wholes, strict=False)]
    start = [*alike, False].index(False)
    texts = model.tokenizer.batch_decode([[token] for token in range(len(model.tokenizer))])
    stops = {token for token, text in enumerate(texts) if text.startswith(("\n", "."))} | end_tokens(model)
    found = []
    for whole in wholes:
        of_steps = steps(model, whole[:start], [*whole[start:], 0]).double()
        continued = {other[len(whole)] for other in wholes if other[: len(whole)] == whole and len(other) > len(whole)}
        tokens = sum(float(step[token]) for step, token in zip(of_steps, whole[start:], strict=False))
        found.append(tokens + float(of_steps[-1, sorted(stops - continued)].logsumexp(dim=0)))
    return np.array(found)


def _by_brute_force(
    model: LanguageModel, contexts: Sequence[str], query: str, answers: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and mass: (n_contexts,) each."""
    aliases = [alias for of_answer in answers for alias in of_answer]
    owner = np.array([number for number, of_answer in enumerate(answers) for _ in of_answer])
    rows = np.array([_log_probs(model, context + query, aliases) for context in contexts])
    largest = rows.max(axis=1, keepdims=True)
    p = np.stack([np.exp(rows - largest)[:, owner == number].sum(axis=1) for number in range(len(answers))], axis=1)
    p /= p.sum(axis=1, keepdims=True)
    return (p * np.log(p / p.mean(axis=0))).sum(axis=1), np.exp(rows).sum(axis=1)


@pytest.mark.parametrize(
    ("family", "tokens"),
    [("llama", "bytes")] + [(family, "pairs") for family in ("llama", "gpt2", "gpt_neox", "mistral", "bloom")],
)
def test_scores_and_mass_are_those_of_brute_force(family: str, tokens: str) -> None:
    tokenizer: PreTrainedTokenizerFast = TOKENIZERS[tokens]
    model = tiny_language_model(family, tokenizer=tokenizer)
    found = answer_set_persuasion(model, CONTEXTS, QUERIES, ANSWERS)
    for query, scores, mass in zip(QUERIES, found.scores, found.mass, strict=True):
        expected, expected_mass = _by_brute_force(model, CONTEXTS, query, ANSWERS)
        np.testing.assert_allclose(scores, expected, atol=1e-5)
        np.testing.assert_allclose(mass, expected_mass, rtol=1e-4)
    assert found.scores.max() > 0.01
    np.testing.assert_allclose(found.susceptibility, found.scores.mean(axis=1), atol=1e-12)
    assert found.engine == ("plain" if family == "bloom" else "prefix tree")


def test_mass_is_the_probability_of_exclusive_answers() -> None:
    """All answers of at most two letters, and what ends them: nothing is left but longer ones and other tokens."""
    model = tiny_language_model()
    letters = [chr(letter) for letter in range(33, 127)]
    with torch.no_grad():  # a model that says almost nothing else
        model.model.lm_head.weight *= 0
        model.model.lm_head.bias = torch.nn.Parameter(torch.full((len(model.tokenizer),), -20.0))
        likely = [model.tokenizer(text)["input_ids"][0] for text in (*letters, "\n")]
        model.model.lm_head.bias[likely] = 0.0
    answers = [[one] for one in letters] + [[one + other] for one in letters for other in letters if one == "."]
    found = answer_set_persuasion(model, [""], ["Q:\n"], answers, terminators=("\n", "."))
    # p(letter) = 1/95 for 94 letters. Ends are the line and the full stop, but "." goes on with every letter.
    by_hand = 93 / 95 * 2 / 95 + 1 / 95 * 1 / 95 + 94 / 95**2 * 2 / 95
    assert found.mass[0, 0] == pytest.approx(by_hand, rel=1e-3)


def test_bounds_and_a_context_that_occurs_twice(tiny: LanguageModel) -> None:
    contexts = [*CONTEXTS[:3], CONTEXTS[0]]
    found = answer_set_persuasion(tiny, contexts, QUERIES, ANSWERS)
    weights = np.array([0.5, 0.25, 0.25, 0.5])
    assert (found.scores >= 0).all()
    assert (found.scores <= -np.log(weights)).all()
    assert ((found.mass > 0) & (found.mass < 1)).all()
    np.testing.assert_array_equal(found.scores[:, 0], found.scores[:, 3])
    np.testing.assert_allclose(found.susceptibility, found.scores.mean(axis=1), atol=1e-12)
    once = answer_set_persuasion(tiny, CONTEXTS[:3], QUERIES, ANSWERS)
    assert (found.scores[:, 0] < once.scores[:, 0]).all()


def test_one_answer_or_one_context_persuades_of_nothing(tiny: LanguageModel) -> None:
    np.testing.assert_allclose(answer_set_persuasion(tiny, CONTEXTS, QUERIES, [["Oslo", "Rome"]]).scores, 0, atol=1e-12)
    found = answer_set_persuasion(tiny, CONTEXTS[:1] * 3, QUERIES, ANSWERS)
    np.testing.assert_allclose(found.scores, 0, atol=1e-12)
    np.testing.assert_allclose(found.susceptibility, 0, atol=1e-12)


def test_answers_too_unlikely_for_number_are_still_compared(tiny: LanguageModel) -> None:
    answers = [["x" * 150], ["x" * 149 + "y"]]
    found = answer_set_persuasion(tiny, CONTEXTS[:2], QUERIES[:1], answers)
    assert (found.mass == 0).all()
    expected, _ = _by_brute_force(tiny, CONTEXTS[:2], QUERIES[0], answers)
    np.testing.assert_allclose(found.scores[0], expected, atol=1e-4)


def test_terminators_are_a_choice(tiny: LanguageModel) -> None:
    every = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS).mass
    only_end = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS, terminators=()).mass
    only_line = answer_set_persuasion(tiny, CONTEXTS[:1], QUERIES[:1], ANSWERS, terminators=("\n",)).mass
    assert only_end < only_line < every


def test_memory_order_and_slices_change_nothing(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer_set_persuasion(tiny, CONTEXTS, QUERIES, ANSWERS)
    with monkeypatch.context() as without_memory:
        without_memory.setattr(shared, "memory_budget", lambda device: 1)
        turned = answer_set_persuasion(tiny, CONTEXTS[::-1], QUERIES[::-1], ANSWERS[::-1])
    np.testing.assert_allclose(found.scores, turned.scores[::-1, ::-1], atol=1e-5)
    monkeypatch.setattr(complete_answers, "_PROMPTS_AT_ONCE", 1)
    sliced = answer_set_persuasion(tiny, CONTEXTS, QUERIES, ANSWERS)
    np.testing.assert_allclose(found.scores, sliced.scores, atol=1e-5)
    np.testing.assert_allclose(found.mass, sliced.mass, rtol=1e-4)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "has no answers"),
        ([["Oslo"], []], "answer 1 has an empty text, or no text"),
        ([["Oslo", " "]], "answer 0 has an empty text, or no text"),
        ([["Oslo"], ["Rome", "Oslo"]], "'Oslo' and 'Oslo'"),
        ([["Oslo", "Oslo "]], "'Oslo' and 'Oslo'"),
    ],
)
def test_answers_that_are_no_set_are_refused(answers: list[list[str]], message: str, tiny: LanguageModel) -> None:
    with pytest.raises(UsageError, match=message):
        answer_set_persuasion(tiny, CONTEXTS, QUERIES, answers)


def test_a_broken_score_names_query_and_context(tiny: LanguageModel) -> None:
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
