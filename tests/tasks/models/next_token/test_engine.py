from collections.abc import Callable
from typing import Any

import pytest
import torch

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.network import ReadingMethod
from swaymeter.tasks.models.next_token import alone, reading, shared
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE, engine, next_token_by_query
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from tests.tasks.models.reference_values import ignore_position_ids, log_probs, running_out_of_memory
from tests.tasks.models.tiny import SEAMS, VOCABULARY, byte_tokenizer, family_model, tiny_language_model

FAMILIES = ["llama", "llama3", "qwen2", "mistral", "gpt2", "gpt_neox"]
CONTEXTS = [
    "Oslo is big.\n",
    "Lima is small, and it lies by the sea, as everybody in Peru will tell you.\n",
    "x",
    "Oslo is big.\n",
    "",
    "Norway's capital is Rome\nT",
]
QUERIES = [
    "Q: What is the capital of Norway?\nA:",
    "The capital of Peru is",
    "Q: What is",
    "T",
    "The capital of Peru is",
]


def _largest_difference(
    model: LanguageModel, contexts: list[str], queries: list[str], memory: int | None = None
) -> float:
    """Return the largest difference of log-probabilities from those of prompts that are read alone."""
    prompts = tokenize_prompts(model, contexts, queries)
    largest, seen = 0.0, set()
    for index, distributions in next_token_by_query(model, prompts, memory=memory):
        expected = log_probs(model, [row[index] for row in prompts])
        largest = max(largest, float((distributions.log_probs() - expected).abs().max()))
        seen.add(index)
    assert seen == set(range(len(queries)))
    return largest


def _chosen_engine(model: LanguageModel) -> str:
    """Return the engine for CONTEXTS and QUERIES; the model stores the choice, so that later calls compare nothing."""
    return engine(model, tokenize_prompts(model, CONTEXTS, QUERIES))


def _longest_compared(model: LanguageModel) -> int:
    """Return the length of the longest prompt of the comparison."""
    _, longest = model.traits.method_decisions[ReadingMethod(PREFIX_TREE)].compared
    return len(longest)


@pytest.mark.parametrize("has_seams", [False, True], ids=["bytes", "tokens over the end of a context"])
@pytest.mark.parametrize("family", FAMILIES)
def test_engine_equals_prompts_read_alone(family: str, has_seams: bool) -> None:
    model = tiny_language_model(family, tokenizer=byte_tokenizer(SEAMS if has_seams else ()))
    assert _largest_difference(model, CONTEXTS, QUERIES) < 1e-4
    assert _chosen_engine(model) == PREFIX_TREE


@pytest.mark.parametrize(("contexts", "queries"), [(1, 5), (6, 1), (1, 1)])
def test_single_context_or_query_equals_plain_passes(contexts: int, queries: int) -> None:
    assert _largest_difference(tiny_language_model(), CONTEXTS[:contexts], QUERIES[:queries]) < 1e-4


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_windows_of_layers_may_differ(attention: str) -> None:
    model = family_model("olmo3")
    model.model.set_attn_implementation(attention)
    assert _largest_difference(model, CONTEXTS, QUERIES) < 1e-4
    assert _chosen_engine(model) == PREFIX_TREE


def test_contexts_are_read_once_before_all_queries() -> None:
    model = tiny_language_model()
    _chosen_engine(model)
    before = model.forward_passes
    queries = [f"The capital of {number} is" for number in range(20)]
    list(next_token_by_query(model, tokenize_prompts(model, CONTEXTS[:2], queries)))
    assert model.forward_passes - before == 2  # one for the contexts, one for the tree of queries


def test_longer_or_shorter_prompts_are_compared_again() -> None:
    model = tiny_language_model()
    passes = []
    for contexts in (CONTEXTS[:3], CONTEXTS[1:3], [*CONTEXTS[:3], "x" * 90], [""]):
        before = model.forward_passes
        assert engine(model, tokenize_prompts(model, contexts, QUERIES)) == PREFIX_TREE
        passes.append(model.forward_passes > before)
    assert passes == [True, False, True, True]


def test_compared_prompts_include_new_tokens() -> None:
    model = tiny_language_model(window=128)
    prompts = tokenize_prompts(model, CONTEXTS[:1], QUERIES)
    longest = max(map(len, prompts[0]))
    for new_tokens, length in ((0, longest), (20, longest + 20), (10, longest + 20), (500, 128)):
        assert engine(model, prompts, new_tokens=new_tokens) == PREFIX_TREE
        assert _longest_compared(model) == length


@pytest.mark.parametrize(
    ("window", "least_many", "is_compared_in_full"),
    [(64, 3, False), (24, 3, True), (64, 2, True)],
    ids=["window beyond the prompts", "window within the prompts", "two long prompts count as many"],
)
def test_long_prompts_are_compared_by_their_beginnings(
    window: int, least_many: int, is_compared_in_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(alone.FAR, "cpu", 20)
    monkeypatch.setattr(alone, "_MANY", least_many)
    model = tiny_language_model("mistral")
    model.model.config.sliding_window = window
    passes, longest = [], 0
    for length in (30, 30, 34):
        before = model.forward_passes
        assert engine(model, tokenize_prompts(model, ["x" * (length - 4)], ["Who?", "What"])) == PREFIX_TREE
        passes.append(model.forward_passes > before)
        longest = _longest_compared(model)
    assert (passes, longest) == (([True, False, True], 34) if is_compared_in_full else ([True, False, False], 20))


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt2", "olmo3"])
def test_long_contexts_and_queries_are_read_in_chunks(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reading.CHUNK, "cpu", 6)
    model = family_model(family) if family == "olmo3" else tiny_language_model(family)
    assert _largest_difference(model, CONTEXTS, QUERIES) < 1e-4
    assert _chosen_engine(model) == PREFIX_TREE
    with running_out_of_memory(model, over=6 * len(CONTEXTS)):
        assert len(list(next_token_by_query(model, tokenize_prompts(model, CONTEXTS, QUERIES)))) == len(QUERIES)


def test_scores_do_not_depend_on_memory_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _largest_difference(tiny_language_model(), CONTEXTS, QUERIES, memory=1) < 1e-4
    monkeypatch.setitem(shared.NODES_PER_BATCH, "cpu", 12)
    assert _largest_difference(tiny_language_model(), CONTEXTS, QUERIES) < 1e-4


def test_passes_stay_within_the_memory_budget() -> None:
    model = tiny_language_model()
    entry_bytes = VOCABULARY * 4
    contexts = [f"{number} is a number.\n" for number in range(10)]
    queries = [f"Is it {number}?" for number in range(100)]
    # Half of the budget is for the results of a batch, here of 7 queries; a quarter is for a forward pass.
    budget = 2 * 7 * len(contexts) * entry_bytes
    prompts = tokenize_prompts(model, contexts, queries)
    largest = 0

    def check(logits: Any) -> None:
        nonlocal largest
        assert len(logits.contexts) * len(logits.units) * entry_bytes <= budget / 4
        largest = max(largest, len(logits.units))

    unit_lists = list(shared.SharedPrefixes(model, prompts, memory=budget).read(check))
    assert largest == 7
    assert sorted(unit for units in unit_lists for unit in units) == list(range(100))


def test_out_of_memory_halves_the_batch(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_language_model()
    contexts = [f"{number} is a number.\n" for number in range(10)]
    queries = [f"Is it {number}?" for number in range(40)]
    prompts = tokenize_prompts(model, contexts, queries)
    expected = [log_probs(model, [row[index] for row in prompts]) for index in range(len(queries))]
    _chosen_engine(model)
    with running_out_of_memory(model, over=64):
        for index, distributions in next_token_by_query(model, prompts):
            torch.testing.assert_close(distributions.log_probs(), expected[index], atol=1e-4, rtol=0)
    assert [record.levelname for record in caplog.records if "memory ran out" in record.message] == ["WARNING"]


def test_prompt_too_large_for_memory_is_an_error() -> None:
    model = tiny_language_model()
    _chosen_engine(model)
    with running_out_of_memory(model, over=3), pytest.raises(ScoreError, match="single context and query"):
        list(next_token_by_query(model, tokenize_prompts(model, CONTEXTS, QUERIES)))


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (lambda: tiny_language_model("bloom"), "its forward pass does not take position_ids"),
        (lambda: tiny_language_model("mamba"), "its forward pass does not take position_ids, past_key_values"),
        (lambda: family_model("gpt_neo"), "it has layers of local"),
        (lambda: ignore_position_ids(tiny_language_model("gpt2")), "it changes answers by"),
    ],
    ids=["bloom", "mamba", "gpt_neo", "own positions"],
)
def test_unsupported_models_are_read_plainly_with_warning(
    load: Callable[[], LanguageModel], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = load()
    assert _largest_difference(model, CONTEXTS, QUERIES) < 1e-4
    assert _chosen_engine(model) == PLAIN
    (warning, *_) = [record.message for record in caplog.records if "faster method" in record.message]
    assert warning.startswith(f"{model.name}: prompts are read without the faster method 'prefix tree': {reason}")
    assert (model.reading or "").startswith(f"not by prefix tree: {reason}")


def test_no_engine_is_chosen_if_memory_runs_out() -> None:
    model = tiny_language_model()
    with running_out_of_memory(model, over=3), pytest.raises(ScoreError, match="memory runs out"):
        engine(model, tokenize_prompts(model, CONTEXTS, QUERIES))


def test_bfloat16_models_are_read_by_prefix_tree() -> None:
    model = tiny_language_model()
    model.model.to(torch.bfloat16)
    model.dtype = "bfloat16"
    assert _chosen_engine(model) == PREFIX_TREE
    for _, distributions in next_token_by_query(model, tokenize_prompts(model, CONTEXTS, QUERIES)):
        assert distributions.logits.dtype == torch.bfloat16
        torch.testing.assert_close(
            distributions.log_probs().exp().sum(dim=1), torch.ones(len(CONTEXTS)), atol=1e-5, rtol=0
        )


def test_prompts_that_cannot_be_read_are_refused(tiny: LanguageModel) -> None:
    for contexts, queries in (([], QUERIES), (CONTEXTS, [])):
        with pytest.raises(UsageError, match="one context and one query; there are"):
            tokenize_prompts(tiny, contexts, queries)
    model = tiny_language_model(window=16)
    with pytest.raises(ScoreError, match=r"17 tokens.*never cut.*xxxx"):
        tokenize_prompts(model, ["short\n", "x" * 10], ["seven!!"])
    with pytest.raises(ScoreError, match="no tokens"):
        tokenize_prompts(model, [""], [""])


def test_plain_passes_have_a_limit_of_tokens(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_language_model()
    prompts = tokenize_prompts(model, CONTEXTS, QUERIES[:1])
    list(next_token_by_query(model, prompts))
    monkeypatch.setitem(alone.TOKENS_PER_PASS, "cpu", 150)
    with running_out_of_memory(model, over=150):
        assert _largest_difference(model, CONTEXTS, QUERIES[:1]) < 1e-4
    assert not caplog.text


def test_out_of_memory_halves_plain_batches(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_language_model("bloom")
    _chosen_engine(model)
    with running_out_of_memory(model, over=400):
        assert _largest_difference(model, CONTEXTS, QUERIES) < 1e-4
    assert "prompts are read" in caplog.text
    with running_out_of_memory(model, over=3), pytest.raises(ScoreError, match=r"single prompt.*Oslo is big"):
        list(next_token_by_query(model, tokenize_prompts(model, CONTEXTS[:1], QUERIES)))
