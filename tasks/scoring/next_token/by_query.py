"""Log-distributions of the next token for contexts x queries: by the prefix tree if the model allows it, else plainly.

The prefix tree is compared with the plain engine on some of the prompts, once for a model that reads several queries.
Where the two differ by more than rounding, or the prefix tree cannot be used, the plain engine reads this model, and a
warning has the reason: an unknown kind of model costs time, but never gives a wrong number.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from tasks.models.language_model import LanguageModel, Verdict
from tasks.models.memory import is_out_of_memory
from tasks.scoring.next_token.distributions import Distributions, divergence, is_rounding
from tasks.scoring.next_token.plain import BATCH, read_plain
from tasks.scoring.next_token.prompts import Tokens
from tasks.scoring.next_token.reading import unreadable
from tasks.scoring.next_token.shared import TOKENS_PER_PASS, Pass, SharedPrefixes

log = logging.getLogger(__name__)

PREFIX_TREE = "prefix tree"
PLAIN = "plain"


def next_token_by_query(
    model: LanguageModel, prompts: Sequence[Sequence[Tokens]], *, memory: int | None = None
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
    model: LanguageModel, prompts: Sequence[Sequence[Tokens]], memory: int | None
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


def engine_of_next_token(model: LanguageModel, prompts: Sequence[Sequence[Tokens]]) -> str:
    """The engine of next tokens after [context][query] tokens: a single query shares no prefix, and is read plainly."""
    return PLAIN if len(prompts[0]) == 1 else engine(model, prompts)


def engine(model: LanguageModel, prompts: Sequence[Sequence[Tokens]]) -> str:
    """The engine that reads this model, [context][query] tokens; decided at its first prompts of several queries.

    Before these, single queries are decided once, too: they have no branches, and show less than later ones need.
    """
    decided = model.engine.prefix_tree or (model.engine.single_query if len(prompts[0]) == 1 else None)
    if decided is None:
        by_length = sorted(prompts, key=lambda of_context: len(of_context[0]))
        # The prefix tree reads all queries after two of the contexts, the plain engine some of these.
        tried, queries = [by_length[0], by_length[-1]], len(prompts[0])
        compared = sorted({*range(min(3, queries)), *range(max(0, queries - 3), queries)})
        plain = [Distributions.of(read_plain(model, [of_context[place] for place in compared])) for of_context in tried]
        if not all(torch.isfinite(distributions.log_normaliser).all() for distributions in plain):
            return PLAIN  # nothing to compare with; the caller reports the NaN and its prompt
        log_probs = torch.stack([distributions.log_probs() for distributions in plain], dim=1)
        by_place = dict(zip(compared, log_probs, strict=True))
        decided = verdict(
            model, unreadable(model), lambda: _difference(model, tried, by_place), "shared prefixes cannot be read"
        )
        if decided.reason or queries > 1:
            model.engine.prefix_tree = decided
        else:
            model.engine.single_query = decided
    return PLAIN if decided.reason else PREFIX_TREE


def verdict(model: LanguageModel, reason: str | None, compare: Callable[[], Verdict], failure: str) -> Verdict:
    """The verdict on a fast engine, with a warning where it is not used: a known reason, or that of the comparison.

    failure: the reason where that raises an error, other than a lack of memory.
    """
    try:
        result = Verdict(reason) if reason else compare()
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        result = Verdict(f"{failure} ({type(error).__name__}: {str(error).partition(chr(10))[0][:200]})")
    if result.reason:
        log.warning("%s is read prompt by prompt, which is slower: %s", model.name, result.reason)
    return result


def _difference(
    model: LanguageModel, prompts: Sequence[Sequence[Tokens]], plain: Mapping[int, torch.Tensor]
) -> Verdict:
    """The comparison with the plain engine; plain: its log-distributions (contexts, V) of some queries."""
    for place, fast in _by_prefix_tree(model, prompts, None):
        if place in plain:
            apart = divergence(plain[place].double(), fast.log_probs().double())
            if not is_rounding(apart, model.dtype):
                return Verdict(f"shared prefixes change its answers by {apart:.2g} nats")
    return Verdict()
