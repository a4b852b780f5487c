"""Networks that read texts in batches with little padding."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# On a CPU, twice as many or half as many were no faster with a network in deberta-large's shape, float32. On a GPU the
# bound is for memory: with 512 tokens a text, one matrix of that network's attention takes 1 GiB.
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 16384}
PADDING = 0.25

Tokens = Mapping[str, list[list[int]]]
"""What a tokenizer makes of texts: their input_ids, token types and masks, a list for each text."""


@dataclass(eq=False)
class Encoder:
    """A network that reads whole texts, and its tokenizer. device: where the network is, "cpu" or "cuda:N"."""

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    device: str
    # Truncation and padding are settings of the tokenizer itself: two threads must not change them at once.
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def _tokenized(self, *texts: list[str], **options: Any) -> Tokens:
        with self._lock:
            tokens: Tokens = self.tokenizer(*texts, **options) if texts[0] else {"input_ids": []}
        return tokens

    def _read_in_batches(self, tokens: Tokens) -> Iterator[tuple[list[int], Mapping[str, Any], Any]]:
        """The places of the texts of a batch, what the network read, and what it gave; batch by batch."""
        for places in batches([len(ids) for ids in tokens["input_ids"]], self.device):
            yield places, *self._read(tokens, places)

    def _read(self, tokens: Tokens, places: Sequence[int]) -> tuple[Mapping[str, Any], Any]:
        import torch

        rows = {name: [values[place] for place in places] for name, values in tokens.items()}
        batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return batch, self.model(**batch)


def batches(lengths: Sequence[int], device: str) -> list[list[int]]:
    """The places of texts of these lengths, in tokens, in batches, from the shortest text to the longest.

    A batch has at most as many tokens as suit the device, padding included, and at most a quarter of them is padding; a
    text that is longer is a batch of its own.
    """
    most = TOKENS_PER_BATCH[device.partition(":")[0]]
    result: list[list[int]] = []
    unpadded = 0
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        length = lengths[place]
        padded = (len(result[-1]) + 1) * length if result else 0
        if not result or padded > most or padded - unpadded - length > PADDING * padded:
            result.append([])
            unpadded = 0
        result[-1].append(place)
        unpadded += length
    return result
