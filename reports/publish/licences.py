"""Licences as the hub and SPDX call them."""

from collections.abc import Iterable

_SPDX = {
    one.lower(): one
    for one in ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
}


def spdx(licence: str) -> str:
    """The SPDX address of a licence that is known by that name; the text itself of another one."""
    known = _SPDX.get(_id(licence))
    return f"https://spdx.org/licenses/{known}" if known else licence


def hub(licences: Iterable[str]) -> str:
    """What the hub calls the terms of a dataset: the one licence that all of it has, or other."""
    names = {_id(licence) for licence in licences}
    return names.pop() if len(names) == 1 and names <= _SPDX.keys() else "other"


def _id(licence: str) -> str:
    return licence.strip().lower().replace(" ", "-")
