"""The answers to one prompt while they grow: a tree, since answers that have begun alike are read once.

A node stands for the answers that have had the same tokens so far. The model is asked once for what follows a node;
each of its answers then draws from that one distribution with a number of its own, and the node parts where they draw
different tokens.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class Node:
    """Answers that have begun alike.

    tree: whose answers they are; members: their numbers; tokens, log_probs: what they have so far; places: where the
    keys of these tokens lie in the tree's slot; row: where the sum of the distributions of their steps is kept.
    """

    tree: "Tree"
    members: list[int]
    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    places: tuple[int, ...] = ()
    row: int = 0

    @property
    def prompt(self) -> list[int]:
        """All tokens that stand before the next one."""
        return [*self.tree.prompt, *self.tokens]

    def point(self, member: int) -> float:
        """The number that an answer draws its next token with; NaN for the greedy one, which takes the likeliest."""
        return math.nan if member == self.tree.greedy else float(self.tree.points[member, len(self.tokens)])

    def child(self, token: int, log_prob: float, members: list[int]) -> "Node":
        """The node of those answers that go on with this token; it has its parent's row still."""
        return Node(self.tree, members, (*self.tokens, token), (*self.log_probs, log_prob), self.places, self.row)


@dataclass(eq=False)
class Tree:
    """The answers to one prompt.

    number: the prompt's place among those asked; points: (samples, steps) uniform numbers; slot: where the prompt's
    keys lie; live: the nodes that go on; ended: for each answer its tokens, their log-probabilities, and which of the
    kept mean distributions is its own.
    """

    number: int
    prompt: Sequence[int]
    points: NDArray[np.float64]
    slot: int = 0
    live: list[Node] = field(default_factory=list)
    ended: dict[int, "Ended"] = field(default_factory=dict)

    @property
    def greedy(self) -> int:
        """The number of the greedy answer, behind those of the samples."""
        return len(self.points)

    def root(self, row: int) -> Node:
        """The node of all answers, before their first token."""
        return Node(self, list(range(self.greedy + 1)), row=row)

    def afresh(self) -> "Tree":
        """The same tree with nothing grown."""
        return Tree(self.number, self.prompt, self.points)

    def place(self) -> None:
        """Finds places for the last tokens of the live nodes, where no token lies that a live node still sees."""
        taken = {place for node in self.live for place in node.places}
        free = (place for place in itertools.count(len(self.prompt)) if place not in taken)
        for node in self.live:
            node.places = (*node.places, next(free))


@dataclass(frozen=True, eq=False)
class Ended:
    """Answers that have ended alike; mean: (V,) float32, the mean of their steps' distributions."""

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    mean: NDArray[np.float32]


def live(trees: Iterable[Tree]) -> list[Node]:
    """The nodes of all trees that go on, those of a tree together."""
    return [node for tree in trees for node in tree.live]
