"""Prompts of contexts x sequences, with every shared prefix computed once, within a memory budget.

A sequence is a text that follows every context, such as a query. The prefix that all prompts of a context share is read
once. The tokens after this prefix are a tree, the same for all contexts unless a token spans the end of a context.
A unit is a group of sequences that stay in one batch, such as a query with each of its answers.

Half of the budget is for the results of one batch of units with all contexts, an eighth for the KV cache of the
contexts, and a quarter for a forward pass. If memory runs out, smaller batches are read.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving, memory_budget
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import TOKENS_PER_PASS
from swaymeter.tasks.models.next_token.reading import ContextBatch, PrefixTree, Reading, add_path, read_contexts
from swaymeter.tasks.models.progress import report_prompts
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

NODES_PER_BATCH = {"cpu": 128, "cuda": 256}
"""Limit of the nodes (tokens) in the tree of a batch, unless a single unit has more."""
SINGLE_CONTEXT_FACTOR = 8
"""A batch of a single context, which fills one row of a forward pass, may have this many times as many nodes."""


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """A forward pass of the model: the tree of some units, after each of some contexts.

    Attributes:
        contexts: indices of the contexts.
        units: indices of the units.
        paths: [unit][sequence] nodes of the sequence in the tree, from its first token to its last.
        reading: gives the logits at nodes of the tree.
    """

    contexts: list[int]
    units: list[int]
    paths: list[list[list[int]]]
    reading: Reading


class SharedPrefixes:
    """Prompts of several contexts, whose shared prefixes are computed once.

    Attributes:
        largest: the number of units in the largest batch.

    Args:
        model: the network.
        prompts: [context][sequence] complete prompts as tokens.
        units: the indices of each unit's sequences; by default each sequence is a unit.
        entries: number of values that the caller stores for each unit and context; by default the size of the
            vocabulary. With `keep`, the values are the tokens that the caller writes after each sequence.
        inner: True if the caller reads logits at all nodes, False if only at the ends of sequences.
        keep: True to store the trees' KV cache, for the tokens after each sequence.
        memory: bytes; None for `memory_budget`.
    """

    def __init__(
        self,
        model: Network,
        prompts: Sequence[Sequence[Tokens]],
        *,
        units: Sequence[Sequence[int]] | None = None,
        entries: int | None = None,
        inner: bool = False,
        keep: bool = False,
        memory: int | None = None,
    ) -> None:
        budget = memory if memory is not None else memory_budget(model.device)
        kind = torch.device(model.device).type
        config = model.model.config.get_text_config()
        vocabulary, size = int(config.vocab_size), model.model.dtype.itemsize
        self._model, self._keep = model, keep
        self._units = units if units is not None else [[index] for index in range(len(prompts[0]))]
        self._groups = _groups(model, prompts)
        self._cache_bytes = budget // 8 // len(self._groups)
        max_units = max(1, budget // 2 // (len(prompts) * (entries or vocabulary) * size))
        nodes = NODES_PER_BATCH[kind] * (SINGLE_CONTEXT_FACTOR if len(prompts) == 1 else 1)
        self._waiting = deque(unit_batches(self._groups[0].sequences, self._units, nodes, max_units))
        self.largest = max(map(len, self._waiting))
        trees = [self._tree(batch, group) for batch in self._waiting for group in self._groups]
        longest = max(group.longest for group in self._groups)
        tokens = max(longest, *map(len, trees))
        nodes_read = max(len(tree) if inner else len(tree.paths) for tree in trees)
        # A row of a forward pass is a context with its tree. The row needs memory for logits, for the states of its
        # tokens inside a layer, for the KV cache of the context, and with `keep` for the tree's KV cache.
        states = 12 * config.hidden_size + 4 * inner_size(config)
        cached = longest + (max(len(tree) + (entries or 0) * len(tree.paths) for tree in trees) if keep else 0)
        row_bytes = (nodes_read * vocabulary + tokens * states + cached * cache_per_token(config)) * size
        rows = max(1, min(TOKENS_PER_PASS[kind] // tokens, budget // 4 // row_bytes))
        self._halving = Halving(model, "prompts are read", rows, self.largest)

    def read(self, compute: Callable[[ForwardPass], None]) -> Iterator[list[int]]:
        """Call `compute` for each forward pass, and yield the units of a batch once they are read with all contexts."""
        while self._waiting:
            units, rows = self._waiting.popleft(), self._halving.amounts[0]
            with self._halving.attempt(rows, len(units), smallest=lambda: "a single context and query"):
                self._compute(units, compute)
            if not self._halving.ran_out:
                yield units
                continue
            for group in self._groups:
                group.cached.clear()
            max_units = self._halving.amounts[1]
            self._waiting.extendleft([units[max_units:], units[:max_units]] if max_units < len(units) else [units])

    def _compute(self, units: list[int], compute: Callable[[ForwardPass], None]) -> None:
        for group in self._groups:
            tree = self._tree(units, group)
            tree_paths = iter(tree.paths)
            paths = [[next(tree_paths) for _ in self._units[unit]] for unit in units]
            for batch in group.batches(self._halving.amounts[0], self._cache_bytes):
                compute(ForwardPass(batch.indices, units, paths, Reading(self._model, batch, tree, keep=self._keep)))
                report_prompts(len(batch.indices) * len(units))

    def _tree(self, units: Sequence[int], group: "_Group") -> PrefixTree:
        sequences = [group.sequences[index] for unit in units for index in self._units[unit]]
        return PrefixTree.of(sequences, device=self._model.device)


class _Group:
    """Contexts whose prefixes are followed by the same tokens."""

    def __init__(self, model: Network, prompts: Sequence[Sequence[Tokens]], contexts: list[int]) -> None:
        lengths = {index: common_prefix_length(prompts[index]) for index in contexts}
        self._model = model
        self._contexts = sorted(contexts, key=lambda index: lengths[index])
        self._prefixes = [prompts[index][0][: lengths[index]] for index in self._contexts]
        self.cached: dict[int, ContextBatch] = {}
        self.sequences = [prompt[lengths[contexts[0]] :] for prompt in prompts[contexts[0]]]
        self.longest = max(lengths.values())

    def batches(self, rows: int, cache_bytes: int) -> Iterator[ContextBatch]:
        """Yield the contexts, `rows` at a time, with their KV cache; at most `cache_bytes` of it stay in memory."""
        for start in range(0, len(self._contexts), rows):
            batch = self.cached.get(start)
            if batch is None:
                stop = start + rows
                batch = read_contexts(self._model, self._prefixes[start:stop], self._contexts[start:stop])
                used_bytes = sum(cached_batch.bytes for cached_batch in self.cached.values())
                if used_bytes + batch.bytes <= cache_bytes:
                    self.cached[start] = batch
            yield batch


def unit_batches(
    sequences: Sequence[Tokens], units: Sequence[Sequence[int]], nodes: int, max_units: int
) -> list[list[int]]:
    """Return batches of units; a unit whose tree has more than `nodes` nodes is a batch of its own.

    Args:
        sequences: tokens of each sequence.
        units: indices of the sequences of each unit.
        nodes: limit of the nodes in a tree.
        max_units: limit of the units in a batch.
    """
    order = sorted(range(len(units)), key=lambda unit: tuple(sequences[units[unit][0]]))
    batches: list[list[int]] = []
    tree: dict[tuple[int, int], int] = {}

    def grow(unit: int) -> int:
        for index in units[unit]:
            add_path(sequences[index], tree)
        return len(tree)

    for unit in order:
        if batches and len(batches[-1]) < max_units and grow(unit) <= nodes:
            batches[-1].append(unit)
        else:
            tree.clear()
            grow(unit)
            batches.append([unit])
    return batches


def _groups(model: Network, prompts: Sequence[Sequence[Tokens]]) -> list[_Group]:
    """Return the contexts in groups; in a group, the same tokens follow the shared prefix of each context."""
    contexts_by_rest: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for index, row in enumerate(prompts):
        length = common_prefix_length(row)
        contexts_by_rest.setdefault(tuple(tuple(prompt[length:]) for prompt in row), []).append(index)
    return [_Group(model, prompts, contexts) for contexts in contexts_by_rest.values()]


def cache_per_token(config: Any) -> int:
    """Return the number of values in a token's KV cache over all layers; layers may differ in their heads."""
    return sum(
        2
        * (getattr(layer, "num_key_value_heads", None) or layer.num_attention_heads)
        * (getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads)
        for layer in config.per_layer_config
    )


def inner_size(config: Any) -> int:
    """Return the number of inner states that a token has in the widest feed-forward layer."""
    inner = (getattr(layer, "intermediate_size", None) for layer in config.per_layer_config)
    return max(size if isinstance(size, int) else 4 * config.hidden_size for size in inner)
