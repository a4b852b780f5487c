"""The reference of all faster reading methods: a prompt read alone, without padding and without a KV cache.

For each loaded model, a reading method such as padded batches is compared with prompts read alone, on the shortest and
on the longest prompt. The comparison is repeated if shorter or longer prompts come. Of a prompt with more than `FAR`
tokens, only the first `FAR` tokens are compared. The whole prompt is compared if the model's configuration names a
length beyond `FAR`, such as a sliding window, or if there are many such prompts. A method that differs by more than
rounding, or raises an error, is rejected for the model, and the reason is stored beside the scores.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle, islice
from typing import Any

import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving, is_out_of_memory
from swaymeter.tasks.models.network import MethodDecision, Network, ReadingMethod
from swaymeter.tasks.models.next_token.distributions import Distributions, is_rounding, largest_divergence
from swaymeter.tasks.models.prompts.tokens import shorten

log = logging.getLogger(__name__)

Read = Callable[["ComparedPrompts"], torch.Tensor]
"""A reading method, which reads the n prompts of a comparison once or several times; returns logits, (times x n, V)."""

TOKENS_PER_PASS = {"cpu": 4096, "cuda": 65536}
"""Limit of the tokens in a forward pass, unless a single prompt has more."""

_LIKELY = -10.0  # rounding is measured at log-probabilities above this limit: other tokens are hardly ever drawn
_MAX_NEW_TOKENS = 2048  # limit of the new tokens in a comparison, which reads about five prompts of full length
_SHORT = 64  # limit of the short prompt of a comparison, in tokens, if all prompts have the same length
FAR = {"cpu": 1280, "cuda": 18432}  # tokens above which trees and cache slots read a prompt in several forward passes
_MANY = 100  # number of prompts beyond FAR that cost far more than a comparison of all their tokens
# Names of integers in a configuration that are no lengths of texts.
_NO_LENGTHS = re.compile("vocab|hidden|intermediate|inner|embd|ffn|dim|rank|theta|_id$")


class CannotRead(Exception):
    """Raised, with the reason, by a reading method that cannot be used with a model."""


@torch.inference_mode()
def read_equal(model: Network, prompts: Sequence[Tokens]) -> torch.Tensor:
    """Return the logits after prompts of the same length, (n, V), from one forward pass without a mask."""
    ids = torch.tensor([[*prompt] for prompt in prompts], device=model.device)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **model.last_logits(1)).logits
    return logits[:, -1].clone()  # a view would keep the logits of all positions alive


def describe_prompt(model: Network, prompt: Tokens) -> str:
    """Return a description of a prompt, for the error that memory runs out with this prompt alone."""
    return f"a single prompt, of {len(prompt)} tokens, {shorten(str(model.tokenizer.decode(list(prompt))))}"


def has_long_positions(model: Network, tokens: int) -> bool:
    """Return True if LongRoPE changes the positions in a forward pass that has a prompt of this length."""
    return tokens > _longrope_limit(model)


def _longrope_limit(model: Network) -> int:
    """Return the largest number of tokens for which LongRoPE keeps the usual positions; no limit without LongRoPE."""
    rope = getattr(model.model.config.get_text_config(), "rope_parameters", None) or {}
    # The parameters of all layers or, one level deeper, of each type of layer.
    kinds = [rope, *(kind for kind in rope.values() if isinstance(kind, dict))]
    limits = (kind["original_max_position_embeddings"] for kind in kinds if kind.get("rope_type") == "longrope")
    return min(limits, default=sys.maxsize)


@dataclass(frozen=True)
class ComparedPrompts:
    """Prompts of a comparison: a short and a long context, each before the same two tails of two tokens.

    The tails differ in their first token, unless the prompts repeat a single token.
    """

    contexts: tuple[tuple[int, ...], tuple[int, ...]]
    tails: tuple[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, shortest: Tokens, longest: Tokens, *, halved: bool = True) -> "ComparedPrompts":
        """Return prompts of these lengths; if the lengths are equal, `halved` makes one prompt shorter."""
        if halved and len(shortest) == len(longest):
            shortest = shortest[: min(_SHORT, -(-len(shortest) // 2))]
        ids = sorted({*shortest, *longest})
        short, long = (tuple(prompt[:-2] or prompt[:1]) for prompt in (shortest, longest))
        return cls((short, long), ((ids[0], longest[-1]), (ids[-1], longest[-1])))

    @cached_property
    def prompts(self) -> list[list[tuple[int, ...]]]:
        """Prompts as [context][tail] tokens."""
        return [[(*context, *tail) for tail in self.tails] for context in self.contexts]

    @property
    def all(self) -> list[tuple[int, ...]]:
        """All prompts, grouped by context."""
        return [prompt for row in self.prompts for prompt in row]


def choose_method(
    model: Network,
    prompts: Sequence[Tokens],
    methods: Mapping[str, Read],
    fallback: str,
    *,
    new_tokens: int = 0,
    in_parts: bool = False,
) -> str:
    """Return the first method that reads prompts of these lengths like prompts read alone, or `fallback`.

    Args:
        model: the network.
        prompts: the prompts; without prompts, only earlier comparisons count.
        methods: the reading methods by name, the fastest first.
        fallback: the name of the method that is always exact.
        new_tokens: limit of the tokens that follow a prompt.
        in_parts: True if the methods read a prompt and its new tokens in several forward passes. If False, the caller
            calls again for longer prompts, and `has_long_positions` is equal for all `prompts`.

    Raises:
        ScoreError: a prompt does not fit the memory.
    """
    decisions = model.traits.method_decisions  # results of earlier comparisons
    lengths = sorted(map(len, prompts)) or [0]
    is_long = has_long_positions(model, lengths[-1] + (new_tokens if in_parts else 0))
    longest_compared = _compared_length(model, lengths, new_tokens, is_long)
    shortest = min(lengths[0], longest_compared)
    longest = longest_compared if in_parts else min(lengths[-1], longest_compared)
    compared_prompts: ComparedPrompts | None = None
    for method, read in methods.items():
        decision = decisions.get(ReadingMethod(method, is_long), MethodDecision())
        if prompts and not decision.covers(shortest, longest):
            # The new decision holds for the lengths of earlier comparisons, too. The tokens of the longest prompt are
            # repeated until the prompt is as long as with its new tokens.
            by_length = sorted((*decision.compared, *prompts), key=len)
            length = max(longest_compared, *map(len, decision.compared), 0)
            extremes = tuple(by_length[0][:longest_compared]), tuple(islice(cycle(by_length[-1]), length))
            if is_long and in_parts:
                decision = MethodDecision("its positions change with the longest prompt of a pass")
            else:
                if compared_prompts is None:
                    compared_prompts = ComparedPrompts.of(*extremes, halved=not is_long)
                    alone = Distributions.of(_read_alone(model, compared_prompts.all))
                if not torch.isfinite(alone.log_normaliser).all():
                    return fallback  # the reference is not finite; the caller reports the prompt
                reason, rounding = _compare(model, compared_prompts, read, alone)
                decision = MethodDecision(reason, max(rounding, decision.rounding), extremes)
            decisions[ReadingMethod(method, is_long)] = decision
            if decision.reason:
                log.warning(
                    "%s: prompts are read without the faster method %r: %s", model.name, method, decision.reason
                )
        if ReadingMethod(method, is_long) in decisions and not decision.reason:
            return method
    return fallback


def _read_alone(model: Network, prompts: Sequence[Tokens]) -> torch.Tensor:
    rows = []
    for prompt in prompts:
        with Halving(model, "prompts are read", 1).attempt(1, smallest=partial(describe_prompt, model, prompt)):
            rows.append(read_equal(model, [prompt]))
    return torch.cat(rows)


def _compared_length(model: Network, lengths: Sequence[int], new_tokens: int, is_long: bool) -> int:
    """Return the number of tokens up to which prompts of these lengths (sorted) are compared.

    The number is the length of the longest prompt with its new tokens, or `FAR` if `FAR` tokens are enough. If
    `is_long` is False, new tokens do not raise the number to lengths for which LongRoPE changes positions.
    """
    tokens = lengths[-1]
    limits = (model.context_window or sys.maxsize, sys.maxsize if is_long else _longrope_limit(model))
    longest_compared = max(tokens, min(tokens + min(new_tokens, _MAX_NEW_TOKENS), *limits))
    far = FAR[torch.device(model.device).type]
    if far >= longest_compared or (len(lengths) >= _MANY and lengths[-_MANY] > far):
        return longest_compared
    lengths_in_config = _lengths(model.model.config.get_text_config().to_dict())
    has_length_beyond_far = any(far <= number < longest_compared for number in lengths_in_config)
    return longest_compared if has_length_beyond_far else far


def _lengths(config: Mapping[str, Any]) -> Iterator[int]:
    """Yield the integers of a configuration that may be lengths, such as a window."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _lengths(value)
        elif isinstance(value, int) and not _NO_LENGTHS.search(str(name)):
            yield value


def _compare(
    model: Network, compared_prompts: ComparedPrompts, read: Read, alone: Distributions
) -> tuple[str | None, float]:
    """Return the reason against a method (None if it is exact), and the rounding of log-probabilities in nats."""
    try:
        log_probs = Distributions.of(read(compared_prompts)).log_probs()
    except CannotRead as reason:
        return str(reason), 0.0
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}", 0.0
    expected = alone.log_probs().repeat(len(log_probs) // len(alone.logits), 1)
    difference = largest_divergence(expected.double(), log_probs.double())
    difference = max(difference, largest_divergence(_less_peaked(expected), _less_peaked(log_probs)))
    if not is_rounding(difference, model.dtype):
        return f"it changes answers by {difference:.2g} nats", 0.0
    return None, float((log_probs - expected).abs().where(expected > _LIKELY, 0.0).max())


def _less_peaked(log_probs: torch.Tensor) -> torch.Tensor:
    """Return flatter log-distributions, (n, V) float64, in which unlikely tokens count, too."""
    return torch.log_softmax(log_probs.double() / log_probs.double().std(dim=1, keepdim=True).clamp(min=1.0), dim=1)
