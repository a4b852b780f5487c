"""The truth that faster ways of reading are held against: a prompt read alone, without padding and without a KV cache.

A way is compared with it once for a loaded model, on prompts as short and as long as those that are read, and again
where others are shorter or longer. Where it differs by more than rounding, or raises an error, it is not used for this
model, and the reason is kept beside the scores: an unknown kind of model costs time, but never gives a wrong number.
"""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle, islice

import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving, is_out_of_memory
from swaymeter.tasks.models.network import Network, Verdict
from swaymeter.tasks.models.next_token.distributions import Distributions, divergence, is_rounding
from swaymeter.tasks.models.prompts.tokens import shortened

log = logging.getLogger(__name__)

Read = Callable[["Probe"], torch.Tensor]
"""Reads all prompts of a probe in some way, perhaps several times: the logits after each, (times x n, V)."""

_LIKELY = -10.0  # log-probabilities above this matter to draws
_AHEAD = 2048  # most tokens to come that a comparison looks ahead: it reads some ten prompts so long


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
        """Of prompts as long as these; where both are as long, the short one is half of it if it may be `halved`."""
        if halved and len(shortest) == len(longest):
            shortest = shortest[: -(-len(shortest) // 2)]
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
    reached = _reached(model, lengths[-1], to_come, long)
    probe: Probe | None = None
    for way, read in ways.items():
        verdict = known.get((way, long), Verdict())
        if prompts and not verdict.covers(lengths[0], reached if in_parts else lengths[-1]):
            by_length = sorted((*verdict.compared, *prompts), key=len)
            ends = tuple(by_length[0]), tuple(islice(cycle(by_length[-1]), max(len(by_length[-1]), reached)))
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


def _reached(model: Network, tokens: int, to_come: int, long: bool) -> int:
    """How long a prompt of so many tokens becomes, as far as a comparison looks ahead, on its side of the switch."""
    limits = (model.context_window or sys.maxsize, sys.maxsize if long else _switch(model))
    return max(tokens, min(tokens + min(to_come, _AHEAD), *limits))


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
