"""Contrastive decodings: formulas by hand, and whole answers against a loop that reads each prompt alone."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.data.randomness import typed_generator
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import Answer, SampledAnswers
from swaymeter.tasks.models.generation import readers
from swaymeter.tasks.models.generation.answers import AnswerEnd
from swaymeter.tasks.models.generation.decoding import DECODINGS, Decoding, decoding_of, divergences, name_of
from swaymeter.tasks.models.generation.readers import PLAIN, SLOTS, engine_of_answers
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.network import MethodDecision, ReadingMethod
from tests.tasks.models.generation.test_thoughts import CHAT_OPENS_THOUGHTS, prompts_of, thinking_model
from tests.tasks.models.reference_values import all_answers, break_token, log_probs, token_ids, tokens_of
from tests.tasks.models.tiny import byte_tokenizer, tiny_language_model, tiny_network

Distribution = NDArray[np.float64]
QUESTIONS = ["Where is Oslo?", "Who?", "What is the capital of Norway, if not Lima?"]
CONTEXTS = ["", "It is Lima. ", "Nobody knows. ", "All towns are elsewhere, far away, and this is long. "]
PAIRS = [(context, question) for question in QUESTIONS for context in CONTEXTS]
NOISE = 2e-3
"""The largest change of a logit by rounding or noise."""
SEED, MAX_TOKENS = 5, 6
"""The default seed of `_sample`, and the largest number of tokens in its answers."""


def decoding_with(name: str, **parameters: float) -> Decoding:
    decoding = decoding_of(name, **parameters)
    assert decoding is not None
    return decoding


ALL = [
    decoding_with("cad"),
    decoding_with("cad", weight=0.5),
    decoding_with("adacad"),
    decoding_with("adacad", least=0.3, base=2),
    decoding_with("coiecd"),
]
NAMES = [str(decoding) for decoding in ALL]


def _combine_by_hand(decoding: Decoding, with_context: Distribution, without_context: Distribution) -> Distribution:
    """Return the combined distribution in float64, by the formulas of the papers."""
    name, parameters = name_of(decoding), {key: getattr(decoding, key) for key in decoding.__slots__}
    if name == "coiecd":
        weight, ratio = parameters["weight"], parameters["ratio"]
        entropy = -sum(probability * math.log(probability) for probability in without_context)
        weighted = np.exp([-math.log(probability) - entropy for probability in with_context])
        information = weighted / weighted.sum()
        lower, upper = information.min() / ratio, information.max() * ratio
        likely = information < lower  # a likely token has little information
        if likely.sum() == 1:  # a context that leaves no doubt is not a conflict
            likely[:] = False
        satisfies = ~likely & (information <= upper)
        weighted = np.where(satisfies, without_context, with_context) * (with_context / without_context) ** weight
        combined: Distribution = weighted / weighted.sum()
        return combined
    if name == "adacad":
        mean = (with_context + without_context) / 2
        entropies = [
            -float(np.sum(distribution * np.log(distribution))) / math.log(parameters["base"])
            for distribution in (mean, with_context, without_context)
        ]
        weight = max(entropies[0] - (entropies[1] + entropies[2]) / 2, parameters["least"])
    else:
        weight = parameters["weight"]
    weighted = with_context ** (1 + weight) / without_context**weight
    contrasted: Distribution = weighted / weighted.sum()
    return contrasted


def _probabilities(seed: int, rows: int, entries: int) -> tuple[Distribution, Distribution]:
    generator = np.random.default_rng(seed)
    exponentials = np.exp(2 * generator.standard_normal((2, rows, entries)))
    with_context, without_context = exponentials / exponentials.sum(axis=2, keepdims=True)
    return with_context, without_context


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_distributions_follow_the_formulas(decoding: Decoding, dtype: torch.dtype) -> None:
    with_context, without_context = _probabilities(1, 200, 7)
    expected = [_combine_by_hand(decoding, *pair) for pair in zip(with_context, without_context, strict=True)]
    # Logits are log-probabilities up to a constant, here 3.
    logits = [
        torch.from_numpy(np.log(distribution) + 3.0).to(dtype) for distribution in (with_context, without_context)
    ]
    np.testing.assert_allclose(decoding.log_probs(*logits).exp(), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("decoding", "expected"),
    # With a weight of 1, the probabilities are 0.5² / 0.2 = 1.25, 0.3² / 0.3 and 0.2² / 0.5, divided by their sum 1.63.
    [
        (decoding_with("cad"), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
        (decoding_with("cad", weight=0.0), [0.5, 0.3, 0.2]),
        (decoding_with("adacad", least=1.0), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
        # All tokens break the constraint: two are above half of the highest, and the last is below twice the lowest.
        (decoding_with("coiecd", ratio=0.5), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
    ],
)
def test_distributions_equal_numbers_by_hand(decoding: Decoding, expected: list[float]) -> None:
    with_context, without_context = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([[0.2, 0.3, 0.5]]).log()
    np.testing.assert_allclose(decoding.log_probs(with_context, without_context).exp(), [expected], atol=1e-6)


def test_divergences_in_nats_reach_their_limit() -> None:
    logits = torch.tensor([[60.0, 0.0], [1.0, 2.0]]), torch.tensor([[0.0, 60.0], [1.0, 2.0]])
    np.testing.assert_allclose(divergences(*logits), [math.log(2), 0.0], atol=1e-6)
    np.testing.assert_allclose(decoding_with("adacad", base=2).weights(*logits), [1.0, 0.0], atol=1e-6)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("probabilities", "satisfies"),
    [
        # The bounds are 0.01 / 0.25 = 0.04 and 0.25 * 0.5 = 0.125.
        ([0.5, 0.4, 0.05, 0.03, 0.01, 0.01], [False, False, True, False, False, False]),
        # The bounds are 0.02 and 0.2. A single token above the upper bound satisfies the constraint.
        ([0.8, 0.1, 0.05, 0.03, 0.015, 0.005], [True, True, True, True, False, False]),
    ],
)
def test_coiecd_constraint_is_right_by_hand(probabilities: list[float], satisfies: list[bool]) -> None:
    coiecd = decoding_with("coiecd")
    assert coiecd.satisfies_constraint(torch.tensor([probabilities]).log()).tolist() == [satisfies]  # type: ignore[union-attr]
    contextless = probabilities[::-1]
    with_context, without_context = torch.tensor([probabilities]).log(), torch.tensor([contextless]).log()
    weights = [
        probability if is_satisfied else probability**2 / other
        for probability, other, is_satisfied in zip(probabilities, contextless, satisfies, strict=True)
    ]
    np.testing.assert_allclose(
        coiecd.log_probs(with_context, without_context).exp(), [np.array(weights) / sum(weights)], atol=1e-6
    )


@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_errors_bound_the_effect_of_rounding(decoding: Decoding) -> None:
    generator = torch.Generator().manual_seed(2)
    with_context, without_context = (
        4 * torch.randn((3000, 12), generator=generator, dtype=torch.float64) for _ in range(2)
    )
    error = decoding.error(with_context, without_context, NOISE)
    assert error.isfinite().float().mean() > 0.9
    largest = torch.zeros(len(with_context), dtype=torch.float64)
    for _ in range(20):
        noisy = [
            logits + NOISE * torch.randn(logits.shape, generator=generator, dtype=logits.dtype).sign()
            for logits in (with_context, without_context)
        ]
        change = decoding.log_probs(noisy[0], noisy[1]) - decoding.log_probs(with_context, without_context)
        largest = torch.maximum(largest, (change.amax(dim=1) - change.amin(dim=1)) / 2)
    assert (largest <= error * (1 + 1e-9)).all()
    assert (largest > error / 8).any()  # the bound is not far above the effect
    assert (decoding.error(with_context, without_context, 0.0) == 0).all()


def test_decodings_are_named_and_checked() -> None:
    assert decoding_of("greedy") is None
    assert [name_of(decoding_of(name)) for name in DECODINGS] == list(DECODINGS)
    assert decoding_of("cad") == decoding_of("cad", weight=1.0) != decoding_of("cad", weight=0.5)
    for name, parameters, message in [
        ("beam", {}, "choose one of greedy, cad, adacad, coiecd"),
        ("greedy", {"weight": 1.0}, "leave all parameters out"),
        ("cad", {"ratio": 0.5}, "its parameters: weight"),
        ("cad", {"weight": -0.1}, "weight of cad"),
        ("cad", {"weight": math.nan}, "weight of cad"),
        ("adacad", {"least": -1.0}, "least of adacad"),
        ("adacad", {"base": 10.0}, "base of adacad"),
        ("coiecd", {"ratio": 1.0}, "ratio of coiecd"),
    ]:
        with pytest.raises(UsageError, match=message):
            decoding_of(name, **parameters)


# ---- whole answers


@pytest.fixture(scope="module")
def network() -> Any:
    return tiny_network()


@pytest.fixture
def model(network: Any) -> LanguageModel:
    """A model with traits of its own. These models share a network, for which `log_probs` stores logits."""
    return LanguageModel(network, byte_tokenizer(), "tiny", "0", "float32", "cpu")


def _prompts(model: LanguageModel) -> tuple[list[list[int]], list[list[int] | None]]:
    """Return the prompts of PAIRS, and each prompt without its context; None for a prompt that has no context."""
    prompts = [tokens_of(model, context + question) for context, question in PAIRS]
    return prompts, [tokens_of(model, question) if context else None for context, question in PAIRS]


def _sample(model: LanguageModel, decoding: Decoding | None, **options: Any) -> list[SampledAnswers]:
    prompts, contextless = _prompts(model)
    settings = {"samples": 3, "max_new_tokens": MAX_TOKENS, "temperature": 0.8, "seed": SEED, **options}
    return sample_answers(model, prompts, PAIRS, decoding=decoding, contextless=contextless, **settings)


def _combined(
    decoding: Decoding, model: LanguageModel, prompt: Sequence[int], contextless: Sequence[int] | None
) -> Distribution:
    """Return the combined distribution after a prompt; the contextless prompt is read alone, too."""
    distribution = log_probs(model, [prompt]).double().exp()[0].numpy()
    return (
        distribution
        if contextless is None
        else _combine_by_hand(decoding, distribution, log_probs(model, [contextless]).double().exp()[0].numpy())
    )


def _loop(
    decoding: Decoding,
    model: LanguageModel,
    prompt: Sequence[int],
    contextless: Sequence[int] | None,
    draw: Callable[[int, Distribution], int],
) -> tuple[list[int], list[float], Distribution]:
    """Return the tokens, their log-probabilities, and the mean distribution of an answer, token by token."""
    answer_end, tokens, steps = AnswerEnd(model, "plain"), list[int](), list[Distribution]()
    while len(tokens) < MAX_TOKENS and not (tokens and answer_end.ends(tuple(tokens))):
        steps.append(
            _combined(decoding, model, [*prompt, *tokens], None if contextless is None else [*contextless, *tokens])
        )
        tokens.append(draw(len(tokens), steps[-1]))
    chosen = [math.log(distribution[token]) for distribution, token in zip(steps, tokens, strict=True)]
    return tokens, chosen, np.mean(steps, axis=0)


def _draw_likeliest(step: int, distribution: Distribution) -> int:
    return int(distribution.argmax())


def _draw_at(points: Distribution, temperature: float, top_p: float, top_k: int) -> Callable[[int, Distribution], int]:
    def draw(step: int, distribution: Distribution) -> int:
        weights = distribution ** (1 / temperature)
        likely = np.argsort(-weights, kind="stable")[: top_k or None]
        share = weights[likely] / weights[likely].sum()
        nucleus = np.sort(likely[np.cumsum(share) - share < top_p])
        cumulative = np.cumsum(weights[nucleus]) / weights[nucleus].sum()
        return int(nucleus[np.argmax(cumulative > points[step])])

    return draw


def _check(answer: Answer, expected: tuple[list[int], list[float], Distribution]) -> None:
    assert list(answer.token_ids) == expected[0]
    np.testing.assert_allclose(answer.token_log_probs, expected[1], atol=2e-4)
    np.testing.assert_allclose(answer.mean_distribution, expected[2], atol=1e-4)


@pytest.mark.parametrize("engine", [SLOTS, PLAIN])
@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_answers_equal_those_of_a_loop(decoding: Decoding, engine: str, model: LanguageModel) -> None:
    if engine == PLAIN:
        model.traits.method_decisions[ReadingMethod(SLOTS)] = MethodDecision(reason="for this test")
    settings: dict[str, Any] = {"temperature": 0.8, "top_p": 0.9, "top_k": 40}
    contrasted = _sample(model, decoding, batch_size=5, **settings)
    for index, (prompt, contextless) in enumerate(zip(*_prompts(model), strict=True)):
        arguments = decoding, model, prompt, contextless
        _check(contrasted[index].greedy, _loop(*arguments, _draw_likeliest))
        for sample, answer in enumerate(contrasted[index].samples):
            points = typed_generator(SEED, model.name, *PAIRS[index], sample).random(12)
            _check(answer, _loop(*arguments, _draw_at(points, **settings)))
    assert engine_of_answers(model, []) == engine
    ordinary = _sample(model, None, **settings)
    is_equal = [
        tokens == ordinary_tokens
        for tokens, ordinary_tokens in zip(token_ids(contrasted), token_ids(ordinary), strict=True)
    ]
    assert not all(is_equal)
    # A question has three samples and a greedy answer. Without a context, these answers are the ordinary ones.
    assert [is_equal[4 * index : 4 * index + 4] for index, (context, _) in enumerate(PAIRS) if not context] == [
        [True] * 4
    ] * 3


@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_answers_depend_on_neither_batches_nor_rounding(
    decoding: Decoding, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _sample(model, decoding, batch_size=len(PAIRS))
    for batch_size in (1, 5):
        assert token_ids(_sample(model, decoding, batch_size=batch_size)) == token_ids(expected)
    generator, exact = torch.Generator().manual_seed(1), readers.read_slots

    def read_with_noise(*arguments: Any) -> torch.Tensor:
        logits = exact(*arguments)
        return logits + NOISE * (2 * torch.rand(logits.shape, generator=generator) - 1)

    with monkeypatch.context() as patched:
        patched.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda model: NOISE)
        patched.setattr(readers, "read_slots", read_with_noise)
        assert token_ids(_sample(model, decoding)) == token_ids(expected)


@pytest.mark.parametrize("family", ["gpt2", "mistral", "qwen2"])
def test_families_read_both_prompts_in_one_pass(family: str) -> None:
    model = tiny_language_model(family)
    prompts, contextless = _prompts(model)
    sampled = _sample(model, decoding_with("cad"))
    assert engine_of_answers(model, []) == SLOTS
    for prompt, contextless_prompt, sampled_answers in zip(prompts, contextless, sampled, strict=True):
        expected = _loop(decoding_with("cad"), model, prompt, contextless_prompt, _draw_likeliest)
        _check(sampled_answers.greedy, expected)


def test_a_weight_of_zero_gives_ordinary_answers(model: LanguageModel) -> None:
    contrasted, ordinary = _sample(model, decoding_with("cad", weight=0.0)), _sample(model, None)
    assert token_ids(contrasted) == token_ids(ordinary)
    for answer, ordinary_answer in zip(all_answers(contrasted), all_answers(ordinary), strict=True):
        np.testing.assert_allclose(answer.token_log_probs, ordinary_answer.token_log_probs, atol=1e-5)


@pytest.mark.parametrize("batch_size", [len(PAIRS), 2])
def test_a_contextless_prompt_is_read_once(monkeypatch: pytest.MonkeyPatch, batch_size: int) -> None:
    model = tiny_language_model()
    prompts, contextless = _prompts(model)
    # The choice of the engine reads prompts, too, so it comes before the count.
    engine_of_answers(model, [*prompts, *(prompt for prompt in contextless if prompt)], new_tokens=1)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)  # no answer is read alone
    read_tokens: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read_tokens.append(options["input_ids"].numel()), with_kwargs=True
    )
    indices = [index for index, (_, question) in enumerate(PAIRS) if question == QUESTIONS[2] and contextless[index]]
    prompts, identities = [prompts[index] for index in indices], [PAIRS[index] for index in indices]
    settings: dict[str, Any] = {"samples": 1, "max_new_tokens": 1, "batch_size": batch_size}
    contextless = [contextless[index] for index in indices]
    sample_answers(model, prompts, identities, decoding=decoding_with("cad"), contextless=contextless, **settings)
    repeated = 0 if batch_size > 2 else 1  # the last token of a prompt that is copied from a slot is read again
    assert sum(read_tokens) == sum(map(len, prompts)) + len(QUESTIONS[2]) + repeated


def test_contrast_reads_thoughts_after_both_prompts() -> None:
    model = thinking_model(CHAT_OPENS_THOUGHTS, closes=10.0, ends=8.0)
    prompts, cad = prompts_of(model), decoding_with("cad")
    contextless: list[tuple[int, ...]] = [prompt[-20:] for prompt in prompts]
    identities = [(str(prompt),) for prompt in prompts]
    options: dict[str, Any] = {"samples": 4, "seed": 3, "temperature": 1.0, "max_new_tokens": 8, "max_thoughts": 30}
    sampled = sample_answers(model, prompts, identities, decoding=cad, contextless=contextless, **options)
    answered = 0
    for prompt, contextless_prompt, sampled_answers in zip(prompts, contextless, sampled, strict=True):
        for answer in all_answers([sampled_answers]):
            tokens = (*answer.thought_ids, *answer.token_ids)
            steps = range(len(answer.thought_ids), len(tokens))
            distributions = [
                _combined(cad, model, (*prompt, *tokens[:step]), (*contextless_prompt, *tokens[:step]))
                for step in steps
            ]
            chosen = [
                math.log(distribution[token])
                for distribution, token in zip(distributions, answer.token_ids, strict=True)
            ]
            np.testing.assert_allclose(answer.token_log_probs, chosen, atol=2e-4)
            answered += bool(answer.thought_ids and chosen)
    assert answered


def test_contextless_prompts_are_checked() -> None:
    model, cad = tiny_language_model(window=30), decoding_with("cad")
    for contextless in (None, [[7]]):
        with pytest.raises(
            UsageError, match=r"there are 2 prompts, but [01] `contextless` prompts; for the decoding cad, give each"
        ):
            sample_answers(model, [[7], [8]], [("a",), ("b",)], decoding=cad, contextless=contextless)
    with pytest.raises(ScoreError, match="and a reply of up to 20 do not fit"):
        sample_answers(model, [[7]], [("a",)], decoding=cad, contextless=[[7] * 11])


def test_error_of_contextless_prompt_names_its_question() -> None:
    model = tiny_language_model()
    prompts, contextless = _prompts(model)
    _sample(model, decoding_with("cad"))  # chooses the engine before the model is broken
    break_token(model, "#")
    contextless[2] = tokens_of(model, "#")
    with pytest.raises(ScoreError, match=r"while the model answers Nobody knows\.  / Where is Oslo"):
        sample_answers(model, prompts, PAIRS, decoding=decoding_with("cad"), contextless=contextless, samples=1)
