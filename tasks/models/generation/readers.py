"""Readers of trees; a tree is a prompt with its replies, and replies with the same tokens so far are one node.

The reader with cache slots reads each token once; the plain reader reads every prompt in full at every step.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.prompt_cache import MIN_SHARED, PromptCache, UnreadTokens
from swaymeter.tasks.models.generation.slots import SlotTokens
from swaymeter.tasks.models.generation.slots import read as read_slots
from swaymeter.tasks.models.generation.tree import Node, Tree
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import CannotRead, ComparedPrompts, choose_method
from swaymeter.tasks.models.next_token.plain import EQUAL, PADDED, read_plain
from swaymeter.tasks.models.next_token.reading import reason_against_trees
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

# Names of the engines, which are stored beside scores.
SLOTS = "slots"
PLAIN = "plain"

_ROUNDING = 2e-5  # nats; batches of the bundled model in float32 differed by up to 1.1e-5
TOKENS_PER_PASS = {"cpu": 1024, "cuda": 16384}
"""Limit of the prompt tokens in a forward pass."""


class PassLogits(NamedTuple):
    """Logits of a forward pass.

    Attributes:
        logits: (n, V), the logits after every prompt.
        contextless: (m, V), the logits after m of the prompts without their contexts; m is 0 without a contrastive
            decoding.
        contextless_rows: (m,), the indices of these m prompts, in rising order.
    """

    logits: torch.Tensor
    contextless: torch.Tensor
    contextless_rows: list[int]


@dataclass(frozen=True)
class PlainReader:
    """Reader that reads every prompt and its replies so far in full, at every step."""

    model: Network

    def unread_tokens(self, tree: Tree, before: Tree | None) -> int | None:
        """Return the number of tokens that the prefill of a tree reads: all tokens."""
        return tree.prefill_tokens

    def prefill(self, trees: Sequence[Tree]) -> PassLogits:
        """Read the prompts of new trees."""
        return self._read([tree.prompt for tree in trees], [tree.contextless for tree in trees], trees[0])

    def decode(self, nodes: Sequence[Node]) -> PassLogits:
        """Read the nodes whose replies have not ended; the nodes of a tree are consecutive."""
        return self._read(
            [node.prompt_and_tokens for node in nodes], [node.contextless_and_tokens for node in nodes], nodes[0].tree
        )

    def _read(self, prompts: Sequence[Tokens], contextless: Sequence[Tokens | None], tree: Tree) -> PassLogits:
        """Read prompts, and the same prompts without their contexts; `tree.points` has a column for each new token."""
        contextless_prompts = {index: prompt for index, prompt in enumerate(contextless) if prompt is not None}
        logits = read_plain(self.model, [*prompts, *contextless_prompts.values()], new_tokens=tree.points.shape[1])
        return PassLogits(logits[: len(prompts)], logits[len(prompts) :], list(contextless_prompts))


class SlotReader:
    """Reader with cache slots; a shared prefix is read once as long as a slot contains it.

    Args:
        model: the network.
        slots: number of slots.
        slot_tokens: tokens of a slot.
        contextless_slot_tokens: tokens of a slot of a second cache, for prompts without their contexts; 0 without a
            contrastive decoding. Slot i of both caches has the same prompt.
    """

    def __init__(self, model: Network, slots: int, slot_tokens: int, *, contextless_slot_tokens: int = 0) -> None:
        self._model = model
        self._cache = PromptCache(model, slots, slot_tokens)
        self._contextless_cache = PromptCache(model, slots, contextless_slot_tokens)

    def unread_tokens(self, tree: Tree, before: Tree | None) -> int | None:
        """Return the number of tokens that the prefill of a tree reads; None if the tree should wait.

        A tree waits until `before` is prefilled if both trees share enough tokens that no slot has. Enough means at
        least MIN_SHARED, and at least half of the tree's unread tokens.
        """
        cached = self._cache.longest_prefix(tree.prompt)[1]
        unread_tokens = len(tree.prompt) - cached
        if before is not None:
            saved = common_prefix_length([before.prompt, tree.prompt]) - cached
            if saved >= MIN_SHARED and 2 * saved >= unread_tokens:
                return None
        if tree.contextless is not None:
            unread_tokens += len(tree.contextless) - self._contextless_cache.longest_prefix(tree.contextless)[1]
        return unread_tokens

    def prefill(self, trees: Sequence[Tree]) -> PassLogits:
        """Read the prompts of new trees into their slots; equal prompts without contexts are read once."""
        unread = self._cache.admit([tree.slot for tree in trees], [tree.prompt for tree in trees])
        prompts = {index: tuple(tree.contextless) for index, tree in enumerate(trees) if tree.contextless is not None}
        slots_by_prompt: dict[tuple[int, ...], list[int]] = {}
        for index, prompt in prompts.items():
            slots_by_prompt.setdefault(prompt, []).append(trees[index].slot)
        first_slots = [slots[0] for slots in slots_by_prompt.values()]
        logits = self._in_passes([*unread, *self._contextless_cache.admit(first_slots, list(slots_by_prompt))])
        for tree in trees:
            self._cache.record(tree.slot, tree.prompt)
        for prompt, (source, *copies) in slots_by_prompt.items():
            if copies:
                self._contextless_cache.slots.copy(source, copies, len(prompt))
            for slot in (source, *copies):
                self._contextless_cache.record(slot, prompt)
        row_of_prompt = dict(zip(slots_by_prompt, range(len(trees), len(logits)), strict=True))
        rows = [row_of_prompt[prompt] for prompt in prompts.values()]
        return PassLogits(logits[: len(trees)], logits[rows], list(prompts))

    def decode(self, nodes: Sequence[Node]) -> PassLogits:
        """Read the nodes whose replies have not ended; the nodes of a tree are consecutive."""
        for tree in dict.fromkeys(node.tree for node in nodes):
            tree.assign_keys()
        contextless_nodes = {index: node for index, node in enumerate(nodes) if node.tree.contextless is not None}
        chunks = [*self._cache.slots.decode_chunks(nodes)]
        chunks += self._contextless_cache.slots.decode_chunks(list(contextless_nodes.values()), is_contextless=True)
        logits = read_slots(self._model, chunks)
        return PassLogits(logits[: len(nodes)], logits[len(nodes) :], list(contextless_nodes))

    def _in_passes(self, prompts: Sequence[UnreadTokens]) -> torch.Tensor:
        """Return the logits after each prompt, (n, V); a long prompt is read in several forward passes."""
        waiting, logits = deque(prompts), []
        while waiting:
            chunks, room = list[SlotTokens](), TOKENS_PER_PASS[torch.device(self._model.device).type]
            while waiting and room:
                unread = waiting.popleft()
                stop = min(len(unread.prompt), unread.start + room)
                chunks.append(unread.until(stop))
                room -= stop - unread.start
                if stop < len(unread.prompt):
                    waiting.appendleft(unread._replace(start=stop))
            logits.append(read_slots(self._model, chunks))
        return torch.cat(logits)


def engine_of_answers(model: Network, prompts: Sequence[Tokens], *, new_tokens: int = 0) -> str:
    """Return the engine that decodes `new_tokens` tokens after prompts; ScoreError if one prompt exceeds the memory."""
    return choose_method(
        model, prompts, {SLOTS: partial(_read_compared_prompts, model)}, PLAIN, new_tokens=new_tokens, in_parts=True
    )


def rounding(model: Network) -> float:
    """Return a bound on the difference of a logit between two batches, nats. Such a difference can change a draw.

    For other dtypes than float32, differences are too large for a bound. With 0, every draw counts as certain.
    """
    if model.dtype != "float32":
        return 0.0
    decisions = list(model.traits.method_decisions.items())  # a copy, because another thread may add decisions
    slots_rejected = any(method == SLOTS and decision.reason for (method, _), decision in decisions)
    methods = (SLOTS, PADDED, EQUAL) if slots_rejected else (SLOTS,)
    # Like _ROUNDING, the bound is about twice a measured difference.
    return max([_ROUNDING, *(2 * decision.rounding for (method, _), decision in decisions if method in methods)])


def _read_compared_prompts(model: Network, compared_prompts: ComparedPrompts) -> torch.Tensor:
    """Return the logits after the prompts by which methods are compared: prefill the contexts, decode the tails."""
    if reason := reason_against_trees(model):
        raise CannotRead(reason)
    trees = [
        Tree(index, prompt, np.empty((1, 0)), slot=index) for index, prompt in enumerate(compared_prompts.contexts)
    ]
    with Halving(model, "prompts are compared", 1).attempt(1, smallest=lambda: "the answers to a single prompt"):
        reader = SlotReader(model, len(trees), max(map(len, compared_prompts.contexts)) + 8)  # room for the tails
        reader.prefill(trees)
        for tree in trees:
            tree.live = [Node(tree, [0], torch.empty(0), tail[:1]) for tail in compared_prompts.tails]
        nodes = [node for tree in trees for node in tree.live]
        # Each `decode` reads the last token of every node: first the first token of a tail, then its second token.
        reader.decode(nodes)
        for node, tail in zip(nodes, compared_prompts.tails * len(trees), strict=True):
            node.tokens = tail
        return reader.decode(nodes).logits
