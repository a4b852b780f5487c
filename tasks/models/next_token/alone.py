"""The truth that faster ways of reading are held against: a prompt read alone, without padding and without a KV cache.

A way is compared with it once for a loaded model, on prompts as short and as long as those that are read, and again
where others are shorter or longer; where a few are so long that the prefix tree and the slots read each in several
passes, on their beginnings, unless a number of the model's configuration lies between, at which it may begin to read
otherwise. Where a way differs
by more than rounding, or raises an error, it is not used for this model, and the reason is kept beside the scores: an
unknown kind of model costs time, but never gives a wrong number.
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
from swaymeter.tasks.models.network import Network, Verdict
from swaymeter.tasks.models.next_token.distributions import Distributions, divergence, is_rounding
from swaymeter.tasks.models.prompts.tokens import shortened

log = logging.getLogger(__name__)

Read = Callable[["Probe"], torch.Tensor]
"""Reads all prompts of a probe in some way, perhaps several times: the logits after each, (times x n, V)."""

TOKENS_PER_PASS = {"cpu": 4096, "cuda": 65536}
"""Most tokens of a pass, unless a single prompt has more."""

_LIKELY = -10.0  # log-probabilities above this matter to draws
_AHEAD = 2048  # most tokens to come that a comparison looks ahead: it reads some five prompts so long
_SHORT = 64  # tokens, at most, of a short prompt beside a long one where all are as long
FAR = {"cpu": 1280, "cuda": 18432}  # tokens, of which the prefix tree and the slots read a prompt in several passes
_MANY = 100  # so many prompts beyond that cost several times what a comparison of their whole length costs
_NO_LENGTHS = re.compile("vocab|hidden|intermediate|inner|embd|ffn|dim|rank|theta|_id$")


class CannotRead(Exception):
    """Why a way of reading cannot serve a model."""


@torch.inference_mode()
def read_equal(model: Network, prompts: Sequence[Tokens]) -> torch.Tensor:
    """The logits after prompts of the same length, (n, V), in one pass: as the model reads them, without a mask."""
    ids = torch.tensor([[*prompt] for prompt in prompts], device=model.device)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **model.keeping(1)).logits
    return logits[:, -1].clone()  # a view would keep the logits of all positions alive


def single(model: Network, prompt: Tokens) -> str:
    """A prompt, for the message where it does not fit the memory."""
    return f"a single prompt, of {len(prompt)} tokens, {shortened(str(model.tokenizer.decode(list(prompt))))}"


def long_positions(model: Network, tokens: int) -> bool:
    """Whether a pass with so long a prompt computes positions otherwise than shorter ones (LongRoPE)."""
    return tokens > _switch(model)


def _switch(model: Network) -> int:
    """The longest prompt, in tokens, before positions change."""
    rope = getattr(model.model.config.get_text_config(), "rope_parameters", None) or {}
    kinds = [rope, *(kind for kind in rope.values() if isinstance(kind, dict))]  # some have one for each type of layer
    switches = (kind["original_max_position_embeddings"] for kind in kinds if kind.get("rope_type") == "longrope")
    return min(switches, default=sys.maxsize)


@dataclass(frozen=True)
class Probe:
    """Prompts to compare ways on: two contexts, the short and the long one, each before the same tails of two tokens.

    The tails differ in their first token, where the prompts have two: behind a context they are a tree.
    """

    contexts: tuple[tuple[int, ...], tuple[int, ...]]
    tails: tuple[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, shortest: Tokens, longest: Tokens, *, halved: bool = True) -> "Probe":
        """Of prompts as long as these; where both are as long, the short one is cut if it may be `halved`."""
        if halved and len(shortest) == len(longest):
            shortest = shortest[: min(_SHORT, -(-len(shortest) // 2))]
        known = sorted({*shortest, *longest})
        short, long = (tuple(prompt[:-2] or prompt[:1]) for prompt in (shortest, longest))
        return cls((short, long), ((known[0], longest[-1]), (known[-1], longest[-1])))

    @cached_property
    def prompts(self) -> list[list[tuple[int, ...]]]:
        """[context][tail] tokens."""
        return [[(*context, *tail) for tail in self.tails] for context in self.contexts]

    @property
    def all(self) -> list[tuple[int, ...]]:
        """All prompts, those of a context together."""
        return [prompt for of_context in self.prompts for prompt in of_context]


def way_of(
    model: Network,
    prompts: Sequence[Tokens],
    ways: Mapping[str, Read],
    otherwise: str,
    *,
    to_come: int = 0,
    in_parts: bool = False,
) -> str:
    """The first of these ways that reads prompts of the lengths of these as each is read alone, or `otherwise`.

    prompts: all on one side of where positions change, unless in_parts; none: what was decided before; ways: by their
    names, the fastest first; to_come: most tokens that will follow a prompt; in_parts: whether the ways read a prompt,
    and what follows it, in several passes, whose positions must agree; otherwise longer prompts are asked about when
    they are read. ScoreError where a prompt does not fit the memory.
    """
    known = model.engine.verdicts
    lengths = sorted(map(len, prompts)) or [0]
    long = long_positions(model, lengths[-1] + (to_come if in_parts else 0))
    reached = _reached(model, lengths, to_come, long)
    shortest, longest = min(lengths[0], reached), reached if in_parts else min(lengths[-1], reached)
    probe: Probe | None = None
    for way, read in ways.items():
        verdict = known.get((way, long), Verdict())
        if prompts and not verdict.covers(shortest, longest):
            by_length = sorted((*verdict.compared, *prompts), key=len)
            most = max(reached, *map(len, verdict.compared), 0)
            ends = tuple(by_length[0][:reached]), tuple(islice(cycle(by_length[-1]), most))
            if long and in_parts:
                verdict = Verdict("its positions change with the longest prompt of a pass")
            else:
                if probe is None:
                    probe = Probe.of(*ends, halved=not long)
                    alone = Distributions.of(_read_alone(model, probe.all))
                if not torch.isfinite(alone.log_normaliser).all():
                    return otherwise  # nothing to compare with; the caller reports the NaN and its prompt
                reason, rounding = _compared(model, probe, read, alone)
                verdict = Verdict(reason, max(rounding, verdict.rounding), ends)
            known[way, long] = verdict
            if verdict.reason:
                log.warning("%s is not read by %s, which would be faster: %s", model.name, way, verdict.reason)
        if (way, long) in known and not verdict.reason:
            return way
    return otherwise


def _read_alone(model: Network, prompts: Sequence[Tokens]) -> torch.Tensor:
    rows = []
    for prompt in prompts:
        with Halving(model, "prompts are read", 1).attempt(1, smallest=partial(single, model, prompt)):
            rows.append(read_equal(model, [prompt]))
    return torch.cat(rows)


def _reached(model: Network, lengths: Sequence[int], to_come: int, long: bool) -> int:
    """How long prompts become, on their side of the switch, as far as a comparison looks; lengths: in rising order."""
    tokens = lengths[-1]
    limits = (model.context_window or sys.maxsize, sys.maxsize if long else _switch(model))
    reached = max(tokens, min(tokens + min(to_come, _AHEAD), *limits))
    far = FAR[torch.device(model.device).type]
    if far >= reached or (len(lengths) >= _MANY and lengths[-_MANY] > far):
        return reached
    turns = any(far <= number < reached for number in _lengths(model.model.config.get_text_config().to_dict()))
    return reached if turns else far


def _lengths(config: Mapping[str, Any]) -> Iterator[int]:
    """The whole numbers of a configuration that may be lengths, such as that of a window."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _lengths(value)
        elif isinstance(value, int) and not _NO_LENGTHS.search(str(name)):
            yield value


def _compared(model: Network, probe: Probe, read: Read, alone: Distributions) -> tuple[str | None, float]:
    """Why a way does not read the probe's prompts as they are read alone, if so; and its rounding."""
    try:
        log_probs = Distributions.of(read(probe)).log_probs()
    except CannotRead as reason:
        return str(reason), 0.0
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}", 0.0
    expected = alone.log_probs().repeat(len(log_probs) // len(alone.logits), 1)
    apart = max(
        divergence(expected.double(), log_probs.double()), divergence(_flattened(expected), _flattened(log_probs))
    )
    if not is_rounding(apart, model.dtype):
        return f"it changes answers by {apart:.2g} nats", 0.0
    return None, float((log_probs - expected).abs().where(expected > _LIKELY, 0.0).max())


def _flattened(log_probs: torch.Tensor) -> torch.Tensor:
    """Log-distributions (n, V) that say something of every token, where a model is nearly sure of one: float64."""
    return torch.log_softmax(log_probs.double() / log_probs.double().std(dim=1, keepdim=True).clamp(min=1.0), dim=1)
