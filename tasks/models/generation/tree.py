"""The replies to one prompt during decoding: a tree, whose nodes are replies with the same tokens so far."""

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
    """Replies with a shared prefix.

    Attributes:
        tree: the tree of the prompt.
        members: indices of the replies, among all replies to the prompt.
        sums: (V,) float32, the sum of the next-token distributions of all steps so far.
        tokens: the shared tokens.
        log_probs: the log-probabilities of these tokens, nats.
        key_indices: indices of these tokens' keys in the cache slot of the tree.
    """

    tree: "Tree"
    members: list[int]
    sums: torch.Tensor
    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    key_indices: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def prompt_and_tokens(self) -> list[int]:
        """The tokens of the prompt, then the shared tokens."""
        return [*self.tree.prompt, *self.tokens]

    @property
    def contextless_and_tokens(self) -> list[int] | None:
        """The tokens of the prompt without its context, then the shared tokens; None without a contrastive decoding."""
        return None if self.tree.contextless is None else [*self.tree.contextless, *self.tokens]


@dataclass(eq=False)
class Tree:
    """The replies to one prompt in a cache slot.

    Attributes:
        index: index of the prompt.
        prompt: the tokens of the prompt.
        points: (replies, steps) uniform numbers, by which tokens are drawn; NaN for greedy replies.
        contextless: the tokens of the prompt without its context; None without a contrastive decoding.
        slot: index of the cache slot; a second cache has `contextless` in the slot with the same index.
        live: nodes whose replies have not ended.
        ended: the ended replies, by index.
    """

    index: int
    prompt: Sequence[int]
    points: NDArray[np.float64]
    contextless: Sequence[int] | None = None
    slot: int = 0
    live: list[Node] = field(default_factory=list)
    ended: dict[int, Answer] = field(default_factory=dict)
    _free: Iterator[int] = field(init=False)  # free indices of the slot, in rising order
    _ended_count: int = field(default=0, init=False)  # number of ended replies at the last change of `_free`

    def __post_init__(self) -> None:
        self._free = itertools.count(len(self.prompt))

    def anew(self) -> "Tree":
        """Return a new tree for the same prompt, without replies."""
        return Tree(self.index, self.prompt, self.points, self.contextless)

    @property
    def prefill_tokens(self) -> int:
        """Number of tokens to prefill: of the prompt, and of the prompt without its context."""
        return len(self.prompt) + len(self.contextless or ())

    def assign_keys(self) -> None:
        """Give the last token of each live node the lowest index of the slot that no live node uses."""
        if len(self.ended) > self._ended_count:  # an ended reply frees its indices
            self._ended_count = len(self.ended)
            used = {index for node in self.live for index in node.key_indices.tolist()}
            self._free = (index for index in itertools.count(len(self.prompt)) if index not in used)
        for node in self.live:
            node.key_indices = np.append(node.key_indices, next(self._free))


def sort_by_prefix(trees: Sequence[Tree]) -> list[Tree]:
    """Sort trees in groups with similar prompts; the group of the tree with the most tokens to prefill comes first.

    In a group, each prompt shares more than half of its tokens, as a prefix, with the prompt before it.
    """
    groups = list[list[Tree]]()
    for tree in sorted(trees, key=lambda tree: tuple(tree.prompt)):
        last = groups[-1][-1] if groups else None
        if last is not None and 2 * common_prefix_length([last.prompt, tree.prompt]) > len(tree.prompt):
            groups[-1].append(tree)
        else:
            groups.append([tree])
    groups.sort(key=lambda group: max(tree.prefill_tokens for tree in group), reverse=True)
    return [tree for group in groups for tree in group]
