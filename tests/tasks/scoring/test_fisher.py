from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models import LanguageModel, gradients
from swaymeter.tasks.models.progress import listening
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from tests.tasks.models.reference_values import break_token
from tests.tasks.models.tiny import VOCABULARY, family_model, tiny_language_model

QUERIES = ["Q: Where is Oslo?\nA:", "x", "The capital of Peru is", "Q: Where is Lima?\nA:"]
FAMILIES = ["llama", "llama3", "gpt2", "gpt_neox", "mistral", "qwen2", "bloom", "mamba"]


def _terms(model: LanguageModel, query: str, top_k: int) -> NDArray[np.float64]:
    """Return p(a|q) ||g_a||^2 of the likeliest tokens a, (top_k,); g_a is the gradient of log p(a|q), by autograd."""
    ids = torch.tensor([model.tokenizer(query, add_special_tokens=False)["input_ids"]])
    embeddings = model.model.get_input_embeddings()(ids).detach().requires_grad_()
    log_p = torch.log_softmax(model.model(inputs_embeds=embeddings).logits[0, -1], dim=-1)
    top = log_p.topk(top_k).values
    derivatives = (torch.autograd.grad(value, embeddings, retain_graph=True)[0] for value in top)
    return np.array([value.exp().item() * g.square().sum().item() for value, g in zip(top, derivatives, strict=True)])


@pytest.mark.parametrize(("top_k", "step"), [(1, 9), (10, 11)])
def test_top_tokens_agree_with_the_reference(top_k: int, step: int, smollm2: LanguageModel, oracle: Any) -> None:
    cases = oracle["fisher"]["cases"][::step]
    result = fisher_susceptibility(smollm2, [case["query"] for case in cases], top_k=top_k)
    np.testing.assert_allclose(result.trace, [case["trace_top_k"][str(top_k)] for case in cases], rtol=1e-3)


def test_estimate_agrees_with_the_reference(smollm2: LanguageModel, oracle: Any) -> None:
    cases = [case for case in oracle["fisher"]["cases"] if "trace_full" in case and len(case["query"]) < 30]
    result = fisher_susceptibility(smollm2, [case["query"] for case in cases], top_k=None, exact=50, draws=32)
    np.testing.assert_allclose(result.top_k_trace, [case["trace_top_k"]["50"] for case in cases], rtol=1e-3)
    deviations = np.abs(result.trace - [case["trace_full"] for case in cases]) / result.standard_error
    assert cases
    assert (deviations < 3).all()
    assert (result.standard_error < 0.1 * result.trace).all()


@pytest.mark.parametrize(("family", "padding"), [*((family, 100.0) for family in FAMILIES), ("llama", 1.0)])
def test_every_architecture_agrees_with_plain_autograd(
    family: str, padding: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gradients._MAX_LENGTH_RATIO, "cpu", padding)
    model = tiny_language_model(family)
    by_autograd = [_terms(model, query, 7).sum() for query in QUERIES]
    fisher_susceptibility(model, QUERIES, top_k=7)  # the first call compares batches with queries read alone
    before = model.forward_passes
    reported: list[float] = []
    with listening(reported.append):
        result = fisher_susceptibility(model, QUERIES, top_k=7)
    assert sum(reported) == len(QUERIES)
    np.testing.assert_allclose(result.trace, by_autograd, rtol=1e-4)
    assert model.forward_passes - before == (1 if padding > 1 else 3)  # without padding, one pass for each length
    assert (result.standard_error == 0).all()
    assert (result.top_k_trace == result.trace).all()


def test_trace_grows_with_top_k(tiny: LanguageModel) -> None:
    traces = [fisher_susceptibility(tiny, QUERIES[1:3], top_k=top_k).trace for top_k in (1, 5, 25, VOCABULARY)]
    assert (np.diff(traces, axis=0) > 0).all()
    assert traces[-1][1] == pytest.approx(_terms(tiny, QUERIES[2], VOCABULARY).sum(), rel=1e-4)


def test_estimate_is_unbiased_with_true_standard_error(tiny: LanguageModel) -> None:
    queries = QUERIES[1:3]
    exact = fisher_susceptibility(tiny, queries, top_k=VOCABULARY).trace
    estimate = fisher_susceptibility(tiny, queries, top_k=None, draws=2048)
    assert (np.abs(estimate.trace - exact) < 3 * estimate.standard_error).all()
    assert (estimate.standard_error < 0.02 * exact).all()
    seeds = [fisher_susceptibility(tiny, queries, top_k=None, draws=32, seed=seed) for seed in range(24)]
    spread = np.std([result.trace for result in seeds], axis=0, ddof=1)
    stated = np.mean([result.standard_error for result in seeds], axis=0)
    assert ((spread / stated > 0.6) & (spread / stated < 1.6)).all()


def test_exact_part_is_the_trace_of_top_tokens(tiny: LanguageModel) -> None:
    result = fisher_susceptibility(tiny, QUERIES, top_k=None, exact=25)
    np.testing.assert_allclose(result.top_k_trace, fisher_susceptibility(tiny, QUERIES, top_k=25).trace, rtol=1e-5)
    all_exact = fisher_susceptibility(tiny, QUERIES, top_k=None, exact=VOCABULARY)
    assert (all_exact.trace == all_exact.top_k_trace).all()
    assert (all_exact.standard_error == 0).all()


def test_order_batches_and_memory_change_nothing(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    result = fisher_susceptibility(tiny, QUERIES, top_k=None)
    backwards = fisher_susceptibility(tiny, [*QUERIES[::-1], QUERIES[0]], top_k=None)
    np.testing.assert_allclose(backwards.trace, [*result.trace[::-1], result.trace[0]], rtol=1e-5)
    for memory in (1, 1_000_000):
        monkeypatch.setattr(gradients, "memory_budget", lambda device, budget=memory: budget)
        before = tiny.forward_passes
        alone = fisher_susceptibility(tiny, QUERIES, top_k=None)
        assert memory > 1 or tiny.forward_passes == before + len(QUERIES)  # one pass for each query
        np.testing.assert_allclose(alone.trace, result.trace, rtol=1e-5)
        np.testing.assert_allclose(alone.standard_error, result.standard_error, rtol=1e-4)


def test_random_signs_depend_on_seed_and_query(tiny: LanguageModel) -> None:
    result, again, other = (fisher_susceptibility(tiny, QUERIES, top_k=None, seed=seed) for seed in (1, 1, 2))
    assert (result.trace == again.trace).all()
    assert (result.trace != other.trace).all()
    assert (result.top_k_trace == other.top_k_trace).all()
    fewer_draws = gradients._signs(32, 99, seed=1, query="a")
    signs, signs_of_other_query = (gradients._signs(64, 99, seed=1, query=query) for query in "ab")
    assert (fewer_draws == signs[:32]).all()
    assert (signs != signs_of_other_query).mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("family", ["phi3 with LongRoPE", "rwkv"])
def test_query_is_as_susceptible_in_batch_as_alone(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gradients._MAX_LENGTH_RATIO, "cpu", 2.0)
    model = family_model(family)
    # LongRoPE changes the positions of more than 40 tokens.
    queries = [*QUERIES, "Q: Where is the capital of Peru, if not in Lima?\nA:", "x" * 39, "x" * 41]
    result = fisher_susceptibility(model, queries, top_k=3)
    alone = [fisher_susceptibility(family_model(family), [query], top_k=3).trace[0] for query in queries]
    np.testing.assert_allclose(result.trace, alone, rtol=1e-4)


def test_model_that_changes_given_embeddings_is_refused() -> None:
    model = tiny_language_model()
    own = model.model.model.forward

    def forward(input_ids: Any = None, inputs_embeds: Any = None, **options: Any) -> Any:
        return own(input_ids, inputs_embeds=inputs_embeds if inputs_embeds is None else 2 * inputs_embeds, **options)

    model.model.model.forward = forward
    message = r"cannot be computed for tiny, because the model cannot read embeddings in place of tokens \(it changes"
    with pytest.raises(ScoreError, match=message):
        fisher_susceptibility(model, QUERIES, top_k=3)


def test_measurement_leaves_the_model_unchanged() -> None:
    model = tiny_language_model()
    frozen, *rest = model.model.parameters()
    frozen.requires_grad_(False)
    with torch.no_grad():
        fisher_susceptibility(model, QUERIES, top_k=3)
        assert not torch.is_grad_enabled()
    assert not frozen.requires_grad
    assert all(weights.requires_grad and weights.grad is None for weights in rest)
    assert model.model.config._attn_implementation == "sdpa"


def test_half_precision_gives_finite_float64() -> None:
    model = tiny_language_model()
    exact = fisher_susceptibility(model, QUERIES, top_k=VOCABULARY).trace
    model.model.to(torch.bfloat16)
    result = fisher_susceptibility(model, QUERIES, top_k=None)
    assert all(values.dtype == np.float64 for values in (result.trace, result.standard_error, result.top_k_trace))
    np.testing.assert_allclose(result.trace, exact, rtol=0.5)


def test_batches_shrink_if_memory_runs_out(
    tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = fisher_susceptibility(tiny, QUERIES, top_k=5)
    derivatives, limit = torch.autograd.grad, [2]

    def limited(outputs: Any, inputs: Any, directions: torch.Tensor, **options: Any) -> Any:
        if directions.shape[0] * directions.shape[1] > limit[0]:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return derivatives(outputs, inputs, directions, **options)

    monkeypatch.setattr(torch.autograd, "grad", limited)
    result = fisher_susceptibility(tiny, QUERIES, top_k=5)
    np.testing.assert_allclose(result.trace, expected.trace, rtol=1e-5)
    assert len([record for record in caplog.records if "smaller batches" in record.message]) == 1
    limit[0] = 0
    with pytest.raises(ScoreError, match=r"memory.*'a large query'"):
        fisher_susceptibility(tiny, ["a large query"], top_k=5)


@pytest.mark.parametrize(
    ("queries", "settings", "error", "message"),
    [
        (QUERIES, {"top_k": 0}, UsageError, "top_k is 0"),
        (QUERIES, {"top_k": VOCABULARY + 1}, UsageError, "top_k is 262.*261"),
        (QUERIES, {"top_k": None, "exact": 0}, UsageError, "exact is 0"),
        (QUERIES, {"top_k": None, "draws": 31}, UsageError, "draws is 31.*32"),
        ([], {"top_k": 3}, UsageError, "queries"),
        (["fine", ""], {"top_k": 3}, ScoreError, "no tokens"),
    ],
)
def test_invalid_settings_and_queries_are_refused(
    queries: list[str], settings: dict[str, Any], error: type[Exception], message: str, tiny: LanguageModel
) -> None:
    with pytest.raises(error, match=message):
        fisher_susceptibility(tiny, queries, **settings)


@pytest.mark.parametrize("top_k", [3, None])
def test_nan_is_raised_with_its_query(top_k: int | None) -> None:
    model = tiny_language_model()
    break_token(model, "z")
    with pytest.raises(ScoreError, match="nan, not a valid score, for the query 'a zebra'"):
        fisher_susceptibility(model, ["a horse", "a zebra"], top_k=top_k)
