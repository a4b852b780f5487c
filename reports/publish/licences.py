"""Licences as the hub and SPDX call them, found in what a source says of its terms."""

import re
from collections.abc import Iterable

_SPDX = {
    one.lower(): one
    for one in ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
}
_NAMED = re.compile(rf"(?<![a-z0-9-])({'|'.join(map(re.escape, _SPDX))})(?![a-z0-9])")


def addresses(terms: Iterable[str]) -> list[str]:
    """The SPDX addresses of all licences that are named; terms that name none are given as they are."""
    found = {address for one in terms for address in [f"https://spdx.org/licenses/{_SPDX[n]}" for n in _names(one)] or [one]}
    return sorted(found)


def hub(terms: Iterable[str]) -> str:
    """What the hub calls the terms of a dataset: the one licence that all of it has, or other."""
    named = {tuple(sorted(_names(one))) for one in terms}
    (only,) = named if len(named) == 1 else ((),)
    return only[0] if len(only) == 1 else "other"


def _names(terms: str) -> set[str]:
    return set(_NAMED.findall(re.sub(r"(?<=[a-z0-9]) (?=[a-z0-9])", "-", terms.lower())))
