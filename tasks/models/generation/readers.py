"""Readers of reply trees: cache slots compute each key once; the plain reader reads every prompt in full."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.prompt_cache import WORTH, PromptCache, Unread
from swaymeter.tasks.models.generation.slots import SlotTokens
from swaymeter.tasks.models.generation.slots import read as read_slots
from swaymeter.tasks.models.generation.tree import Node, Tree
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import CannotRead, Probe, choose_method
from swaymeter.tasks.models.next_token.plain import EQUAL, PADDED, read_plain
from swaymeter.tasks.models.next_token.reading import unreadable
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

SLOTS = "slots"
PLAIN = "plain"

_ROUNDING = 2e-5  # log-probabilities of the bundled model in float32 differed by up to 1.1e-5 between batches
TOKENS_PER_PASS = {"cpu": 1024, "cuda": 16384}
"""Limit of the prompt tokens in a pass."""


class PassLogits(NamedTuple):
    """Logits of a pass.

    Attributes:
        logits: (n, V), the logits after every prompt.
        without: (m, V), the logits after the same prompts without their contexts, only for contrastive decodings.
        contrasted: (m,), indices of the prompts that have such a second prompt, in rising order.
    """

    logits: torch.Tensor
    without: torch.Tensor
    contrasted: list[int]


@dataclass(frozen=True)
class PlainReader:
    """Reader that reads every prompt and its replies so far in full, at every step."""

    model: Network

    def unread(self, tree: Tree, before: Tree | None) -> int | None:
        """Return the number of tokens that the prefill of a tree reads: all tokens."""
        return tree.tokens

    def prefill(self, trees: Sequence[Tree]) -> PassLogits:
        """Read the prompts of trees with new slots."""
        return self._read([tree.prompt for tree in trees], [tree.without for tree in trees], trees[0])

    def decode(self, nodes: Sequence[Node]) -> PassLogits:
        """Read all live nodes of prefilled trees; the nodes of a tree are consecutive."""
        return self._read([node.prompt for node in nodes], [node.without for node in nodes], nodes[0].tree)

    def _read(self, prompts: Sequence[Tokens], without: Sequence[Tokens | None], tree: Tree) -> PassLogits:
        """Read prompts and their twins, the same prompts without their contexts."""
        twins = {index: twin for index, twin in enumerate(without) if twin is not None}
        logits = read_plain(self.model, [*prompts, *twins.values()], new_tokens=tree.points.shape[1])
        return PassLogits(logits[: len(prompts)], logits[len(prompts) :], list(twins))


class SlotReader:
    """Reader with cache slots; a shared prefix is read once as long as a slot contains it.

    Args:
        model: the network.
        slots: number of slots.
        slot_tokens: tokens of a slot.
        slot_tokens_without: tokens of a slot for a prompt without its context; 0 without a contrastive decoding. These
            slots have the same numbers as the prompts' own; a text that several prompts share is prefilled once.
    """

    def __init__(self, model: Network, slots: int, slot_tokens: int, *, slot_tokens_without: int = 0) -> None:
        self._model = model
        self._own = PromptCache(model, slots, slot_tokens)
        self._without = PromptCache(model, slots, slot_tokens_without)

    def unread(self, tree: Tree, before: Tree | None) -> int | None:
        """Return the number of tokens that the prefill of a tree reads; None to wait for the prefix of `before`."""
        cached = self._own.longest_prefix(tree.prompt)[1]
        unread = len(tree.prompt) - cached
        if before is not None:
            saved = common_prefix_length([before.prompt, tree.prompt]) - cached
            if saved >= WORTH and 2 * saved >= unread:
                return None
        if tree.without is not None:
            unread += len(tree.without) - self._without.longest_prefix(tree.without)[1]
        return unread

    def prefill(self, trees: Sequence[Tree]) -> PassLogits:
        """Read the prompts of trees with new slots."""
        own = self._own.admit([tree.slot for tree in trees], [tree.prompt for tree in trees])
        twins = {index: tuple(tree.without) for index, tree in enumerate(trees) if tree.without is not None}
        slots_by_twin: dict[tuple[int, ...], list[int]] = {}
        for index, twin in twins.items():
            slots_by_twin.setdefault(twin, []).append(trees[index].slot)
        first_slots = [slots[0] for slots in slots_by_twin.values()]
        logits = self._in_passes([*own, *self._without.admit(first_slots, list(slots_by_twin))])
        for tree in trees:
            self._own.record(tree.slot, tree.prompt)
        for twin, (source, *copies) in slots_by_twin.items():
            if copies:
                self._without.slots.copy(source, copies, len(twin))
            for slot in (source, *copies):
                self._without.record(slot, twin)
        row_of_twin = dict(zip(slots_by_twin, range(len(trees), len(logits)), strict=True))
        rows = [row_of_twin[twin] for twin in twins.values()]
        return PassLogits(logits[: len(trees)], logits[rows], list(twins))

    def decode(self, nodes: Sequence[Node]) -> PassLogits:
        """Read all live nodes of prefilled trees; the nodes of a tree are consecutive."""
        for tree in dict.fromkeys(node.tree for node in nodes):
            tree.assign_keys()
        twins = {index: node for index, node in enumerate(nodes) if node.tree.without is not None}
        chunks = [*self._own.slots.decoded(nodes), *self._without.slots.decoded(list(twins.values()), without=True)]
        logits = read_slots(self._model, chunks)
        return PassLogits(logits[: len(nodes)], logits[len(nodes) :], list(twins))

    def _in_passes(self, prompts: Sequence[Unread]) -> torch.Tensor:
        """Return the logits after each prompt, (n, V), in passes of limited length; long prompts take several."""
        unread, logits = deque(prompts), []
        while unread:
            chunks, room = list[SlotTokens](), TOKENS_PER_PASS[torch.device(self._model.device).type]
            while unread and room:
                prompt = unread.popleft()
                stop = min(len(prompt.prompt), prompt.start + room)
                chunks.append(prompt.until(stop))
                room -= stop - prompt.start
                if stop < len(prompt.prompt):
                    unread.appendleft(prompt._replace(start=stop))
            logits.append(read_slots(self._model, chunks))
        return torch.cat(logits)


def engine_of_answers(model: Network, prompts: Sequence[Tokens], *, new_tokens: int = 0) -> str:
    """Return the engine that decodes `new_tokens` tokens after the prompts; ScoreError if no prompt fits the memory."""
    return choose_method(
        model, prompts, {SLOTS: partial(_read_probe, model)}, PLAIN, new_tokens=new_tokens, in_parts=True
    )


def rounding(model: Network) -> float:
    """Return a bound on the difference of a logit between batches; 0 if none makes draws repeatable (not float32)."""
    if model.dtype != "float32":
        return 0.0
    verdicts = list(model.engine.verdicts.items())  # another thread may add to them
    slots_rejected = any(method == SLOTS and verdict.reason for (method, _), verdict in verdicts)
    methods = (SLOTS, PADDED, EQUAL) if slots_rejected else (SLOTS,)
    return max([_ROUNDING, *(2 * verdict.rounding for (method, _), verdict in verdicts if method in methods)])


def _read_probe(model: Network, probe: Probe) -> torch.Tensor:
    """Return the logits after a probe's prompts: contexts are prefilled, tails decoded token by token."""
    if reason := unreadable(model):
        raise CannotRead(reason)
    trees = [Tree(number, prompt, np.empty((1, 0)), slot=number) for number, prompt in enumerate(probe.contexts)]
    with Halving(model, "answers are rehearsed", 1).attempt(1, smallest=lambda: "the answers to a single prompt"):
        reader = SlotReader(model, len(trees), max(map(len, probe.contexts)) + 8)
        reader.prefill(trees)
        for tree in trees:
            tree.live = [Node(tree, [0], torch.empty(0), tail[:1]) for tail in probe.tails]
        nodes = [node for tree in trees for node in tree.live]
        reader.decode(nodes)
        for node, tail in zip(nodes, probe.tails * len(trees), strict=True):
            node.tokens = tail
        return reader.decode(nodes).logits
