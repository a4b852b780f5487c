"""A tree of tokens read after each of several contexts in one forward pass.

A mask lets a token attend to its context and its own ancestors. The token's position is the context's length plus the
token's depth, so that every path is read like a separate prompt. The mask is additive and four-dimensional, which is
exact in eager and sdpa attention alike. Long inputs are read in chunks, so that the memory of masks grows linearly with
the number of tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

LayerCache = list[tuple[torch.Tensor, torch.Tensor]]
"""KV cache of each layer, (rows, heads, tokens, size of a head)."""

CHUNK = {"cpu": 512, "cuda": 4096}
"""Limit of the tokens of a context, or of a tree, in one forward pass."""


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """Sequences of tokens, merged at their shared prefixes.

    Attributes:
        tokens: (n,), the token of each node; a parent precedes its children.
        depths: (n,), the depth of each node; 0 for a first token.
        ancestors: (n, n), True if the column's node is the row's node or above it.
        paths: the nodes of each sequence, in order.
    """

    tokens: torch.Tensor
    depths: torch.Tensor
    ancestors: torch.Tensor
    paths: list[list[int]]

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def of(cls, sequences: Sequence[Tokens], *, device: str = "cpu") -> "PrefixTree":
        """Return the tree of sequences, none of them empty, with its tensors on a device."""
        nodes: dict[tuple[int, int], int] = {}
        paths = [add_path(sequence, nodes) for sequence in sequences]
        ancestors = torch.eye(len(nodes), dtype=torch.bool)
        for (parent, _), node in nodes.items():
            if parent >= 0:
                ancestors[node] |= ancestors[parent]
        tokens = torch.tensor([token for _, token in nodes])
        return cls(tokens.to(device), (ancestors.sum(dim=1) - 1).to(device), ancestors.to(device), paths)


def add_path(sequence: Tokens, nodes: dict[tuple[int, int], int]) -> list[int]:
    """Return the nodes of a sequence; add missing nodes to `nodes`, by parent (-1 for a first token) and token."""
    path: list[int] = []
    for token in sequence:
        path.append(nodes.setdefault((path[-1] if path else -1, token), len(nodes)))
    return path


def reason_against_trees(model: Network) -> str | None:
    """Return the reason why this model cannot read trees; None if its configuration and forward pass allow it."""
    parameters = model.forward_parameters
    missing = [name for name in ("position_ids", "past_key_values", "logits_to_keep") if name not in parameters]
    if missing:
        return f"its forward pass does not take {', '.join(missing)}"
    # GPT-Neo's local layers also hide keys by their index in the KV cache.
    types = {*_layer_types(model), *getattr(model.model.config, "attention_layers", ())}
    if unsupported := types - {"full_attention", "sliding_attention", "global"}:
        return f"it has layers of {', '.join(sorted(unsupported))}"
    return None


@dataclass(frozen=True, eq=False)
class ContextBatch:
    """Contexts, padded on the right.

    Attributes:
        indices: (B,), index of each context.
        lengths: (B,), number of tokens of each context.
        cache: the KV cache of the contexts.
    """

    indices: list[int]
    lengths: torch.Tensor
    cache: LayerCache

    @property
    def bytes(self) -> int:
        """Size of the KV cache in bytes."""
        return sum(part.numel() * part.element_size() for layer in self.cache for part in layer)


class _TreeCache:
    """KV cache of a forward pass over a tree.

    Attention sees the context and the tokens of earlier forward passes (`before`), and the new tokens, in this order.
    If `keep` is True, `new` gets the new keys and values, for later forward passes.
    """

    def __init__(self, before: Sequence[LayerCache], *, keep: bool) -> None:
        self._before, self._keep = list(before), keep
        self.new: LayerCache = []

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self._keep:
            self.new.append((keys, values))
        earlier = [layers[layer_idx] for layers in self._before if layers]
        if not earlier:
            return keys, values
        earlier_keys, earlier_values = zip(*earlier, strict=True)
        return torch.cat([*earlier_keys, keys], dim=2), torch.cat([*earlier_values, values], dim=2)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return sum(int(layers[layer_idx][0].shape[2]) for layers in self._before if layers)


class _ContextCache:
    """KV cache of contexts during prefill. A forward pass reads tokens from `start` to `stop`, in these `rows`."""

    def __init__(self, contexts: int, tokens: int) -> None:
        self._shape = contexts, tokens
        self.rows, self.start, self.stop = slice(0), 0, 0
        self.layers: LayerCache = []

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows, tokens = self._shape
        if layer_idx == len(self.layers):
            allocated = [new.new_zeros((rows, new.shape[1], tokens, new.shape[3])) for new in (keys, values)]
            self.layers.append((allocated[0], allocated[1]))
        layer = self.layers[layer_idx]
        for whole, new in zip(layer, (keys, values), strict=True):
            whole[self.rows, :, self.start : self.stop] = new
        return layer[0][self.rows, :, : self.stop], layer[1][self.rows, :, : self.stop]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.start


@torch.inference_mode()
def read_contexts(model: Network, contexts: Sequence[Tokens], indices: Sequence[int]) -> ContextBatch:
    """Read contexts, padded on the right to the longest context, and return their KV cache.

    Args:
        model: the network.
        contexts: tokens of each context, the shortest first.
        indices: the index of each context.
    """
    lengths = np.array([len(tokens) for tokens in contexts])
    longest = int(lengths[-1])
    ids = np.zeros((len(contexts), longest), dtype=np.int64)
    for row, context in enumerate(contexts):
        ids[row, : len(context)] = context
    cache = _ContextCache(*ids.shape)
    for start, stop in _chunks(longest, model.device):
        first_row = int(np.searchsorted(lengths, start, side="right"))
        cache.rows, cache.start, cache.stop = slice(first_row, None), start, stop
        tokens = torch.from_numpy(ids[first_row:, start:stop]).to(model.device)
        positions = torch.arange(start, stop, device=model.device)
        distance = positions.unsqueeze(1) - torch.arange(stop, device=model.device)
        positions_and_distance = positions.expand(len(tokens), -1), distance.expand(len(tokens), -1, -1)
        _forward(model, tokens, *positions_and_distance, cache, [0])  # the logits of column 0 are not used
    return ContextBatch(list(indices), torch.from_numpy(lengths).to(model.device), cache.layers)


def _chunks(tokens: int, device: str) -> Iterator[tuple[int, int]]:
    size = CHUNK[torch.device(device).type]
    return ((start, min(start + size, tokens)) for start in range(0, tokens, size))


class Reading:
    """A tree of tokens read after every context of a batch.

    Args:
        model: the network.
        contexts: the contexts with their KV cache.
        tree: the tokens.
        keep: True to store the tree's KV cache, so that `following` can read more tokens.
    """

    def __init__(self, model: Network, contexts: ContextBatch, tree: PrefixTree, *, keep: bool = False) -> None:
        self._model, self._contexts, self._tree, self._keep = model, contexts, tree, keep
        self._before = [contexts.cache]
        self._steps = 0  # tokens read after each path so far

    @torch.inference_mode()
    def logits(self, nodes: Sequence[int]) -> torch.Tensor:
        """Return the logits after these nodes: (B, len(nodes), V), in the model's dtype, on its device."""
        tree, shape = self._tree, (len(self._contexts.indices), -1)
        logits = torch.empty(0)
        for start, stop in _chunks(len(tree), self._model.device):
            depths = tree.depths[start:stop]
            tree_distance = torch.where(tree.ancestors[start:stop, :stop], depths.unsqueeze(1) - tree.depths[:stop], -1)
            indices = [index for index, node in enumerate(nodes) if start <= node < stop]
            columns = [nodes[index] - start for index in indices]
            keep = self._keep or stop < len(tree)  # later chunks attend to this chunk
            # Without a node in this chunk, the logits after its first token are computed and not used.
            part = self._read(
                tree.tokens[start:stop].expand(shape), depths.expand(shape), tree_distance, columns or [0], keep
            )
            if len(indices) == len(nodes):
                logits = part
            elif indices:
                logits = logits if len(logits) else part.new_empty((len(part), len(nodes), part.shape[2]))
                logits[:, indices] = part
        return logits

    @torch.inference_mode()
    def following(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read one more token at the end of every path, (B, paths), and return the logits after it, (B, paths, V)."""
        tree, paths = self._tree, len(self._tree.paths)
        self._steps += 1
        step = self._steps
        ends = torch.tensor([path[-1] for path in tree.paths], device=tree.tokens.device)
        depths = tree.depths[ends] + step
        to_tree = torch.where(tree.ancestors[ends], depths.unsqueeze(1) - tree.depths.unsqueeze(0), -1)
        same_path = torch.eye(paths, dtype=torch.bool, device=tree.tokens.device)
        # Distances to the tokens that earlier steps added to the same path, and to the token itself (0).
        to_followers = [torch.where(same_path, back, -1) for back in range(step - 1, -1, -1)]
        tree_distance = torch.cat([to_tree, *to_followers], dim=1)
        depths_by_context = depths.expand(len(self._contexts.indices), -1)
        return self._read(tokens, depths_by_context, tree_distance, range(paths), self._keep)

    def _read(
        self,
        tokens: torch.Tensor,
        depths: torch.Tensor,
        tree_distance: torch.Tensor,
        columns: Sequence[int],
        keep: bool,
    ) -> torch.Tensor:
        """Return logits like `_forward`, after every context.

        `depths`, (B, n), is the number of tokens between the context and each token. `tree_distance`, (n, seen), is the
        number of tokens back to each token of the tree; -1 for tokens of other paths.
        """
        lengths, cached = self._contexts.lengths.unsqueeze(1), self._contexts.cache
        longest = int(cached[0][0].shape[2]) if cached else 0  # tokens of the longest context
        positions = lengths + depths
        indices = torch.arange(longest, device=lengths.device).expand(len(lengths), -1)
        back = positions.unsqueeze(2) - indices.unsqueeze(1)
        to_context = torch.where((indices < lengths).unsqueeze(1), back, -1)
        distance = torch.cat([to_context, tree_distance.expand(len(lengths), -1, -1)], dim=2)
        cache = _TreeCache(self._before, keep=keep)
        logits = _forward(self._model, tokens, positions, distance, cache, columns)
        if keep:
            self._before.append(cache.new)
        return logits


def _forward(
    model: Network,
    tokens: torch.Tensor,
    positions: torch.Tensor,
    distance: torch.Tensor,
    cache: _TreeCache | _ContextCache,
    columns: Sequence[int],
) -> torch.Tensor:
    """Return the logits after these columns of `tokens`, (B, columns, V); `tokens` and `positions` are (B, n).

    `distance`, (B, n, seen), is the number of tokens back to each seen token; negative if masked.
    """
    out = model.model(
        input_ids=tokens,
        attention_mask=_masks(model, distance),
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=list(columns),  # a tensor could be on another GPU than the states
    )
    logits: torch.Tensor = out.logits
    return logits


def _masks(model: Network, distance: torch.Tensor) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the additive mask (B, 1, n, seen); if only some layers have a window, a mask for each type of layer."""

    def additive(seen: torch.Tensor) -> torch.Tensor:
        mask = torch.zeros(seen.shape, dtype=model.model.dtype, device=seen.device)
        return mask.masked_fill_(~seen, torch.finfo(mask.dtype).min).unsqueeze(1)

    full = additive(distance >= 0)
    if not has_sliding_window(model):
        return full
    window = model.model.config.get_text_config().sliding_window
    sliding = additive((distance >= 0) & (distance < window))
    if set(_layer_types(model)) == {"full_attention", "sliding_attention"}:
        return {"full_attention": full, "sliding_attention": sliding}
    return sliding


def has_sliding_window(model: Network) -> bool:
    """Return True if some layers attend within a window only."""
    types = _layer_types(model)
    window = getattr(model.model.config.get_text_config(), "sliding_window", None)
    return window is not None and (not types or "sliding_attention" in types)


def in_reach(model: Network, prompts: Sequence[Tokens]) -> bool:
    """Return True if the attention of the last token reaches a difference between the prompts."""
    first, *others = {tuple(prompt) for prompt in prompts}
    if not others:
        return False
    if not has_sliding_window(model) or "full_attention" in _layer_types(model):
        return True
    config = model.model.config.get_text_config()
    # Through layers with sliding windows, a token's reach grows by one window with every layer.
    common_suffix = min(common_prefix_length([first[::-1], other[::-1]], remaining=0) for other in others)
    return bool(common_suffix <= config.num_hidden_layers * (config.sliding_window - 1))


def _layer_types(model: Network) -> tuple[str, ...]:
    return tuple(getattr(model.model.config.get_text_config(), "layer_types", None) or ())
