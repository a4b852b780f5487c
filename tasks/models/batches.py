"""Texts in batches with little padding, and what was computed for them remembered."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

# On a CPU, twice as many or half as many were no faster with a network in deberta-large's shape, float32. On a GPU the
# bound is for memory: with 512 tokens a text, one matrix of that network's attention takes 1 GiB.
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 16384}
PADDING = 0.25

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def batches(lengths: Sequence[int], device: str) -> list[list[int]]:
    """The places of texts in batches, from the shortest text to the longest.

    A batch has at most as many tokens as suit the device, padding included, and at most a quarter of them is padding; a
    text that is longer is a batch of its own.

    Args:
        lengths: of the texts, in tokens.
        device: "cpu" or "cuda:N".
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


class Recent(Generic[Key, Value]):
    """The values of those keys that were last put or asked for, at most `bound` of them; threads may share it."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The key's value, or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Key, value: Value) -> None:
        """Remembers the value; where there are too many, the key that was not asked for the longest is forgotten."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._bound:
                self._values.popitem(last=False)
