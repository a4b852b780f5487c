"""Decodings that contrast: their formulas by hand, and whole answers against a loop that reads two texts a step."""

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
from swaymeter.tasks.models.network import Verdict
from tests.tasks.models.alone import every, log_probs, token_ids, tokens_of
from tests.tasks.models.generation.test_thoughts import OPENED, prompts_of, thinking_model
from tests.tasks.models.tiny import byte_tokenizer, tiny_language_model, tiny_network

Distribution = NDArray[np.float64]
QUESTIONS = ["Where is Oslo?", "Who?", "What is the capital of Norway, if not Lima?"]
CONTEXTS = ["", "It is Lima. ", "Nobody knows. ", "All towns are elsewhere, far away, and this is long. "]
ASKED = [(context, question) for question in QUESTIONS for context in CONTEXTS]
NOISE = 2e-3


def made(name: str, **parameters: float) -> Decoding:
    decoding = decoding_of(name, **parameters)
    assert decoding is not None
    return decoding


ALL = [made("cad"), made("cad", weight=0.5), made("adacad"), made("adacad", least=0.3, base=2), made("coiecd")]
NAMES = [str(decoding) for decoding in ALL]


def _by_hand(decoding: Decoding, given: Distribution, without: Distribution) -> Distribution:
    """The combined distribution of probabilities, in float64, as the papers write it."""
    name, parameters = name_of(decoding), {key: getattr(decoding, key) for key in decoding.__slots__}
    if name == "coiecd":
        weight, ratio = parameters["weight"], parameters["ratio"]
        entropy = -sum(p * math.log(p) for p in without)
        raised = np.exp([-math.log(p) - entropy for p in given])
        shift = raised / raised.sum()
        lower, upper = shift.min() / ratio, shift.max() * ratio
        likely = shift < lower
        if likely.sum() == 1:
            likely[:] = False
        kept = ~likely & (shift <= upper)
        raised = np.where(kept, without, given) * (given / without) ** weight
        whole: Distribution = raised / raised.sum()
        return whole
    if name == "adacad":
        middle = (given + without) / 2
        entropies = [-float(np.sum(p * np.log(p))) / math.log(parameters["base"]) for p in (middle, given, without)]
        weight = max(entropies[0] - (entropies[1] + entropies[2]) / 2, parameters["least"])
    else:
        weight = parameters["weight"]
    raised = given ** (1 + weight) / without**weight
    contrasted: Distribution = raised / raised.sum()
    return contrasted


def _probabilities(seed: int, rows: int, entries: int) -> tuple[Distribution, Distribution]:
    generator = np.random.default_rng(seed)
    raised = np.exp(2 * generator.standard_normal((2, rows, entries)))
    given, without = raised / raised.sum(axis=2, keepdims=True)
    return given, without


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_formulas_by_hand(decoding: Decoding, dtype: torch.dtype) -> None:
    given, without = _probabilities(1, 200, 7)
    expected = [_by_hand(decoding, *pair) for pair in zip(given, without, strict=True)]
    logits = [torch.from_numpy(np.log(p) + 3.0).to(dtype) for p in (given, without)]
    np.testing.assert_allclose(decoding.log_probs(*logits).exp(), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("decoding", "expected"),
    [
        (made("cad"), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
        (made("cad", weight=0.0), [0.5, 0.3, 0.2]),
        (made("adacad", least=1.0), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
        # The first two tokens are above half of the highest, the last below twice the lowest: all break the constraint.
        (made("coiecd", ratio=0.5), [1.25 / 1.63, 0.3 / 1.63, 0.08 / 1.63]),
    ],
)
def test_numbers_by_hand(decoding: Decoding, expected: list[float]) -> None:
    given, without = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([[0.2, 0.3, 0.5]]).log()
    np.testing.assert_allclose(decoding.log_probs(given, without).exp(), [expected], atol=1e-6)


def test_divergences_are_of_nats_and_reach_their_limit() -> None:
    apart = torch.tensor([[60.0, 0.0], [1.0, 2.0]]), torch.tensor([[0.0, 60.0], [1.0, 2.0]])
    np.testing.assert_allclose(divergences(*apart), [math.log(2), 0.0], atol=1e-6)
    np.testing.assert_allclose(made("adacad", base=2).weights(*apart), [1.0, 0.0], atol=1e-6)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("p", "kept"),
    [
        ([0.5, 0.4, 0.05, 0.03, 0.01, 0.01], [False, False, True, False, False, False]),
        ([0.8, 0.1, 0.05, 0.03, 0.015, 0.005], [True, True, True, True, False, False]),  # one token alone is above
    ],
)
def test_which_tokens_keep_the_constraint(p: list[float], kept: list[bool]) -> None:
    coiecd = made("coiecd")
    assert coiecd.satisfies_constraint(torch.tensor([p]).log()).tolist() == [kept]  # type: ignore[union-attr]
    given, without = torch.tensor([p]).log(), torch.tensor([p[::-1]]).log()
    squared = [of if keeps else of**2 / other for of, other, keeps in zip(p, p[::-1], kept, strict=True)]
    np.testing.assert_allclose(coiecd.log_probs(given, without).exp(), [np.array(squared) / sum(squared)], atol=1e-6)


@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_errors_bound_what_rounding_does(decoding: Decoding) -> None:
    generator = torch.Generator().manual_seed(2)
    given, without = (4 * torch.randn((3000, 12), generator=generator, dtype=torch.float64) for _ in range(2))
    error = decoding.error(given, without, NOISE)
    assert error.isfinite().float().mean() > 0.9
    moved = torch.zeros(len(given), dtype=torch.float64)
    for _ in range(20):
        off = [x + NOISE * torch.randn(x.shape, generator=generator, dtype=x.dtype).sign() for x in (given, without)]
        apart = decoding.log_probs(off[0], off[1]) - decoding.log_probs(given, without)
        moved = torch.maximum(moved, (apart.amax(dim=1) - apart.amin(dim=1)) / 2)
    assert (moved <= error * (1 + 1e-9)).all()
    assert (moved > error / 8).any()
    assert (decoding.error(given, without, 0.0) == 0).all()


def test_names_make_decodings_and_wrong_ones_are_refused() -> None:
    assert decoding_of("greedy") is None
    assert [name_of(decoding_of(name)) for name in DECODINGS] == list(DECODINGS)
    assert decoding_of("cad") == decoding_of("cad", weight=1.0) != decoding_of("cad", weight=0.5)
    for name, parameters, message in [
        ("beam", {}, "choose one of greedy, cad, adacad, coiecd"),
        ("greedy", {"weight": 1.0}, "it takes none"),
        ("cad", {"ratio": 0.5}, "it takes weight"),
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
    """A model of the tests' network with an engine of its own; what the loops read of the network is kept."""
    return LanguageModel(network, byte_tokenizer(), "tiny", "0", "float32", "cpu")


def _texts(model: LanguageModel) -> tuple[list[list[int]], list[list[int] | None]]:
    """Prompts, and what they are without their contexts."""
    prompts = [tokens_of(model, context + question) for context, question in ASKED]
    return prompts, [tokens_of(model, question) if context else None for context, question in ASKED]


def _answered(model: LanguageModel, decoding: Decoding | None, **options: Any) -> list[SampledAnswers]:
    prompts, without = _texts(model)
    settings = {"samples": 3, "max_new_tokens": 6, "temperature": 0.8, "seed": 5, **options}
    return sample_answers(model, prompts, ASKED, decoding=decoding, contextless=without, **settings)


def _combined(
    decoding: Decoding, model: LanguageModel, prompt: Sequence[int], without: Sequence[int] | None
) -> Distribution:
    """The distribution of a step, each text read alone."""
    own = log_probs(model, [prompt]).double().exp()[0].numpy()
    return own if without is None else _by_hand(decoding, own, log_probs(model, [without]).double().exp()[0].numpy())


def _looped(
    decoding: Decoding,
    model: LanguageModel,
    prompt: Sequence[int],
    without: Sequence[int] | None,
    draw: Callable[[int, Distribution], int],
    most: int,
) -> tuple[list[int], list[float], Distribution]:
    """Tokens, their log-probabilities, and the mean distribution of an answer, a token after the other."""
    ends, tokens, steps = AnswerEnd(model, "plain"), list[int](), list[Distribution]()
    while len(tokens) < most and not (tokens and ends.ends(tuple(tokens))):
        steps.append(_combined(decoding, model, [*prompt, *tokens], None if without is None else [*without, *tokens]))
        tokens.append(draw(len(tokens), steps[-1]))
    chosen = [math.log(p[token]) for p, token in zip(steps, tokens, strict=True)]
    return tokens, chosen, np.mean(steps, axis=0)


def _drawn(points: Distribution, temperature: float, top_p: float, top_k: int) -> Callable[[int, Distribution], int]:
    def draw(step: int, p: Distribution) -> int:
        raised = p ** (1 / temperature)
        kept = np.argsort(-raised, kind="stable")[: top_k or None]
        share = raised[kept] / raised[kept].sum()
        nucleus = np.sort(kept[np.cumsum(share) - share < top_p])
        passed = np.cumsum(raised[nucleus]) / raised[nucleus].sum()
        return int(nucleus[np.argmax(passed > points[step])])

    return draw


def _check(answer: Answer, expected: tuple[list[int], list[float], Distribution]) -> None:
    assert list(answer.token_ids) == expected[0]
    np.testing.assert_allclose(answer.token_log_probs, expected[1], atol=2e-4)
    np.testing.assert_allclose(answer.mean_distribution, expected[2], atol=1e-4)


@pytest.mark.parametrize("engine", [SLOTS, PLAIN])
@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_answers_equal_a_loop_over_two_texts(decoding: Decoding, engine: str, model: LanguageModel) -> None:
    if engine == PLAIN:
        model.traits.verdicts[SLOTS, False] = Verdict("for this test")
    settings: dict[str, Any] = {"temperature": 0.8, "top_p": 0.9, "top_k": 40}
    found = _answered(model, decoding, batch_size=5, **settings)
    for place, (prompt, without) in enumerate(zip(*_texts(model), strict=True)):
        loop = decoding, model, prompt, without
        _check(found[place].greedy, _looped(*loop, lambda step, p: int(p.argmax()), 6))
        for sample, answer in enumerate(found[place].samples):
            points = typed_generator(5, model.name, *ASKED[place], sample).random(12)
            _check(answer, _looped(*loop, _drawn(points, **settings), 6))
    assert engine_of_answers(model, []) == engine
    plain = _answered(model, None, **settings)
    alike = [one == other for one, other in zip(token_ids(found), token_ids(plain), strict=True)]
    assert not all(alike)
    assert [alike[4 * place : 4 * place + 4] for place, (context, _) in enumerate(ASKED) if not context] == [
        [True] * 4
    ] * 3


@pytest.mark.parametrize("decoding", ALL, ids=NAMES)
def test_batches_decide_no_answer(decoding: Decoding, model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _answered(model, decoding, batch_size=len(ASKED))
    for batch_size in (1, 5):
        assert token_ids(_answered(model, decoding, batch_size=batch_size)) == token_ids(expected)
    generator, exact = torch.Generator().manual_seed(1), readers.read_slots

    def off(*asked: Any) -> torch.Tensor:
        logits = exact(*asked)
        return logits + NOISE * (2 * torch.rand(logits.shape, generator=generator) - 1)

    with monkeypatch.context() as patched:
        patched.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda model: NOISE)
        patched.setattr(readers, "read_slots", off)
        assert token_ids(_answered(model, decoding)) == token_ids(expected)


@pytest.mark.parametrize("family", ["gpt2", "mistral", "qwen2"])
def test_families_read_both_prompts_in_one_pass(family: str) -> None:
    model = tiny_language_model(family)
    prompts, without = _texts(model)
    found = _answered(model, made("cad"))
    assert engine_of_answers(model, []) == SLOTS
    for prompt, twin, of_prompt in zip(prompts, without, found, strict=True):
        expected = _looped(made("cad"), model, prompt, twin, lambda step, p: int(p.argmax()), 6)
        _check(of_prompt.greedy, expected)


def test_a_weight_of_zero_gives_ordinary_answers(model: LanguageModel) -> None:
    found, plain = _answered(model, made("cad", weight=0.0)), _answered(model, None)
    assert token_ids(found) == token_ids(plain)
    for one, other in zip(every(found), every(plain), strict=True):
        np.testing.assert_allclose(one.token_log_probs, other.token_log_probs, atol=1e-5)


@pytest.mark.parametrize("batch_size", [len(ASKED), 2])
def test_a_question_without_its_contexts_is_read_once(monkeypatch: pytest.MonkeyPatch, batch_size: int) -> None:
    model = tiny_language_model()
    prompts, without = _texts(model)
    engine_of_answers(model, [*prompts, *(twin for twin in without if twin)], new_tokens=1)
    monkeypatch.setattr("swaymeter.tasks.models.generation.sample.rounding", lambda _: 0.0)  # none is read alone
    read: list[int] = []
    model.model.register_forward_pre_hook(
        lambda module, args, options: read.append(options["input_ids"].numel()), with_kwargs=True
    )
    place = [place for place, (_, question) in enumerate(ASKED) if question == QUESTIONS[2] and without[place]]
    chosen = [prompts[one] for one in place], [ASKED[one] for one in place]
    settings: dict[str, Any] = {"samples": 1, "max_new_tokens": 1, "batch_size": batch_size}
    sample_answers(model, *chosen, decoding=made("cad"), contextless=[without[one] for one in place], **settings)
    again = 0 if batch_size > 2 else 1  # the last token of a prompt that is copied from a slot is read again
    assert sum(read) == sum(map(len, chosen[0])) + len(QUESTIONS[2]) + again


def test_thoughts_are_contrasted_and_stand_before_both() -> None:
    model = thinking_model(OPENED, closes=10.0, ends=8.0)
    prompts, cad = prompts_of(model), made("cad")
    without: list[tuple[int, ...]] = [prompt[-20:] for prompt in prompts]
    identities = [(str(prompt),) for prompt in prompts]
    options: dict[str, Any] = {"samples": 4, "seed": 3, "temperature": 1.0, "max_new_tokens": 8, "max_thoughts": 30}
    found = sample_answers(model, prompts, identities, decoding=cad, contextless=without, **options)
    answered = 0
    for prompt, twin, of_prompt in zip(prompts, without, found, strict=True):
        for answer in every([of_prompt]):
            behind = (*answer.thought_ids, *answer.token_ids)
            steps = range(len(answer.thought_ids), len(behind))
            p = [_combined(cad, model, (*prompt, *behind[:step]), (*twin, *behind[:step])) for step in steps]
            chosen = [math.log(of[token]) for of, token in zip(p, answer.token_ids, strict=True)]
            np.testing.assert_allclose(answer.token_log_probs, chosen, atol=2e-4)
            answered += bool(answer.thought_ids and chosen)
    assert answered


def test_prompts_without_contexts_are_checked() -> None:
    model, cad = tiny_language_model(window=30), made("cad")
    for without in (None, [[7]]):
        with pytest.raises(UsageError, match=r"the decoding cad contrasts .* `contextless` must have 2 prompts"):
            sample_answers(model, [[7], [8]], [("a",), ("b",)], decoding=cad, contextless=without)
    with pytest.raises(ScoreError, match="and a reply of up to 20 do not fit"):
        sample_answers(model, [[7]], [("a",)], decoding=cad, contextless=[[7] * 11])


def test_prompt_that_breaks_without_its_context_is_named() -> None:
    model = tiny_language_model()
    prompts, without = _texts(model)
    _answered(model, made("cad"))
    with torch.no_grad():
        model.model.get_input_embeddings().weight[tokens_of(model, "#")[0]] = float("nan")
    without[2] = tokens_of(model, "#")
    with pytest.raises(ScoreError, match=r"while it answers Nobody knows\.  / Where is Oslo"):
        sample_answers(model, prompts, ASKED, decoding=made("cad"), contextless=without, samples=1)
