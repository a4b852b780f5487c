"""Log-distributions of the next token for contexts x queries: by the prefix tree if a model allows it, else plainly."""

from collections.abc import Iterator, Sequence
from functools import partial

import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import TOKENS_PER_PASS, CannotRead, Probe, way_of
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import BATCH, read_plain
from swaymeter.tasks.models.next_token.reading import PrefixTree, Reading, read_contexts, unreadable
from swaymeter.tasks.models.next_token.shared import Pass, SharedPrefixes

PREFIX_TREE = "prefix tree"
PLAIN = "plain"


def next_token_by_query(
    model: Network, prompts: Sequence[Sequence[Tokens]], *, memory: int | None = None
) -> Iterator[tuple[int, Distributions]]:
    """For each query its place and the distributions after every context, (n_contexts, V); queries in any order.

    Distributions must be used before the next are requested: their memory is reused. prompts: [context][query] tokens;
    memory: bytes that may be used besides the model, None for `memory_budget`.
    """
    if engine_of_next_token(model, prompts) == PLAIN:
        for place in range(len(prompts[0])):
            of_query = [of_context[place] for of_context in prompts]
            rows = TOKENS_PER_PASS[torch.device(model.device).type] // max(map(len, of_query))
            yield place, Distributions.of(read_plain(model, of_query, batch_size=max(BATCH, rows)))
    else:
        yield from _by_prefix_tree(model, prompts, memory)


def _by_prefix_tree(
    model: Network, prompts: Sequence[Sequence[Tokens]], memory: int | None
) -> Iterator[tuple[int, Distributions]]:
    shared = SharedPrefixes(model, prompts, memory=memory)
    kept: torch.Tensor | None = None  # (queries of a batch, contexts, V), in memory that every batch reuses

    @torch.inference_mode()
    def keep(forward_pass: Pass) -> None:
        nonlocal kept
        logits = forward_pass.reading.logits([paths[0][-1] for paths in forward_pass.paths])
        if kept is None:
            kept = logits.new_empty((shared.largest, len(prompts), logits.shape[2]))
        for row, context in enumerate(forward_pass.contexts):
            kept[: len(forward_pass.units), context] = logits[row]

    for places in shared.read(keep):
        assert kept is not None
        for row, place in enumerate(places):
            yield place, Distributions.of(kept[row])


def engine_of_next_token(model: Network, prompts: Sequence[Sequence[Tokens]]) -> str:
    """The engine of next tokens after [context][query] tokens: a single query shares no prefix, and is read plainly."""
    return PLAIN if len(prompts[0]) == 1 else engine(model, prompts)


def engine(model: Network, prompts: Sequence[Sequence[Tokens]], *, to_come: int = 0) -> str:
    """The engine that reads this model, [context][query] tokens, with so many tokens to come behind each."""
    flat = [prompt for of_context in prompts for prompt in of_context]
    return way_of(model, flat, {PREFIX_TREE: partial(_of_probe, model)}, PLAIN, to_come=to_come, in_parts=True)


@torch.inference_mode()
def _of_probe(model: Network, probe: Probe) -> torch.Tensor:
    """The logits after a probe's prompts, read as trees; and again with their last tokens as tokens that follow."""
    if reason := unreadable(model):
        raise CannotRead(reason)
    with Halving(model, "prompts are rehearsed", 1).attempt(1, smallest=lambda: "two contexts and queries"):
        contexts = read_contexts(model, probe.contexts, range(len(probe.contexts)))
        tree = PrefixTree.of(probe.tails, device=model.device)
        whole = Reading(model, contexts, tree).logits([path[-1] for path in tree.paths])
        begun = PrefixTree.of([tail[:1] for tail in probe.tails], device=model.device)
        reading = Reading(model, contexts, begun, keep=True)
        reading.logits([path[-1] for path in begun.paths])
        lasts = torch.tensor([tail[-1] for tail in probe.tails], device=model.device)
        following = reading.following(lasts.expand(len(probe.contexts), -1))
    return torch.cat([whole.flatten(0, 1), following.flatten(0, 1)])
