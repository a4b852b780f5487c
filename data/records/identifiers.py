"""Identifiers that refuse nonsense."""

import re
from typing import ClassVar, Self

from swaymeter.data.errors import InputError


class _Identifier(str):
    __slots__ = ()
    form: ClassVar[str]
    example: ClassVar[str]

    def __new__(cls, value: str) -> Self:
        """Checks the text; InputError where it has another form."""
        if not re.fullmatch(cls.form, value):
            raise InputError(f"{value!r} is not {cls.example}")
        return super().__new__(cls, value)


class WikidataId(_Identifier):
    """The id of a Wikidata item or property, such as Q20 or P36."""

    __slots__ = ()
    form = r"[QP][1-9][0-9]*"
    example = "a Wikidata id; write Q or P and a number, such as Q20"


class RelationName(_Identifier):
    """What work is cut into: a YAGO predicate, a Wikidata property, or `disputable`; letters and digits only."""

    __slots__ = ()
    form = r"[A-Za-z][A-Za-z0-9]{0,63}"
    example = "a relation name; write letters and digits, such as officialLanguage"


CORPUS = "corpus"
"""The subject of steps that count in a corpus."""

NO_RELATIONS = frozenset({CORPUS, "own", "static", "study", "temporal", "triples"})
"""What steps may be about that is not a relation: no relation may have one of these names."""
