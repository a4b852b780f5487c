"""How the tokens of trees are read: in cache slots, each key computed once, or plainly, every prompt completely."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.held import WORTH, HeldPrompts, Unread
from swaymeter.tasks.models.generation.slots import New
from swaymeter.tasks.models.generation.slots import read as read_slots
from swaymeter.tasks.models.generation.tree import Node, Tree
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import CannotRead, Probe, way_of
from swaymeter.tasks.models.next_token.plain import EQUAL, PADDED, read_plain
from swaymeter.tasks.models.next_token.reading import unreadable
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

SLOTS = "slots"
PLAIN = "plain"

_ROUNDING = 2e-5  # log-probabilities of the bundled model in float32 moved by up to 1.1e-5 between batches
TOKENS_PER_PASS = {"cpu": 1024, "cuda": 16384}
"""Most tokens of prompts in a pass."""


class Read(NamedTuple):
    """What a pass gives: the logits after every prompt, (n, V), and without the context, (m, V), after some of them.

    contrasted: the places of these among the prompts, in rising order.
    """

    logits: torch.Tensor
    without: torch.Tensor
    contrasted: list[int]


@dataclass(frozen=True)
class PlainReader:
    """Every prompt with the tokens of its answers so far, read completely at every step."""

    model: Network

    def unread(self, tree: Tree, before: Tree | None) -> int | None:
        """The tokens that prefilling a tree reads: all of them."""
        return tree.tokens

    def prefill(self, trees: Sequence[Tree]) -> Read:
        """After the prompts of trees with new slots."""
        return self._read([tree.prompt for tree in trees], [tree.without for tree in trees], trees[0])

    def decode(self, nodes: Sequence[Node]) -> Read:
        """After all live nodes of some prefilled trees; a tree's nodes are consecutive."""
        return self._read([node.prompt for node in nodes], [node.without for node in nodes], nodes[0].tree)

    def _read(self, prompts: Sequence[Tokens], without: Sequence[Tokens | None], tree: Tree) -> Read:
        twins = {place: twin for place, twin in enumerate(without) if twin is not None}
        logits = read_plain(self.model, [*prompts, *twins.values()], to_come=tree.points.shape[1])
        return Read(logits[: len(prompts)], logits[len(prompts) :], list(twins))


class SlotReader:
    """In cache slots; a beginning that prompts share is read once, as long as a slot holds it.

    slot_tokens_without: 0 unless answers contrast prompts with the same without their contexts. These have slots of
    their own, with the same numbers, and one that belongs to several prompts is prefilled once.
    """

    def __init__(self, model: Network, slots: int, slot_tokens: int, *, slot_tokens_without: int = 0) -> None:
        self._model = model
        self._own = HeldPrompts(model, slots, slot_tokens)
        self._without = HeldPrompts(model, slots, slot_tokens_without)

    def unread(self, tree: Tree, before: Tree | None) -> int | None:
        """The tokens that prefilling a tree reads; None where it waits for `before`, which begins alike, to be read."""
        held = self._own.beginning(tree.prompt)[1]
        left = len(tree.prompt) - held
        if before is not None:
            spared = common_prefix_length([before.prompt, tree.prompt]) - held
            if spared >= WORTH and 2 * spared >= left:
                return None
        return left + (0 if tree.without is None else len(tree.without) - self._without.beginning(tree.without)[1])

    def prefill(self, trees: Sequence[Tree]) -> Read:
        """As PlainReader."""
        own = self._own.entering([tree.slot for tree in trees], [tree.prompt for tree in trees])
        of_tree = {place: tuple(tree.without) for place, tree in enumerate(trees) if tree.without is not None}
        slots: dict[tuple[int, ...], list[int]] = {}
        for place, twin in of_tree.items():
            slots.setdefault(twin, []).append(trees[place].slot)
        first = [of_twin[0] for of_twin in slots.values()]
        logits = self._in_passes([*own, *self._without.entering(first, list(slots))])
        for tree in trees:
            self._own.hold(tree.slot, tree.prompt)
        for twin, (source, *others) in slots.items():
            if others:
                self._without.slots.copy(source, others, len(twin))
            for slot in (source, *others):
                self._without.hold(slot, twin)
        rows = dict(zip(slots, range(len(trees), len(logits)), strict=True))
        return Read(logits[: len(trees)], logits[[rows[twin] for twin in of_tree.values()]], list(of_tree))

    def decode(self, nodes: Sequence[Node]) -> Read:
        """As PlainReader."""
        for tree in dict.fromkeys(node.tree for node in nodes):
            tree.place()
        twins = {place: node for place, node in enumerate(nodes) if node.tree.without is not None}
        news = [*self._own.slots.decoded(nodes), *self._without.slots.decoded(list(twins.values()), without=True)]
        logits = read_slots(self._model, news)
        return Read(logits[: len(nodes)], logits[len(nodes) :], list(twins))

    def _in_passes(self, prompts: Sequence[Unread]) -> torch.Tensor:
        """The logits after each prompt, (n, V): they are read in passes of a limited length, long ones in several."""
        left, logits = deque(prompts), []
        while left:
            news, room = list[New](), TOKENS_PER_PASS[torch.device(self._model.device).type]
            while left and room:
                prompt = left.popleft()
                stop = min(len(prompt.prompt), prompt.start + room)
                news.append(prompt.up_to(stop))
                room -= stop - prompt.start
                if stop < len(prompt.prompt):
                    left.appendleft(prompt._replace(start=stop))
            logits.append(read_slots(self._model, news))
        return torch.cat(logits)


def engine_of_answers(model: Network, prompts: Sequence[Tokens], *, to_come: int = 0) -> str:
    """The engine that reads this model's answers, of so many tokens; ScoreError where none of the prompts fits."""
    return way_of(model, prompts, {SLOTS: partial(_of_probe, model)}, PLAIN, to_come=to_come, in_parts=True)


def rounding(model: Network) -> float:
    """The largest difference of this model's logits between batches; 0 where it is too large for repeatable draws."""
    if model.dtype != "float32":
        return 0.0
    verdicts = list(model.engine.verdicts.items())  # another thread may add to them
    plainly = any(way == SLOTS and verdict.reason for (way, _), verdict in verdicts)
    ways = (SLOTS, PADDED, EQUAL) if plainly else (SLOTS,)
    return max([_ROUNDING, *(2 * verdict.rounding for (way, _), verdict in verdicts if way in ways)])


def _of_probe(model: Network, probe: Probe) -> torch.Tensor:
    """The logits after a probe's prompts: its contexts are prefilled and its tails decoded, a token after the other."""
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
