"""One entry of relations.yaml: a relation, and every rule that it must keep."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from data.catalog.classes import CLASSES, ENTITY_CLASSES
from data.catalog.reading import PROPERTY_ID, fields, text, texts
from data.catalog.templates import CLOSED_SLOTS, OPEN_SLOTS, check_beginning, check_context, check_question
from data.errors import InputError

CONTEXT_KINDS = ("base", "assertive", "negation")
FILE = "relations.yaml"
REVERSED = "reverse-"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
_REVERSED_NAME = re.compile(r"reverse[A-Z]")
# Without the characters that SPARQL forbids between < and >, so that a query can name it as it stands.
_IRI = re.compile(r"https?://[^\x00-\x20\x7f<>\"{}|^`\\]+")
_UNIT_CLASSES = ("number", "quantity")


@dataclass(frozen=True)
class Relation:
    """A relation with its identifiers, the classes it joins and the texts it is asked and asserted with.

    yago: every name of its predicate in YAGO, the one of the published list first; () where YAGO has none. reverse:
    who is asked about is the predicate's object, and what is answered its subject. subject_class: of who is asked
    about; object_class: of what is answered, maybe a literal. unit: what is put after a number that comes without.
    open, closed: two query forms each; contexts: kind -> sentence templates that end with a newline.
    """

    name: str
    wikidata: str | None
    yago: tuple[str, ...]
    subject_class: str
    object_class: str
    open: tuple[str, str]
    closed: tuple[str, str]
    contexts: Mapping[str, tuple[str, ...]]
    reverse: bool = False
    unit: str | None = None

    @property
    def predicates(self) -> tuple[str, ...]:
        """Its names in YAGO as the published list writes them, with reverse- before those of a reversed relation."""
        return tuple(REVERSED + iri if self.reverse else iri for iri in self.yago)

    @property
    def predicate(self) -> str | None:
        """The line of the published list that it stands for; None where YAGO has no name for it."""
        return self.predicates[0] if self.yago else None


def read_relation(name: str, entry: object) -> Relation:
    """The relation of an entry; raises InputError with the relation and key of the first rule that it breaks."""
    where = f"relations.{name}"
    if not _NAME.fullmatch(str(name)):
        raise InputError(f"{FILE}: {where} is not a slug of letters and digits, 64 at most")
    values = fields(FILE, where, entry, [field for field in Relation.__dataclass_fields__ if field != "name"])
    read = Relation(
        name=name,
        wikidata=_property(f"{where}.wikidata", values.get("wikidata")),
        yago=_iris(f"{where}.yago", values.get("yago")),
        subject_class=_class(f"{where}.subject_class", values.get("subject_class"), ENTITY_CLASSES),
        object_class=_class(f"{where}.object_class", values.get("object_class"), CLASSES),
        open=_open(f"{where}.open", values.get("open")),
        closed=_closed(f"{where}.closed", values.get("closed")),
        contexts=_contexts(f"{where}.contexts", values.get("contexts")),
        reverse=_direction(f"{where}.reverse", values.get("reverse", False)),
        unit=None if values.get("unit") is None else text(FILE, f"{where}.unit", values["unit"]),
    )
    if read.reverse != bool(_REVERSED_NAME.match(name)):
        raise InputError(f"{FILE}: {where}.reverse: the name of a reversed relation, and no other, begins with reverse")
    if read.reverse and read.object_class not in ENTITY_CLASSES:
        raise InputError(f"{FILE}: {where}.object_class: what a reversed relation answers is an entity")
    if read.unit is not None and read.object_class not in _UNIT_CLASSES:
        raise InputError(f"{FILE}: {where}.unit: only a {' or '.join(_UNIT_CLASSES)} has one")
    _check_different(where, read)
    return read


def iri(key: str, value: str) -> str:
    """The value, which is a whole address that a SPARQL query can name; raises InputError for another."""
    if not _IRI.fullmatch(value):
        raise InputError(f"{FILE}: {key} must be a whole http address without space, quote or bracket, not {value!r}")
    return value


def _property(key: str, value: object) -> str | None:
    if value is None:
        return None
    if not PROPERTY_ID.fullmatch(text(FILE, key, value)):
        raise InputError(f"{FILE}: {key} must look like P36, not {value!r}")
    return str(value)


def _iris(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(iri(f"{key}[{place}]", name) for place, name in enumerate(texts(FILE, key, value)))
    return (iri(key, text(FILE, key, value)),)


def _class(key: str, value: object, known: tuple[str, ...]) -> str:
    if text(FILE, key, value) not in known:
        raise InputError(f"{FILE}: {key} must be one of {', '.join(known)}, not {value!r}")
    return str(value)


def _direction(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{FILE}: {key} must be true or false, not {value!r}")
    return value


def _pair(key: str, values: object) -> tuple[str, str]:
    pair = texts(FILE, key, values)
    if len(pair) != 2:
        raise InputError(f"{FILE}: {key} must have two forms, not {len(pair)}")
    return pair[0], pair[1]


def _open(key: str, values: object) -> tuple[str, str]:
    question, beginning = _pair(key, values)
    check_question(f"{FILE}: {key}[0]", question, OPEN_SLOTS)
    check_beginning(f"{FILE}: {key}[1]", beginning)
    return question, beginning


def _closed(key: str, values: object) -> tuple[str, str]:
    pair = _pair(key, values)
    for place, question in enumerate(pair):
        check_question(f"{FILE}: {key}[{place}]", question, CLOSED_SLOTS)
    return pair


def _contexts(key: str, entry: object) -> Mapping[str, tuple[str, ...]]:
    values = fields(FILE, key, entry, CONTEXT_KINDS)
    read = {kind: texts(FILE, f"{key}.{kind}", values.get(kind)) for kind in CONTEXT_KINDS}
    for kind, templates in read.items():
        for place, template in enumerate(templates):
            check_context(f"{FILE}: {key}.{kind}[{place}]", template)
    return MappingProxyType(read)


def _check_different(where: str, relation: Relation) -> None:
    forms: dict[str, tuple[str, ...]] = {"open": relation.open, "closed": relation.closed}
    forms |= {f"contexts.{kind}": templates for kind, templates in relation.contexts.items()}
    seen: dict[str, str] = {}
    for group, templates in forms.items():
        for place, template in enumerate(templates):
            other = seen.setdefault(template.casefold(), f"{group}[{place}]")
            if other != f"{group}[{place}]":
                raise InputError(f"{FILE}: {where}.{group}[{place}] has the same text as {other}: {template!r}")
