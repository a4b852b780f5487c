"""Random numbers that come from a seed and what is drawn, never from order, time or the number of processes."""

from collections.abc import Iterable

import numpy as np

from swaymeter.data.digests import seed_bytes, typed_seed_bytes


def generator(seed: int, *identity: object) -> np.random.Generator:
    """A random generator that depends on the study's seed and the identity of the thing drawn alone.

    Without an identity it is the one of the seed itself.
    """
    start = int.from_bytes(seed_bytes(seed, *identity)[:16], "big") if identity else seed
    return np.random.default_rng(start)


def typed_generator(seed: int, *identity: str | int) -> np.random.Generator:
    """As `generator`, where 1 and "1" are different identities: of answers, signs and half-samples of scores."""
    return np.random.default_rng(int.from_bytes(typed_seed_bytes(seed, *identity), "big"))


def drawn_first(things: Iterable[str], count: int, seed: int, *identity: object) -> list[str]:
    """The `count` things of smallest digest under the seed: adding a thing moves no other one's place."""
    return sorted(things, key=lambda thing: seed_bytes(seed, *identity, thing))[:count]
