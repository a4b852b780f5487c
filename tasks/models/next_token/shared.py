"""Contexts x sequences with every shared prefix computed once, within a budget of memory.

What all prompts of a context begin with is read once; the rest is a tree, the same for all contexts as long as no token
spans the seam. Half of the budget is for what the caller stores of a batch over all contexts, an eighth for the
contexts' KV cache, a quarter for a pass, which is halved and repeated where memory runs out.
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
from swaymeter.tasks.models.next_token.reading import ContextBatch, PrefixTree, Reading, path_of, read_contexts
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

NODES_PER_BATCH = {"cpu": 128, "cuda": 256}
ALONE = 8
"""Times as many nodes where there is one context: a pass has then one row, and long sequences share more of it."""


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass of the model: its contexts and units, and for each unit its sequences' nodes in the tree of `reading`."""

    contexts: list[int]
    units: list[int]
    paths: list[list[list[int]]]
    reading: Reading


class SharedPrefixes:
    """Prompts of several contexts, read with shared prefixes computed once; largest: the units of the largest batch.

    prompts: [context][sequence] complete prompts as tokens; units: places of the sequences that stay together, by
    default each alone; entries: numbers that the caller stores of a unit and a context, None for a vocabulary; inner:
    whether logits are read at inner nodes, too; keep: whether more tokens will follow; memory: bytes, None for
    `memory_budget`.
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
        self._units = units if units is not None else [[place] for place in range(len(prompts[0]))]
        self._groups = _groups(model, prompts)
        self._cache_bytes = budget // 8 // len(self._groups)
        most = max(1, budget // 2 // (len(prompts) * (entries or vocabulary) * size))
        nodes = NODES_PER_BATCH[kind] * (ALONE if len(prompts) == 1 else 1)
        self._waiting = deque(unit_batches(self._groups[0].sequences, self._units, nodes, most))
        self.largest = max(map(len, self._waiting))
        trees = [self._tree(units_of, group) for units_of in self._waiting for group in self._groups]
        longest = max(group.longest for group in self._groups)
        tokens = max(longest, *map(len, trees))
        read = max(len(tree) if inner else len(tree.paths) for tree in trees)
        # Memory of a row of a pass: logits; some states of every token, and inner states of a layer; and the KV cache
        # of the context and, where more tokens follow, of the tree.
        inside = 12 * config.hidden_size + 4 * inner_size(config)
        seen = longest + (max(len(tree) + (entries or 0) * len(tree.paths) for tree in trees) if keep else 0)
        row = (read * vocabulary + tokens * inside + seen * cache_per_token(config)) * size
        rows = max(1, min(TOKENS_PER_PASS[kind] // tokens, budget // 4 // row))
        self._halving = Halving(model, "prompts are read", rows, self.largest)

    def read(self, compute: Callable[[Pass], None]) -> Iterator[list[int]]:
        """Reads all prompts; `compute` reads each pass, smaller where memory ran out. Yields the complete units."""
        while self._waiting:
            units, rows = self._waiting.popleft(), self._halving.amounts[0]
            with self._halving.attempt(rows, len(units), smallest=lambda: "a single context and query"):
                self._compute(units, compute)
            if not self._halving.ran_out:
                yield units
                continue
            for group in self._groups:
                group.kept.clear()
            most = self._halving.amounts[1]
            self._waiting.extendleft([units[most:], units[:most]] if most < len(units) else [units])

    def _compute(self, units: list[int], compute: Callable[[Pass], None]) -> None:
        for group in self._groups:
            tree = self._tree(units, group)
            nodes = iter(tree.paths)
            paths = [[next(nodes) for _ in self._units[unit]] for unit in units]
            for batch in group.batches(self._halving.amounts[0], self._cache_bytes):
                compute(Pass(batch.rows, units, paths, Reading(self._model, batch, tree, keep=self._keep)))

    def _tree(self, units: Sequence[int], group: "_Group") -> PrefixTree:
        sequences = [group.sequences[place] for unit in units for place in self._units[unit]]
        return PrefixTree.of(sequences, device=self._model.device)


class _Group:
    """Contexts whose prefixes are followed by the same tokens."""

    def __init__(self, model: Network, prompts: Sequence[Sequence[Tokens]], contexts: list[int]) -> None:
        lengths = {place: common_prefix_length(prompts[place]) for place in contexts}
        self._model = model
        self._contexts = sorted(contexts, key=lambda place: lengths[place])
        self._prefixes = [prompts[place][0][: lengths[place]] for place in self._contexts]
        self.kept: dict[int, ContextBatch] = {}
        self.sequences = [prompt[lengths[contexts[0]] :] for prompt in prompts[contexts[0]]]
        self.longest = max(lengths.values())

    def batches(self, rows: int, cache_bytes: int) -> Iterator[ContextBatch]:
        """The contexts, `rows` at a time, with their KV cache; about `cache_bytes` bytes of it are kept."""
        for start in range(0, len(self._contexts), rows):
            batch = self.kept.get(start)
            if batch is None:
                stop = start + rows
                batch = read_contexts(self._model, self._prefixes[start:stop], self._contexts[start:stop])
                if sum(cached.bytes for cached in self.kept.values()) + batch.bytes <= cache_bytes:
                    self.kept[start] = batch
            yield batch


def unit_batches(sequences: Sequence[Tokens], units: Sequence[Sequence[int]], nodes: int, most: int) -> list[list[int]]:
    """The places of units, sequences that stay together, in batches of at most `most` units and about `nodes` nodes."""
    order = sorted(range(len(units)), key=lambda unit: tuple(sequences[units[unit][0]]))
    batches: list[list[int]] = []
    tree: dict[tuple[int, int], int] = {}

    def grow(unit: int) -> int:
        for place in units[unit]:
            path_of(sequences[place], tree)
        return len(tree)

    for unit in order:
        if batches and len(batches[-1]) < most and grow(unit) <= nodes:
            batches[-1].append(unit)
        else:
            tree.clear()
            grow(unit)
            batches.append([unit])
    return batches


def _groups(model: Network, prompts: Sequence[Sequence[Tokens]]) -> list[_Group]:
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for place, of_context in enumerate(prompts):
        length = common_prefix_length(of_context)
        alike.setdefault(tuple(tuple(prompt[length:]) for prompt in of_context), []).append(place)
    return [_Group(model, prompts, contexts) for contexts in alike.values()]


def cache_per_token(config: Any) -> int:
    """The numbers of a token's keys and values, over all layers, which may have heads of their own."""
    return sum(
        2
        * (getattr(layer, "num_key_value_heads", None) or layer.num_attention_heads)
        * (getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads)
        for layer in config.per_layer_config
    )


def inner_size(config: Any) -> int:
    """The states of a token inside a layer, in the widest of them."""
    inner = (getattr(layer, "intermediate_size", None) for layer in config.per_layer_config)
    return max(size if isinstance(size, int) else 4 * config.hidden_size for size in inner)
