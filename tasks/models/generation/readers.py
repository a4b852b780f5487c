"""How the tokens of trees are read: in cache slots, each key computed once, or plainly, every prompt completely."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.slots import Slots
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
_SHARE = 8  # a prefix of at least an eighth of the prompts is worth a prefill of its own
_LEAST = 4  # prompts, and tokens


@dataclass(frozen=True)
class PlainReader:
    """Every prompt with the tokens of its answers so far, read completely at every step."""

    model: Network

    def prefill(self, trees: Sequence[Tree]) -> torch.Tensor:
        """The logits after the prompts of trees with new slots: (n, V)."""
        return read_plain(self.model, [tree.prompt for tree in trees], to_come=trees[0].points.shape[1])

    def decode(self, nodes: Sequence[Node]) -> torch.Tensor:
        """The logits after all live nodes of some prefilled trees: (n, V); a tree's nodes are consecutive."""
        return read_plain(self.model, [node.prompt for node in nodes], to_come=nodes[0].tree.points.shape[1])


class SlotReader:
    """In cache slots; prefixes that many prompts share are prefilled once."""

    def __init__(self, model: Network, prompts: Sequence[Tokens], slots: int, slot_tokens: int) -> None:
        self._prefixes = shared_prefixes(prompts)[-(slots // 4) :] if slots >= 4 else []  # the longest of many
        self._first = slots  # the slots of the prefixes are behind those of the prompts
        self._slots = Slots(model, slots + len(self._prefixes), slot_tokens)
        self._known = False

    def prefill(self, trees: Sequence[Tree]) -> torch.Tensor:
        """As PlainReader."""
        if self._prefixes and not self._known:
            numbers = range(self._first, self._first + len(self._prefixes))
            self._slots.prefill(numbers, self._prefixes, [0] * len(self._prefixes))
            self._known = True
        starts = [0] * len(trees)
        for number, prefix in enumerate(self._prefixes):
            length = len(prefix)
            begun = ((place, tree.prompt) for place, tree in enumerate(trees))
            alike = [place for place, of in begun if len(of) > length and tuple(of[:length]) == prefix]
            if alike:
                self._slots.copy(self._first + number, [trees[place].slot for place in alike], len(prefix))
                starts = [length if place in alike else start for place, start in enumerate(starts)]
        return self._slots.prefill([tree.slot for tree in trees], [tree.prompt for tree in trees], starts)

    def decode(self, nodes: Sequence[Node]) -> torch.Tensor:
        """As PlainReader."""
        for tree in dict.fromkeys(node.tree for node in nodes):
            tree.place()
        return self._slots.decode(nodes)


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
        reader = SlotReader(model, probe.contexts, len(trees), max(map(len, probe.contexts)) + 8)
        reader.prefill(trees)
        for tree in trees:
            tree.live = [Node(tree, [0], torch.empty(0), tail[:1]) for tail in probe.tails]
        nodes = [node for tree in trees for node in tree.live]
        reader.decode(nodes)
        for node, tail in zip(nodes, probe.tails * len(trees), strict=True):
            node.tokens = tail
        return reader.decode(nodes)


def shared_prefixes(prompts: Sequence[Tokens]) -> list[tuple[int, ...]]:
    """The longest prefixes that many prompts share, shorter ones first; each is shorter than its prompts."""
    ordered = sorted(map(tuple, prompts))
    many = max(_LEAST, -(-len(ordered) // _SHARE))
    longest: dict[int, int] = {}
    for first in range(len(ordered) - many + 1):
        alike = common_prefix_length([ordered[first], ordered[first + many - 1]], left=0)
        for place in range(first, first + many):
            longest[place] = max(longest.get(place, 0), min(alike, len(ordered[place]) - 1))
    counts = Counter(ordered[place][:length] for place, length in longest.items() if length >= _LEAST)
    worth = [prefix for prefix, places in counts.items() if 2 * places >= many]
    return sorted(worth, key=lambda prefix: (len(prefix), prefix))
