"""How the tokens of trees are read: in cache slots, each key computed once, or plainly, every prompt completely."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.slots import New, Slots
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
_SHARE = 8  # a prefix of at least an eighth of the prompts is worth a prefill of its own
_LEAST = 4  # prompts, and tokens


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
    """In cache slots; prefixes that many prompts share are prefilled once.

    without: prompts without their contexts, where answers contrast the two. They have slots of their own, and one that
    belongs to several prompts is prefilled once.
    """

    def __init__(
        self,
        model: Network,
        prompts: Sequence[Tokens],
        slots: int,
        slot_tokens: int,
        *,
        without: Sequence[Tokens] = (),
        slot_tokens_without: int = 0,
    ) -> None:
        self._model = model
        self._own = _Prompts(model, prompts, slots, slot_tokens)
        self._without = _Prompts(model, without, slots, slot_tokens_without)
        self._held: dict[int, tuple[int, ...]] = {}  # the prompt without its context that lies in a slot

    def prefill(self, trees: Sequence[Tree]) -> Read:
        """As PlainReader."""
        own = self._own.entering([tree.slot for tree in trees], [tree.prompt for tree in trees])
        of_tree = {place: tuple(tree.without) for place, tree in enumerate(trees) if tree.without is not None}
        for tree in trees:
            self._held.pop(tree.slot, None)
        held = {twin: slot for slot, twin in self._held.items()}
        slots: dict[tuple[int, ...], list[int]] = {}
        for place, twin in of_tree.items():
            slots.setdefault(twin, []).append(trees[place].slot)
        first = [of_twin[0] for of_twin in slots.values()]
        logits = read_slots(self._model, [*own, *self._without.entering(first, list(slots), held)])
        for twin, (source, *others) in slots.items():
            self._held |= dict.fromkeys((source, *others), twin)
            if others:
                self._without.slots.copy(source, others, len(twin))
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


class _Prompts:
    """Cache slots for prompts like these, and behind them those of the prefixes that many of them share."""

    def __init__(self, model: Network, prompts: Sequence[Tokens], slots: int, slot_tokens: int) -> None:
        prefixes = shared_prefixes(prompts)[-(slots // 4) :] if slots >= 4 else []  # the longest of many
        self._model = model
        self._prefixes = dict(zip(prefixes, range(slots, slots + len(prefixes)), strict=True))
        self.slots = Slots(model, slots + len(prefixes), slot_tokens)
        self._known = False

    def entering(
        self,
        slots: Sequence[int],
        prompts: Sequence[Tokens],
        held: Mapping[tuple[int, ...], int] = MappingProxyType({}),
    ) -> list[New]:
        """The tokens of prompts with new slots, but for those that are copied: shared prefixes, and prompts held."""
        if prompts and self._prefixes and not self._known:
            beginnings = self.slots.prefilled(
                list(self._prefixes.values()), list(self._prefixes), [0] * len(self._prefixes)
            )
            read_slots(self._model, beginnings)
            self._known = True
        starts = [0] * len(prompts)
        for prefix, source in self._prefixes.items():
            length = len(prefix)
            alike = [place for place, of in enumerate(prompts) if len(of) > length and tuple(of[:length]) == prefix]
            if alike:
                self.slots.copy(source, [slots[place] for place in alike], length)
                starts = [length if place in alike else start for place, start in enumerate(starts)]
        for place, prompt in enumerate(prompts):
            if tuple(prompt) in held:
                starts[place] = len(prompt) - 1  # its last token is read again, for the logits after it
                self.slots.copy(held[tuple(prompt)], [slots[place]], starts[place])
        return self.slots.prefilled(slots, prompts, starts)


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
        return reader.decode(nodes).logits


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
