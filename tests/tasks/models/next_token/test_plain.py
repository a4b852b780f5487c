from collections.abc import Callable
from typing import Any

import pytest
import torch

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.network import MethodDecision, ReadingMethod
from swaymeter.tasks.models.next_token.alone import ComparedPrompts
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.next_token.reading import PrefixTree
from swaymeter.tasks.models.next_token.shared import unit_batches
from swaymeter.tasks.models.prompts.tokens import common_prefix_length
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.memorization import greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.reference_values import log_probs, tokens_of
from tests.tasks.models.tiny import tiny_language_model

NEW_TOKENS = 24
TEXTS = ["Q: Where?\nA:", "x", "The capital of Norway is Oslo.\nQ: What is the capital of Norway?\nA:", "Oslo", "x"]


@pytest.mark.parametrize("batch_size", [1, 4, 100])
@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "mistral"])
def test_padded_batch_equals_prompts_read_alone(family: str, batch_size: int) -> None:
    model = tiny_language_model(family)
    prompts = [tokens_of(model, text) for text in TEXTS]
    result = Distributions.of(read_plain(model, prompts, batch_size=batch_size)).log_probs()
    torch.testing.assert_close(result, log_probs(model, prompts), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("answer", "uncertain_draws"),
    [
        (lambda model: greedy_answers(model, ["x", "Oslo.\n"], TEXTS[:1], max_new_tokens=NEW_TOKENS), 0),
        (
            lambda model: sample_answers(
                model, [[*b"Oslo"], [*b"Where"]], [("a",), ("b",)], samples=1, max_new_tokens=NEW_TOKENS
            ),
            2,
        ),
    ],
    ids=["lines", "samples"],
)
def test_growing_prompts_are_not_compared_at_each_step(
    answer: Callable[[LanguageModel], Any], uncertain_draws: int
) -> None:
    """Draws that rounding could decide take up to `uncertain_draws` more passes, depending on the processor."""
    model = tiny_language_model("bloom")
    answer(model)
    first = model.forward_passes
    answer(model)
    # The comparison takes 9 passes: four prompts alone for each of two engines, and a batch.
    passes = [first - 9, model.forward_passes - first]
    assert passes[0] == passes[1] in range(NEW_TOKENS, NEW_TOKENS + uncertain_draws + 1)


def test_two_short_and_two_long_prompts_are_compared() -> None:
    prompts = ComparedPrompts.of([7], [7] * 5).all
    # A prompt is a context and a tail of two tokens. The short context has one token, and the long context has three.
    assert [len(prompt) for prompt in prompts] == [3, 3, 5, 5]


SEQUENCES = [[1, 2, 3], [1, 2, 4], [1, 2], [5], [1, 2, 3]]


def test_shared_prefixes_are_stored_once() -> None:
    tree = PrefixTree.of(SEQUENCES)
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.depths.tolist() == [0, 1, 2, 2, 0]
    assert [path[-1] for path in tree.paths] == [2, 3, 1, 4, 2]
    assert [tree.tokens[path].tolist() for path in tree.paths] == SEQUENCES
    ancestors = [torch.nonzero(row).flatten().tolist() for row in tree.ancestors]
    assert ancestors == [[0], [0, 1], [0, 1, 2], [0, 1, 3], [4]]


@pytest.mark.parametrize(
    ("sequences", "units", "nodes", "batches"),
    [
        ([[1, 2, 3], [7, 8, 9], [1, 2, 4], [7, 8, 6]], [[0], [1], [2], [3]], 4, [[0, 2], [3, 1]]),
        ([[1, 2], [3, 4], [1, 5], [3, 6]], [[0, 1], [2, 3]], 4, [[0], [1]]),  # sequences of a unit stay together
        ([[1, 2, 3], [4, 5, 6]], [[0], [1]], 2, [[0], [1]]),  # a unit that is too large has a batch of its own
    ],
)
def test_units_with_shared_prefixes_share_a_batch(
    sequences: list[list[int]], units: list[list[int]], nodes: int, batches: list[list[int]]
) -> None:
    assert unit_batches(sequences, units, nodes=nodes, max_units=10) == batches


def test_batches_keep_their_bounds() -> None:
    sequences, units = [[1, index, 2] for index in range(20)], [[index] for index in range(20)]
    batches = unit_batches(sequences, units, nodes=9, max_units=100)
    assert all(len(PrefixTree.of([sequences[index] for index in batch])) <= 9 for batch in batches)
    assert sorted(index for batch in batches for index in batch) == list(range(20))
    assert all(len(batch) <= 3 for batch in unit_batches(sequences, units, nodes=1000, max_units=3))


@pytest.mark.parametrize(
    ("prompts", "length"), [([[1, 2, 3], [1, 2, 4]], 2), ([[1, 2], [1, 2, 3]], 1), ([[1, 2, 3]], 2), ([[1], [2]], 0)]
)
def test_common_prefix_leaves_a_token_of_every_prompt(prompts: list[list[int]], length: int) -> None:
    assert common_prefix_length(prompts) == length


CONTEXTS = ["Oslo is big.\n", "Lima is small.\n", "x"]


def _model_without_attention() -> LanguageModel:
    """Return a model whose attention adds nothing, so that only the last token counts."""
    model = tiny_language_model()
    with torch.no_grad():
        for layer in model.model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
    return model


@pytest.mark.parametrize("engine", [PREFIX_TREE, PLAIN])
def test_contexts_that_change_nothing_are_refused(engine: str) -> None:
    model = _model_without_attention()
    if engine == PLAIN:
        model.traits.method_decisions[ReadingMethod(PREFIX_TREE)] = MethodDecision(reason="for this test")
    with pytest.raises(ScoreError, match=r"tiny in float32 .* after all 3 contexts of the query 'Where is'"):
        persuasion(model, CONTEXTS, ["Where is"])
    with pytest.raises(ScoreError, match="same distribution"):
        answer_set_persuasion(model, CONTEXTS, ["Where is"], [["Oslo"], ["Lima"]])


@pytest.mark.parametrize("contexts", [["Oslo.\n"], ["Oslo.\n", "Oslo.\n"]])
def test_a_single_context_may_change_nothing(contexts: list[str]) -> None:
    assert (persuasion(_model_without_attention(), contexts, ["Where is"]).scores == 0).all()


def test_contexts_beyond_the_window_may_change_nothing() -> None:
    model = tiny_language_model("mistral")  # two layers with a window of 8 tokens
    long_query = "Q: What is the capital of Norway, and who lives there?\nA:"
    assert (persuasion(model, CONTEXTS, [long_query]).scores < 1e-6).all()
    assert persuasion(model, CONTEXTS, ["Where"]).scores.max() > 1e-3


@pytest.mark.parametrize("logit", [torch.nan, torch.inf, -torch.inf])
def test_single_logit_that_is_not_finite_is_refused(logit: float) -> None:
    model = tiny_language_model()

    def break_logit(network: object, inputs: object, output: torch.nn.Module) -> None:
        output.logits[..., 7] = logit

    model.model.register_forward_hook(break_logit)
    with pytest.raises(ScoreError, match=r"NaN or infinite.* for the query 'Where is' after the context 'Oslo is big"):
        persuasion(model, CONTEXTS, ["Where is"])
