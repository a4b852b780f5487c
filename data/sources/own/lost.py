"""What a file of questions loses as a whole: kinds of contexts none of whose rows can be used, and why that may be."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, get_args

from swaymeter.data.records import OwnKind
from swaymeter.data.sources.own.columns import COLUMNS, FLAT
from swaymeter.data.sources.own.files import named
from swaymeter.data.sources.own.lists import list_in

NEEDED, BY = "context_answer", "conflicting"
"""The one column that only contexts of one kind need, so that no file is refused that lacks it."""

BY_SHORT_KEY = {short: name for name, short in FLAT.items()}


class Lost(NamedTuple):
    """kinds: those of which no row can be used. advice: which column is missing, and how it is mapped; or empty."""

    kinds: tuple[str, ...] = ()
    advice: str = ""


def lost_in(rows: Mapping[str, Mapping[str, Any]], rejected: Collection[str]) -> Lost:
    """What is lost of a file.

    rows: the cells by our names of columns, by the place of the row. rejected: places of rows that cannot be used.
    """
    kinds: dict[bool, set[str]] = {True: set(), False: set()}
    names = set[str]()
    for place, cells in rows.items():
        for context in _contexts(cells):
            names |= {BY_SHORT_KEY.get(name, name) for name in context}
            kinds[place in rejected].add(str(context.get("kind") or "").strip().lower())
    lost = tuple(sorted((kinds[True] - kinds[False]) & {*get_args(OwnKind)}))
    return Lost(lost, _advice(sorted(names - {*COLUMNS})) if BY in lost and NEEDED not in names else "")


def _contexts(cells: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The contexts of a row, each with what stands beside it under its own name."""
    nested = cells.get("contexts")
    items = list_in(nested) if isinstance(nested, str) else nested
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, Mapping))
    else:
        yield {name: cell for name, cell in cells.items() if name not in ("answer", "aliases", "id")}


def _advice(unused: list[str]) -> str:
    if not unused:
        return f"column {NEEDED} is missing"
    likely = get_close_matches(NEEDED, unused, n=1, cutoff=0.4) or ["NAME"]
    return f"column {NEEDED} is missing; the file has {named(unused)}: --map {NEEDED}={likely[0]}"
