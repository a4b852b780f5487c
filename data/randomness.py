"""Random numbers that depend only on a seed and on what is drawn, never on order, time or number of processes."""

from collections.abc import Iterable

import numpy as np

from swaymeter.data.digests import seed_bytes, typed_seed_bytes


def generator(seed: int, *identity: object) -> np.random.Generator:
    """Return a random generator that depends only on the study's seed and on the identity of what is drawn.

    Without an identity, the generator is `np.random.default_rng(seed)`.
    """
    start = int.from_bytes(seed_bytes(seed, *identity)[:16], "big") if identity else seed
    return np.random.default_rng(start)


def typed_generator(seed: int, *identity: str | int) -> np.random.Generator:
    """Return a generator like `generator`, but with different numbers for the identities 1 and "1"."""
    return np.random.default_rng(int.from_bytes(typed_seed_bytes(seed, *identity), "big"))


def drawn_first(items: Iterable[str], count: int, seed: int, *identity: object) -> list[str]:
    """Return the `count` items with the smallest seeded digests; two items have the same order in every list."""
    return sorted(items, key=lambda item: seed_bytes(seed, *identity, item))[:count]
