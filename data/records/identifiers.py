"""Identifiers that refuse nonsense, and the short ids that are made of what a row is about."""

import hashlib
import re
from typing import Self

from data.errors import InputError


class WikidataId(str):
    """The id of a Wikidata item or property, such as Q20 or P36."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        """Checks the text; InputError where it is not an id."""
        if not re.fullmatch(r"[QP][1-9][0-9]*", value):
            raise InputError(f"{value!r} is not a Wikidata id; write Q or P and a number, such as Q20")
        return super().__new__(cls, value)


class RelationName(str):
    """What work is cut into: a YAGO predicate, a Wikidata property, or `disputable`; letters and digits only."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        """Checks the text; InputError where it is not a name."""
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,63}", value):
            raise InputError(f"{value!r} is not a relation name; write letters and digits, such as officialLanguage")
        return super().__new__(cls, value)


def identity(*parts: object) -> str:
    """A short id (16 hex digits) of what a row is about, the same in every order and on every machine."""
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()
