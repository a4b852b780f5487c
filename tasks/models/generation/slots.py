"""Many prompts and the trees of tokens after them, read in one forward pass; each token is read once.

A prompt has a cache slot: the KV cache of its tokens, followed by the KV cache of its replies' tokens. The new tokens
of all slots go through the model as one sequence without padding. Only attention keeps the slots apart. Transformers
calls `_attend` in place of the model's own attention. A call of attention has several slots, each in a row, and short
rows are padded. For a model whose attention cannot be replaced, `reason_against_trees` of next_token/reading.py has a
reason, or the comparison with prompts read alone fails.
"""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AttentionInterface

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.generation.tree import Node
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.reading import has_sliding_window

KeysAndValues = tuple[torch.Tensor, torch.Tensor]
"""KV cache of a layer: keys and values, (slots, heads, tokens of a slot, size of a head) each."""

_NAME = "swaymeter_slots"  # the name of `_attend` in transformers
_STEP = 8  # attention kernels of GPUs require that the number of keys is a multiple of 8
_AT_ONCE = {"cpu": 8, "cuda": 1 << 16}  # slots in a call of attention: few need little padding, many keep a GPU busy
_MAX_MASK = 1 << 26  # limit of the entries of a mask, unless a single slot has more
_PADDING = {"cpu": 64, "cuda": 4096}  # tokens of padding that cost less than another call of attention
_BLOCK = {"cpu": 128, "cuda": 1024}  # limit of the new tokens of each slot that attend together, see `_Block`


class Slots:
    """Cache slots for prompts of at most `slot_tokens` tokens, replies included; `read` fills the slots."""

    def __init__(self, model: Network, slot_count: int, slot_tokens: int) -> None:
        self._shape = slot_count, -(-slot_tokens // _STEP) * _STEP
        self._layers: dict[int, KeysAndValues] = {}
        # The position of a token, (slot, index), in its prompt with the reply.
        self.positions = np.zeros(self._shape, dtype=np.int64)
        kind = torch.device(model.device).type
        self.at_once, self.padding, self.block = _AT_ONCE[kind], _PADDING[kind], _BLOCK[kind]

    def prefill_chunk(self, slot: int, prompt: Tokens, start: int, stop: int) -> "SlotTokens":
        """Return the tokens of a prompt from `start`, the end of the cached prefix, to `stop` for the next read."""
        indices = np.arange(start, stop)
        seen = np.arange(stop) <= indices[:, None]
        return SlotTokens(
            self, slot, list(prompt[start:stop]), indices, indices, seen, logits_to_keep=int(stop == len(prompt))
        )

    def decode_chunks(self, nodes: Sequence[Node], *, is_contextless: bool = False) -> "list[SlotTokens]":
        """Return the last token of every node, grouped by slot, for the next read.

        `is_contextless` is True if these slots have the prompts without their contexts, for a contrastive decoding. A
        reply then has lower indices than after the prompt with its context.
        """
        chunks = []
        for slot, group in itertools.groupby(nodes, key=lambda node: node.tree.slot):
            siblings = list(group)
            tree = siblings[0].tree
            # Index of the replies' first token in the slot.
            start = len(tree.contextless or ()) if is_contextless else len(tree.prompt)
            key_indices = [node.key_indices + (start - len(tree.prompt)) for node in siblings]
            positions = np.array([start + len(node.tokens) - 1 for node in siblings])
            seen = np.zeros((len(siblings), 1 + max(int(indices.max()) for indices in key_indices)), dtype=bool)
            seen[:, :start] = True
            for row, indices in enumerate(key_indices):
                seen[row, indices] = True
            last_indices = np.array([indices[-1] for indices in key_indices])
            tokens = [node.tokens[-1] for node in siblings]
            chunks.append(SlotTokens(self, slot, tokens, last_indices, positions, seen, logits_to_keep=len(tokens)))
        return chunks

    def layer(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> KeysAndValues:
        """Return the keys and values of a layer; the first use allocates them."""
        if layer not in self._layers:
            slot_count, slot_tokens = self._shape
            cached = [new.new_zeros((slot_count, new.shape[1], slot_tokens, new.shape[3])) for new in (keys, values)]
            self._layers[layer] = (cached[0], cached[1])
        return self._layers[layer]

    @torch.inference_mode()
    def copy(self, source: int, targets: Sequence[int], token_count: int) -> None:
        """Copy the keys and values of the first `token_count` tokens of a slot into other slots."""
        for layer in self._layers.values():
            for cached in layer:
                cached[list(targets), :, :token_count] = cached[source, :, :token_count]
        self.positions[list(targets), :token_count] = self.positions[source, :token_count]


@dataclass(frozen=True, eq=False)
class SlotTokens:
    """New tokens of a slot, which the next forward pass reads.

    Attributes:
        slots: the cache slots of all prompts.
        slot: the index of the slot of these tokens.
        tokens: (n,), the tokens.
        indices: (n,), the tokens' indices in the slot; tokens of two replies have different indices.
        positions: (n,), the tokens' positions in the prompt with the reply, which two replies may share.
        seen: (n, indices), True for the indices that each token attends to.
        logits_to_keep: number of last tokens after which logits are returned.
    """

    slots: Slots
    slot: int
    tokens: list[int]
    indices: NDArray[np.int64]
    positions: NDArray[np.int64]
    seen: NDArray[np.bool_]
    logits_to_keep: int


@torch.inference_mode()
def read(model: Network, chunks: Sequence[SlotTokens]) -> torch.Tensor:
    """Read chunks in one forward pass; return the logits after the last `logits_to_keep` tokens of each, (n, V)."""
    for chunk in chunks:
        chunk.slots.positions[chunk.slot, chunk.indices] = chunk.positions
    tokens, positions = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("tokens", "positions"))
    stops = np.cumsum([len(chunk.tokens) for chunk in chunks]).tolist()
    forward_pass = _ForwardPass(_calls(chunks))
    with _slot_attention(model, forward_pass):
        out = model.model(
            input_ids=torch.from_numpy(tokens).unsqueeze(0).to(model.device),
            position_ids=torch.from_numpy(positions).unsqueeze(0).to(model.device),
            past_key_values=forward_pass,
            use_cache=True,
            # A list: with a model on several GPUs, a tensor could be on another GPU than the hidden states.
            logits_to_keep=[
                end
                for chunk, stop in zip(chunks, stops, strict=True)
                for end in range(stop - chunk.logits_to_keep, stop)
            ],
        )
    if not forward_pass.windows:  # `attend` was never called
        raise NotImplementedError("the model does not call the attention function that reads cache slots")
    if has_sliding_window(model) and forward_pass.windows == {None}:
        raise NotImplementedError("the model does not pass the size of its sliding window to the attention")
    logits: torch.Tensor = out.logits[0]
    return logits


class _Indices(NamedTuple):
    """Indices of the slots and of the new tokens of a call of attention.

    Attributes:
        slot_of_row: (rows,), the slot of each row.
        row: (n,), the row of each new token.
        column: (n,), the index of each token among the new tokens of the same slot.
        slot: (n,), the slot of each token.
        key: (n,), the index of each token's key in the slot.
    """

    slot_of_row: torch.Tensor
    row: torch.Tensor
    column: torch.Tensor
    slot: torch.Tensor
    key: torch.Tensor


class _Block(NamedTuple):
    """Columns of a call that attend together, and the range of indices of the keys that these columns see."""

    columns: slice
    indices: slice


class _Call:
    """A call of attention for a few slots: a row is a slot, and the columns of a row are the slot's new tokens.

    Attributes:
        token_range: the range of the call's tokens among the tokens of the forward pass.
        consecutive_slots: the slots of the call as a slice, so that no key is copied; None if they are not consecutive.
        seen: (rows, columns, indices), True if a token attends to the key at an index of its slot.
    """

    def __init__(self, chunks: Sequence[SlotTokens], start: int) -> None:
        self.slots = chunks[0].slots
        positions = self.slots.positions
        counts = [len(chunk.tokens) for chunk in chunks]
        slot_of_row = [chunk.slot for chunk in chunks]
        rows, columns = len(chunks), max(counts)
        self.token_range = slice(start, start + sum(counts))
        consecutive = slice(slot_of_row[0], slot_of_row[0] + rows)
        self.consecutive_slots = consecutive if slot_of_row == [*range(consecutive.start, consecutive.stop)] else None
        indices = (
            np.array(slot_of_row),
            np.repeat(np.arange(rows), counts),
            np.concatenate([np.arange(count) for count in counts]),
            np.repeat(slot_of_row, counts),
            np.concatenate([chunk.indices for chunk in chunks]),
        )
        self._indices = {torch.device("cpu"): _Indices(*map(torch.from_numpy, indices))}
        self._masks: dict[tuple[Any, ...], torch.Tensor] = {}
        size = min(positions.shape[1], -(-max(chunk.seen.shape[1] for chunk in chunks) // _STEP) * _STEP)
        self.seen = np.zeros((rows, columns, size), dtype=bool)
        for row, chunk in enumerate(chunks):
            self.seen[row, : len(chunk.tokens), : chunk.seen.shape[1]] = chunk.seen
        self.blocks = [self._block(start) for start in range(0, columns, self.slots.block)]
        self._positions = [(chunk.positions, positions[chunk.slot, :size].copy()) for chunk in chunks]

    def _block(self, start: int) -> _Block:
        columns = slice(start, min(start + self.slots.block, self.seen.shape[1]))
        last = int(np.flatnonzero(np.any(self.seen[:, columns], axis=(0, 1))).max())
        return _Block(columns, slice(0, min(self.seen.shape[2], -(-(last + 1) // _STEP) * _STEP)))

    def indices_on(self, device: torch.device) -> _Indices:
        if device not in self._indices:
            self._indices[device] = _Indices(*(tensor.to(device) for tensor in self._indices[torch.device("cpu")]))
        return self._indices[device]

    def mask(self, block: _Block, window: int | None, shared: int, like: torch.Tensor) -> torch.Tensor:
        """Return a block's additive mask, (rows, 1, shared x columns, indices); a key head has `shared` query heads."""
        arguments = (block.columns.start, window, shared, like.dtype, like.device)
        if arguments not in self._masks:
            seen = self.seen[:, block.columns, block.indices]
            if window is not None:
                seen = seen.copy()
                for row, (new_positions, key_positions) in enumerate(self._positions):
                    near = new_positions[block.columns, None] - key_positions[block.indices] < window
                    seen[row, : len(near)] &= near
            hidden = torch.from_numpy(~seen).to(like.device).unsqueeze(1).repeat(1, 1, shared, 1)
            mask = torch.zeros(hidden.shape, dtype=like.dtype, device=like.device)
            self._masks[arguments] = mask.masked_fill_(hidden, torch.finfo(like.dtype).min)
        return self._masks[arguments]


def _calls(chunks: Sequence[SlotTokens]) -> list[_Call]:
    """Return the calls of attention; each call takes as many of the next chunks as fit."""
    calls, start = list[_Call](), 0
    batch: list[SlotTokens] = []
    for chunk in [*chunks, None]:
        if batch and (chunk is None or not _fits(chunk, batch)):
            calls.append(_Call(batch, start))
            batch, start = [], calls[-1].token_range.stop
        if chunk is not None:
            batch.append(chunk)
    return calls


def _fits(chunk: SlotTokens, batch: Sequence[SlotTokens]) -> bool:
    """Return True if a call of `batch` and `chunk` together is neither too large nor mostly padding."""
    slots, members = batch[0].slots, [*batch, chunk]
    columns = max(len(member.tokens) for member in members)
    token_count = sum(len(member.tokens) for member in members)
    return (
        chunk.slots is slots
        and len(members) <= slots.at_once
        and len(members) * columns * max(len(member.seen[0]) for member in members) <= _MAX_MASK
        and len(members) * columns - token_count <= max(token_count, slots.padding)
    )


@contextmanager
def _slot_attention(model: Network, forward_pass: "_ForwardPass") -> Iterator[None]:
    with _replacing:
        previous = model.model.config._attn_implementation
        token = _pass_of_thread.set(forward_pass)
        try:
            model.model.set_attn_implementation(_NAME)
            yield
        finally:
            _pass_of_thread.reset(token)
            model.model.set_attn_implementation(previous)


class _ForwardPass:
    """KV cache and attention of a forward pass; transformers receives this object in place of a KV cache of its own."""

    def __init__(self, calls: Sequence[_Call]) -> None:
        self._calls = calls
        self._keys_and_values: dict[Slots, KeysAndValues] = {}
        self.windows: set[int | None] = set()

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new keys and values, (1, heads, n, size), into the slots, from which `attend` reads them."""
        self._keys_and_values = {
            slots: slots.layer(layer_idx, keys, values) for slots in dict.fromkeys(call.slots for call in self._calls)
        }
        for call in self._calls:
            for cached, new in zip(self._keys_and_values[call.slots], (keys, values), strict=True):
                target = call.indices_on(new.device)
                cached[target.slot, :, target.key] = new[0, :, call.token_range].transpose(0, 1)
        return keys, values

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # unused by models that receive positions

    def attend(self, query: torch.Tensor, scaling: float | None, window: int | None) -> torch.Tensor:
        """Return the attention (1, n, heads, size) of the n new tokens, `query` (1, heads, n, size), to their slots."""
        self.windows.add(window)
        _, heads, _, size = query.shape
        outputs = []
        for call in self._calls:
            keys, values = self._keys_and_values[call.slots]
            shared = heads // keys.shape[1]
            rows, columns, key_count = call.seen.shape
            padded = query.new_zeros((rows, columns, heads, size))
            location = call.indices_on(query.device)
            slots = call.consecutive_slots or location.slot_of_row
            padded[location.row, location.column] = query[0, :, call.token_range].transpose(0, 1)
            call_keys, call_values = keys[slots, :, :key_count], values[slots, :, :key_count]
            by_key_head = padded.view(rows, columns, -1, shared, size)
            attended = []
            for block in call.blocks:
                # Heads that share keys are laid side by side like further tokens, so that no key is repeated.
                queries = by_key_head[:, block.columns].permute(0, 2, 3, 1, 4).flatten(2, 3)
                mask, indices = call.mask(block, window, shared, query), block.indices
                out = torch.nn.functional.scaled_dot_product_attention(
                    queries, call_keys[:, :, indices], call_values[:, :, indices], attn_mask=mask, scale=scaling
                )
                out = out.reshape(rows, -1, shared, out.shape[2] // shared, out.shape[3])
                attended.append(out.permute(0, 3, 1, 2, 4).flatten(2, 3))
            by_token = attended[0] if len(attended) == 1 else torch.cat(attended, dim=1)
            outputs.append(by_token[location.row, location.column])
        return torch.cat(outputs).unsqueeze(0)


_pass_of_thread: ContextVar[_ForwardPass] = ContextVar("_pass_of_thread")
_replacing = threading.Lock()  # only one thread at a time replaces a model's attention


# Options of attention that `attend` does not compute, with their names for messages.
_UNSUPPORTED = {"softcap": "softcapping", "s_aux": "attention sinks", "position_bias": "a position bias"}


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Attend in the slots of this thread's forward pass; transformers calls this in place of the model's attention."""
    for option, name in _UNSUPPORTED.items():
        if options.get(option) is not None:
            raise NotImplementedError(f"attention with {name} is not supported")
    return _pass_of_thread.get().attend(query, scaling, sliding_window), None


AttentionInterface.register(_NAME, _attend)
