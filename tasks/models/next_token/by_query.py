"""Next-token distributions for contexts x queries: by the prefix tree if it is exact for a model, else plainly."""

from collections.abc import Iterator, Sequence
from functools import partial

import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import TOKENS_PER_PASS, CannotRead, ComparedPrompts, choose_method
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import BATCH, read_plain
from swaymeter.tasks.models.next_token.reading import PrefixTree, Reading, read_contexts, reason_against_trees
from swaymeter.tasks.models.next_token.shared import ForwardPass, SharedPrefixes
from swaymeter.tasks.models.progress import report_prompts

# Names of the engines, which are stored beside scores. The plain engine reads every prompt in full.
PREFIX_TREE = "prefix tree"
PLAIN = "plain"


def next_token_by_query(
    model: Network, prompts: Sequence[Sequence[Tokens]], *, memory: int | None = None
) -> Iterator[tuple[int, Distributions]]:
    """Yield the index of each query and its distributions after every context, (n_contexts, V); queries in any order.

    Distributions must be used before the next ones are requested, because their memory is reused.

    Args:
        model: the network.
        prompts: [context][query] tokens.
        memory: bytes that may be used beside the model; None for `memory_budget`.
    """
    if engine_of_next_token(model, prompts) == PLAIN:
        for query in range(len(prompts[0])):
            prompts_of_query = [row[query] for row in prompts]
            rows = TOKENS_PER_PASS[torch.device(model.device).type] // max(map(len, prompts_of_query))
            yield query, Distributions.of(read_plain(model, prompts_of_query, batch_size=max(BATCH, rows)))
            report_prompts(len(prompts))
    else:
        yield from _by_prefix_tree(model, prompts, memory)


def _by_prefix_tree(
    model: Network, prompts: Sequence[Sequence[Tokens]], memory: int | None
) -> Iterator[tuple[int, Distributions]]:
    shared = SharedPrefixes(model, prompts, memory=memory)
    logits_by_context: torch.Tensor | None = None  # (queries of a batch, contexts, V); every batch reuses the memory

    @torch.inference_mode()
    def store(forward_pass: ForwardPass) -> None:
        nonlocal logits_by_context
        # Each query is a unit with one path: its tokens after the prefix that all prompts of a context share.
        logits = forward_pass.reading.logits([paths[0][-1] for paths in forward_pass.paths])
        if logits_by_context is None:
            logits_by_context = logits.new_empty((shared.largest, len(prompts), logits.shape[2]))
        for row, context in enumerate(forward_pass.contexts):
            logits_by_context[: len(forward_pass.units), context] = logits[row]

    for queries in shared.read(store):
        assert logits_by_context is not None
        for row, query in enumerate(queries):
            yield query, Distributions.of(logits_by_context[row])


def engine_of_next_token(model: Network, prompts: Sequence[Sequence[Tokens]]) -> str:
    """Return the engine for [context][query] prompts: plain for a single query, which shares no prefix."""
    return PLAIN if len(prompts[0]) == 1 else engine(model, prompts)


def engine(model: Network, prompts: Sequence[Sequence[Tokens]], *, new_tokens: int = 0) -> str:
    """Return the engine that reads [context][query] prompts with `new_tokens` tokens after each."""
    flat = [prompt for row in prompts for prompt in row]
    return choose_method(
        model, flat, {PREFIX_TREE: partial(_read_compared_prompts, model)}, PLAIN, new_tokens=new_tokens, in_parts=True
    )


@torch.inference_mode()
def _read_compared_prompts(model: Network, compared_prompts: ComparedPrompts) -> torch.Tensor:
    """Return logits after the prompts of a comparison twice: read in one forward pass, and in two."""
    if reason := reason_against_trees(model):
        raise CannotRead(reason)
    with Halving(model, "prompts are compared", 1).attempt(1, smallest=lambda: "two contexts and queries"):
        contexts = read_contexts(model, compared_prompts.contexts, range(len(compared_prompts.contexts)))
        tree = PrefixTree.of(compared_prompts.tails, device=model.device)
        single_pass = Reading(model, contexts, tree).logits([path[-1] for path in tree.paths])
        # A tail has two tokens: `logits` fills the KV cache with the first, and `following` reads the last.
        first_tokens = PrefixTree.of([tail[:1] for tail in compared_prompts.tails], device=model.device)
        reading = Reading(model, contexts, first_tokens, keep=True)
        reading.logits([path[-1] for path in first_tokens.paths])
        last_tokens = torch.tensor([tail[-1] for tail in compared_prompts.tails], device=model.device)
        two_passes = reading.following(last_tokens.expand(len(compared_prompts.contexts), -1))
    return torch.cat([single_pass.flatten(0, 1), two_passes.flatten(0, 1)])
