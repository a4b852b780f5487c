"""Prompts in cache slots: what a slot holds already is copied for prompts that begin alike, and not read again."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.slots import New, Slots
from swaymeter.tasks.models.network import Network

WORTH = 8  # tokens that are worth a copy, or waiting for another prompt that begins alike

_NOTHING = -1


class Unread(NamedTuple):
    """The tokens of a prompt from `start` on, which its slot does not hold yet."""

    of: Slots
    slot: int
    prompt: Tokens
    start: int

    def up_to(self, stop: int) -> New:
        """Those before `stop`, as new tokens; logits are returned after the prompt's last one alone."""
        return self.of.prefilled(self.slot, self.prompt, self.start, stop)


class HeldPrompts:
    """Cache slots for prompts, and what each of them holds: the prompt's tokens, also when its answers have ended."""

    def __init__(self, model: Network, slots: int, slot_tokens: int) -> None:
        self.slots = Slots(model, slots, slot_tokens)
        self._held: NDArray[np.int64] = np.full((slots, slot_tokens), _NOTHING)

    def beginning(self, prompt: Tokens) -> tuple[int, int]:
        """The slot that holds the most of a prompt's beginning, and how many tokens: 0 where it is not worth a copy.

        The last token of a prompt is always read, for the logits after it.
        """
        before = len(prompt) - 1
        other = np.ones((len(self._held), len(prompt)), dtype=bool)
        np.not_equal(self._held[:, :before], np.asarray(prompt[:before], dtype=np.int64), out=other[:, :before])
        alike = other.argmax(axis=1)
        slot = int(alike.argmax())
        return slot, int(alike[slot]) if alike[slot] >= WORTH else 0

    def entering(self, slots: Sequence[int], prompts: Sequence[Tokens]) -> list[Unread]:
        """What is to be read of prompts that get these slots; their beginnings that others hold are copied."""
        copied = []
        for slot, prompt in zip(slots, prompts, strict=True):
            source, start = self.beginning(prompt)
            copied.append((source, slot, start))
            self.hold(slot, prompt[:start])  # one behind it may copy that, and nothing that is not read yet
        for source, group in itertools.groupby(copied, key=lambda copy: copy[0]):
            some = [(slot, start) for _, slot, start in group if start]
            if some:  # what one gets beyond its own start is overwritten when the rest of it is read
                self.slots.copy(source, [slot for slot, _ in some], max(start for _, start in some))
        return [
            Unread(self.slots, slot, prompt, start)
            for slot, prompt, (_, _, start) in zip(slots, prompts, copied, strict=True)
        ]

    def hold(self, slot: int, tokens: Tokens) -> None:
        """Remembers that a slot holds the keys of these tokens, and of no others behind them."""
        self._held[slot, : len(tokens)] = tokens
        self._held[slot, len(tokens) :] = _NOTHING
