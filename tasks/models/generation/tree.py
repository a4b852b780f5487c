"""The answers to one prompt while they are decoded: a tree, whose nodes are answers with the same tokens so far."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Answer
from swaymeter.tasks.models.prompts.tokens import common_prefix_length


@dataclass(eq=False)
class Node:
    """Answers with a shared prefix, by their numbers; places: of their tokens' keys in the tree's slot.

    sums: of the distributions of their steps, (V,) float32.
    """

    tree: "Tree"
    members: list[int]
    sums: torch.Tensor
    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def prompt(self) -> list[int]:
        """All tokens before the next one."""
        return [*self.tree.prompt, *self.tokens]

    @property
    def without(self) -> list[int] | None:
        """The same without the context; None where there is nothing to contrast with."""
        return None if self.tree.without is None else [*self.tree.without, *self.tokens]


@dataclass(eq=False)
class Tree:
    """The answers to the prompt of that number in a cache slot; live: nodes still decoded; ended: answers by number.

    points: (answers, steps) uniform numbers, NaN for greedy answers; without: the prompt without its context, whose own
    slot has the same number, where a decoding contrasts the two.
    """

    number: int
    prompt: Sequence[int]
    points: NDArray[np.float64]
    without: Sequence[int] | None = None
    slot: int = 0
    live: list[Node] = field(default_factory=list)
    ended: dict[int, Answer] = field(default_factory=dict)
    _free: Iterator[int] = field(init=False)
    _ended: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._free = itertools.count(len(self.prompt))

    def anew(self) -> "Tree":
        """The same prompt, none of whose answers has begun."""
        return Tree(self.number, self.prompt, self.points, self.without)

    @property
    def tokens(self) -> int:
        """The tokens before its answers begin."""
        return len(self.prompt) + len(self.without or ())

    def place(self) -> None:
        """Gives the last tokens of the live nodes places that no live node still attends to: the lowest ones."""
        if len(self.ended) > self._ended:  # only then are places free again
            self._ended = len(self.ended)
            taken = {place for node in self.live for place in node.places.tolist()}
            self._free = (place for place in itertools.count(len(self.prompt)) if place not in taken)
        for node in self.live:
            node.places = np.append(node.places, next(self._free))


def by_beginning(trees: Sequence[Tree]) -> list[Tree]:
    """Trees whose prompts have more than half in common beside each other, and long ones beside long ones."""
    groups = list[list[Tree]]()
    for tree in sorted(trees, key=lambda tree: tuple(tree.prompt)):
        last = groups[-1][-1] if groups else None
        if last is not None and 2 * common_prefix_length([last.prompt, tree.prompt]) > len(tree.prompt):
            groups[-1].append(tree)
        else:
            groups.append([tree])
    groups.sort(key=lambda group: max(tree.tokens for tree in group), reverse=True)
    return [tree for group in groups for tree in group]
