"""Prompts in cache slots. A prefix of at least `MIN_SHARED` tokens that a slot contains is copied, not read again."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.slots import Slots, SlotTokens
from swaymeter.tasks.models.network import Network

MIN_SHARED = 8
"""Fewest common tokens of two prompts for which keys are copied, or one prompt waits until the other is read."""

_NO_TOKEN = -1  # entry of `PromptCache._tokens` for an index without a token


class UnreadTokens(NamedTuple):
    """The tokens of a prompt from `start` on, which are not yet in its slot.

    Attributes:
        slots: the cache slots of all prompts.
        slot: the index of the prompt's slot.
        prompt: all tokens of the prompt.
        start: number of tokens that the slot contains.
    """

    slots: Slots
    slot: int
    prompt: Tokens
    start: int

    def until(self, stop: int) -> SlotTokens:
        """Return the tokens from `start` to `stop` for the next read; logits are kept for the prompt's last token."""
        return self.slots.prefill_chunk(self.slot, self.prompt, self.start, stop)


class PromptCache:
    """Cache slots for prompts, and a record of the tokens in each slot, which outlasts the replies in the slot."""

    def __init__(self, model: Network, slot_count: int, slot_tokens: int) -> None:
        self.slots = Slots(model, slot_count, slot_tokens)
        self._tokens: NDArray[np.int64] = np.full((slot_count, slot_tokens), _NO_TOKEN)

    def longest_prefix(self, prompt: Tokens) -> tuple[int, int]:
        """Return the slot with the longest prefix of a prompt, and the prefix's length; 0 for less than MIN_SHARED.

        The last token of a prompt is always read, for the logits after it.
        """
        last = len(prompt) - 1
        differs = np.ones((len(self._tokens), len(prompt)), dtype=bool)
        np.not_equal(self._tokens[:, :last], np.asarray(prompt[:last], dtype=np.int64), out=differs[:, :last])
        lengths = differs.argmax(axis=1)  # the first difference; the last column always differs
        slot = int(lengths.argmax())
        return slot, int(lengths[slot]) if lengths[slot] >= MIN_SHARED else 0

    def admit(self, slots: Sequence[int], prompts: Sequence[Tokens]) -> list[UnreadTokens]:
        """Copy cached prefixes of the prompts into these slots, and return the tokens that must still be read."""
        copies = []
        for slot, prompt in zip(slots, prompts, strict=True):
            source, start = self.longest_prefix(prompt)
            copies.append((source, slot, start))
            self.record(slot, prompt[:start])  # the caller records the other tokens once they are read
        # Order matters: the source of a copy may be the target of an earlier copy.
        for source, group in itertools.groupby(copies, key=lambda copy: copy[0]):
            targets = [(slot, start) for _, slot, start in group if start]
            # Every target gets the group's longest prefix; the next read overwrites a target from its `start` on.
            if targets:
                self.slots.copy(source, [slot for slot, _ in targets], max(start for _, start in targets))
        return [
            UnreadTokens(self.slots, slot, prompt, start)
            for slot, prompt, (_, _, start) in zip(slots, prompts, copies, strict=True)
        ]

    def record(self, slot: int, tokens: Tokens) -> None:
        """Record that a slot contains the keys of exactly these tokens."""
        self._tokens[slot, : len(tokens)] = tokens
        self._tokens[slot, len(tokens) :] = _NO_TOKEN
