"""Prompts in cache slots. A prefix that a slot contains already is copied, so that it is read only once."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.slots import New, Slots
from swaymeter.tasks.models.network import Network

WORTH = 8  # tokens that are worth a copy, or a wait for another prompt with the same prefix

_NOTHING = -1


class Unread(NamedTuple):
    """The tokens of a prompt from `start` on, which its slot does not contain yet."""

    of: Slots
    slot: int
    prompt: Tokens
    start: int

    def until(self, stop: int) -> New:
        """Return the tokens before `stop` as new tokens; only the prompt's last token returns logits."""
        return self.of.prefilled(self.slot, self.prompt, self.start, stop)


class PromptCache:
    """Cache slots for prompts, and the tokens in each slot; they stay after the replies have ended."""

    def __init__(self, model: Network, slots: int, slot_tokens: int) -> None:
        self.slots = Slots(model, slots, slot_tokens)
        self._tokens: NDArray[np.int64] = np.full((slots, slot_tokens), _NOTHING)

    def longest_prefix(self, prompt: Tokens) -> tuple[int, int]:
        """Return the slot with the longest prefix of a prompt, and the prefix length; 0 if a copy is not worthwhile.

        The last token of a prompt is always read, for the logits after it.
        """
        before = len(prompt) - 1
        differs = np.ones((len(self._tokens), len(prompt)), dtype=bool)
        np.not_equal(self._tokens[:, :before], np.asarray(prompt[:before], dtype=np.int64), out=differs[:, :before])
        shared = differs.argmax(axis=1)
        slot = int(shared.argmax())
        return slot, int(shared[slot]) if shared[slot] >= WORTH else 0

    def admit(self, slots: Sequence[int], prompts: Sequence[Tokens]) -> list[Unread]:
        """Copy prefixes from other slots into these, and return the tokens of the prompts that must be read."""
        copies = []
        for slot, prompt in zip(slots, prompts, strict=True):
            source, start = self.longest_prefix(prompt)
            copies.append((source, slot, start))
            self.record(slot, prompt[:start])  # a later prompt may copy this prefix, and no token that is not read yet
        for source, group in itertools.groupby(copies, key=lambda copy: copy[0]):
            targets = [(slot, start) for _, slot, start in group if start]
            if targets:  # tokens beyond a target's own start are overwritten when the rest is read
                self.slots.copy(source, [slot for slot, _ in targets], max(start for _, start in targets))
        return [
            Unread(self.slots, slot, prompt, start)
            for slot, prompt, (_, _, start) in zip(slots, prompts, copies, strict=True)
        ]

    def record(self, slot: int, tokens: Tokens) -> None:
        """Record that a slot contains the keys of these tokens, and of no others behind them."""
        self._tokens[slot, : len(tokens)] = tokens
        self._tokens[slot, len(tokens) :] = _NOTHING
