"""Licences as the hub and SPDX call them, found in what a source says of its terms."""

import re
from collections.abc import Iterable

_NAMES = ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
_SPDX = {name.lower(): name for name in _NAMES}
_ANY = "|".join(one.replace(".", "[.]").replace("-", "[ -]") for one in _SPDX)
_NAMED = re.compile(rf"(?<![a-z0-9])({_ANY})(?![a-z0-9])")


def addresses(terms: Iterable[str]) -> list[str]:
    """The SPDX addresses of all licences that are named; terms that name none are given as they are."""
    return sorted({address for one in terms for address in map(_address, _names(one) or {one})})


def hub(terms: Iterable[str]) -> str:
    """What the hub calls the terms of a dataset: the one licence that all of it has, or other."""
    named = {tuple(sorted(_names(one))) for one in terms}
    (only,) = named if len(named) == 1 else ((),)
    return only[0] if len(only) == 1 else "other"


def _address(name: str) -> str:
    return f"https://spdx.org/licenses/{_SPDX[name]}" if name in _SPDX else name


def _names(terms: str) -> set[str]:
    return {name.replace(" ", "-") for name in _NAMED.findall(terms.lower())}
