"""Log-distributions of the next token for contexts x queries: the fast way where it serves the model, else the plain.

The fast way is held against the plain one on some of the very prompts that it is to read, once for each model. Where
the two differ by more than rounding, or the fast way cannot be gone at all, the plain way is taken for this model, and
a warning says why. So a model of a kind that nobody thought of costs time, never a wrong number.
"""

import logging
import weakref
from collections.abc import Iterator, Sequence

import torch

from tasks.models.language_model import LanguageModel
from tasks.models.memory import is_out_of_memory
from tasks.scoring.next_token.distributions import Distributions
from tasks.scoring.next_token.plain import read_plain
from tasks.scoring.next_token.prompts import Tokens, tokenized_prompts
from tasks.scoring.next_token.reading import unreadable
from tasks.scoring.next_token.shared import Pass, SharedBeginnings

log = logging.getLogger(__name__)

PREFIX_TREE = "prefix tree"
PLAIN = "plain"

# KL(plain || fast) in nats that is rounding still; a wrong mask or position moves every prompt by far more.
_ROUNDING = {"float32": 1e-6, "float16": 1e-3}
_ROUNDING_OF_SHORT_FORMATS = 2e-2

_engines: "weakref.WeakKeyDictionary[LanguageModel, str]" = weakref.WeakKeyDictionary()


def next_token_by_query(
    model: LanguageModel,
    contexts: Sequence[str],
    queries: Sequence[str],
    *,
    prompts: Sequence[Sequence[Tokens]] | None = None,
    memory: int | None = None,
) -> Iterator[tuple[int, Distributions]]:
    """For each query its place and the distributions after every context, (n_contexts, V); queries in any order.

    A context stands before a query with nothing between them. prompts: their tokens, where they are known already, as
    `tokenized_prompts` gives them. memory: the budget in bytes. Distributions are to be used before the next are asked
    for: their memory is used again.
    Raises UsageError where there is no context or no query, ScoreError for a prompt that does not fit the model.
    """
    tokens = prompts if prompts is not None else tokenized_prompts(model, contexts, queries)
    if engine(model, tokens) == PLAIN:
        for place in range(len(queries)):
            yield place, Distributions.of(read_plain(model, [of_context[place] for of_context in tokens]))
        return
    shared = SharedBeginnings(model, tokens, memory=memory)
    kept = _Kept(shared.largest, len(contexts))
    for places in shared.read(kept.take):
        for row, place in enumerate(places):
            yield place, Distributions.of(kept.logits[row])


class _Kept:
    """The logits of a bundle of queries after all contexts, in memory that every bundle uses again."""

    def __init__(self, queries: int, contexts: int) -> None:
        self._shape = (queries, contexts)
        self.logits = torch.empty((0,))

    @torch.inference_mode()
    def take(self, one: Pass) -> None:
        logits = one.reading.logits([paths[0][-1] for paths in one.paths])
        if not len(self.logits):
            self.logits = logits.new_empty((*self._shape, logits.shape[2]))
        for row, context in enumerate(one.contexts):
            self.logits[: len(one.units), context] = logits[row]


def engine(model: LanguageModel, prompts: Sequence[Sequence[Tokens]]) -> str:
    """The way in which this model's next tokens are computed: "prefix tree" or "plain"; settled at its first prompts.

    prompts: [context][query] tokens, some of which are read both ways.
    """
    if model not in _engines:
        tried = _some(prompts)
        plain = [Distributions.of(read_plain(model, of_context)) for of_context in tried]
        if not all(torch.isfinite(one.log_normaliser).all() for one in plain):
            return PLAIN  # nothing to compare with; whoever asked for these prompts finds the NaN and its prompt
        reason = unreadable(model) or _difference(model, tried, torch.stack([one.log_probs() for one in plain]))
        if reason:
            log.warning("%s is read prompt by prompt, which is slower: %s", model.name, reason)
        _engines[model] = PLAIN if reason else PREFIX_TREE
    return _engines[model]


def _some(prompts: Sequence[Sequence[Tokens]]) -> list[list[Tokens]]:
    """The first and the last queries of the shortest and the longest context."""
    by_length = sorted(prompts, key=lambda of_context: len(of_context[0]))
    return [[*of_context[:3], *of_context[3:][-3:]] for of_context in (by_length[0], by_length[-1])]


def _difference(model: LanguageModel, prompts: Sequence[Sequence[Tokens]], plain: torch.Tensor) -> str | None:
    """What is wrong with the fast way; plain: the log-distributions (contexts, queries, V) of the plain one."""
    try:
        shared = SharedBeginnings(model, prompts)
        kept = _Kept(shared.largest, len(prompts))
        for places in shared.read(kept.take):
            for row, place in enumerate(places):
                fast = Distributions.of(kept.logits[row]).log_probs()
                apart = _divergence(plain[:, place].double(), fast.double())
                if not apart <= _ROUNDING.get(model.dtype, _ROUNDING_OF_SHORT_FORMATS):
                    return f"shared beginnings change its answers by {apart:.2g} nats"
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        return f"shared beginnings cannot be read ({type(error).__name__}: {str(error).partition(chr(10))[0][:200]})"
    return None


def _divergence(p: torch.Tensor, q: torch.Tensor) -> float:
    """The largest KL(p || q) of log-distributions (n, V), in nats; of second order in their rounding."""
    return float((p.exp() * (p - q) - p.exp() + q.exp()).sum(dim=1).max())
