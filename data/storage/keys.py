"""Content keys and the randomness that hangs on them: both come from what a thing is, never from order or time."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from swaymeter.data.errors import MissingFile
from swaymeter.data.storage.files import is_endless, sha256_of


def content_key(made_from: Mapping[str, object]) -> str:
    """The SHA-256 (hex) of everything a file was made from; equal mappings give equal keys, whatever their order."""
    canonical = json.dumps(made_from, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def file_digest(file: Path, key: str) -> str:
    """The SHA-256 (hex) of a file that a study names under that key; MissingFile where it cannot be read."""
    try:
        if is_endless(file):
            raise MissingFile(f"{key}: {file} is a device or a pipe; name a file")
        return sha256_of(file)
    except OSError as error:
        raise MissingFile(f"{key}: {file} cannot be read: {error.strerror}; correct the path or get the file") from None


def generator(seed: int, *identity: object) -> np.random.Generator:
    """A random generator that depends on the study's seed and the identity of the thing drawn alone."""
    return np.random.default_rng(int.from_bytes(_digest(seed, *identity)[:16], "big"))


def drawn_first(things: Iterable[str], count: int, seed: int, *identity: object) -> list[str]:
    """The `count` things of smallest digest under the seed: adding a thing moves no other one's place."""
    return sorted(things, key=lambda thing: _digest(seed, *identity, thing))[:count]


def _digest(*identity: object) -> bytes:
    return hashlib.sha256("\x1f".join(map(str, identity)).encode()).digest()
