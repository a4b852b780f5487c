"""relations.yaml: every relation with its identifiers, the classes that it joins, and its texts."""

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, PropertyId, Text, digest_of, entries
from swaymeter.data.catalog.templates import Beginning, ClosedQuestion, OpenQuestion, Sentence
from swaymeter.data.errors import InputError, UnknownName
from swaymeter.data.records import CONTEXT_KINDS, ContextKind

EntityClass = Literal[
    "person", "fictionalCharacter",
    "film", "tvSeries", "book", "newspaper", "song", "production", "work",
    "musician", "performingGroup", "company", "organization", "recordLabel", "university", "airline",
    "airport", "country", "region", "city", "place", "mountain", "waterBody", "road", "celestialBody",
    "product", "material", "award", "degree", "event", "taxon", "language", "religion", "gender", "genre", "occupation",
]  # fmt: skip
LiteralClass = Literal["date", "number", "quantity", "identifier", "text", "url"]

ENTITY_CLASSES: tuple[str, ...] = get_args(EntityClass)
LITERAL_CLASSES: tuple[str, ...] = get_args(LiteralClass)
FILE = "relations.yaml"
REVERSED = "reverse-"
LEAD_IN = "Without any doubt, "
_BE = re.compile(r"^(.*\b(?:is|are|was|were)$|(?:(?:The|An?|One) \w+ of )?\{entity\} (?:is|are|was|were)\b)(.*)$")
_INCLUDE = re.compile(r"\binclude(s|d)?$")
_SMALL = re.compile(r"^(?:The|An?|One|Another|In|On|At)(?= )")  # first words that have a capital for the place alone
_DENIED = {None: "do not include", "s": "does not include", "d": "did not include"}


def _listed(names: Any) -> Any:
    return () if names is None else (names,) if isinstance(names, str) else names


def _of_every_kind(contexts: Mapping[ContextKind, Any]) -> Mapping[ContextKind, Any]:
    for kind in CONTEXT_KINDS:
        if kind not in contexts:
            raise ValueError(f"must have sentences of the kind {kind}")
    return MappingProxyType({kind: contexts[kind] for kind in CONTEXT_KINDS})


# Without the characters that SPARQL forbids between < and >, so that a query can name it as it stands.
Iri = Annotated[str, Field(pattern=r"^https?://[^\x00-\x20\x7f<>\"{}|^`\\]+$")]
Contexts = Annotated[
    Mapping[ContextKind, Annotated[tuple[Sentence, ...], Field(min_length=1)]], AfterValidator(_of_every_kind)
]


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class Relation:
    """A relation with its identifiers, the classes it joins and the texts it is asked and asserted with.

    yago: every name of its predicate in YAGO, the one of the published list first; () where YAGO has none. reverse:
    who is asked about is the predicate's object, and what is answered its subject. subject_class: of who is asked
    about; object_class: of what is answered, maybe a literal. unit: what is put after a number that comes without.
    open, closed: two query forms each; contexts: kind -> sentence templates that end with a newline.
    """

    name: Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9]{0,63}$")]
    subject_class: EntityClass
    object_class: EntityClass | LiteralClass
    open: tuple[OpenQuestion, Beginning]
    closed: tuple[ClosedQuestion, ClosedQuestion]
    contexts: Contexts
    wikidata: PropertyId | None = None
    yago: Annotated[tuple[Iri, ...], BeforeValidator(_listed)] = ()
    reverse: StrictBool = False
    unit: Text | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.reverse != bool(re.match("reverse[A-Z]", self.name)):
            raise ValueError("reverse: the name of a reversed relation, and no other, begins with reverse")
        if self.reverse and self.object_class not in ENTITY_CLASSES:
            raise ValueError("object_class: what a reversed relation answers is an entity")
        if self.unit is not None and self.object_class not in ("number", "quantity"):
            raise ValueError("unit: only a number or quantity has one")
        groups: dict[str, tuple[str, ...]] = {"open": self.open, "closed": self.closed}
        groups |= {f"contexts.{kind}": templates for kind, templates in self.contexts.items()}
        seen: dict[str, str] = {}
        for group, templates in groups.items():
            for number, template in enumerate(templates):
                other = seen.setdefault(template.casefold(), f"{group}[{number}]")
                if other != f"{group}[{number}]":
                    raise ValueError(f"{group}[{number}] has the same text as {other}: {template!r}")
        return self

    @property
    def predicates(self) -> tuple[str, ...]:
        """Its names in YAGO, that of the published list first, written as there: reverse- before a reversed one's."""
        return tuple(REVERSED + iri if self.reverse else iri for iri in self.yago)

    @property
    def entry(self) -> dict[str, Any]:
        """All that it consists of, as plain values."""
        return {**vars(self), "contexts": dict(self.contexts)}

    def __reduce__(self) -> tuple[partial["Relation"], tuple[()]]:
        """A relation can be pickled; the read-only mapping of its contexts cannot."""
        return partial(Relation, **self.entry), ()


@cache
def relations() -> Mapping[str, Relation]:
    """Every relation of the catalog by name, in the file's order."""
    known = entries(FILE, "relations", Relation, "name")
    _check_predicates(FILE, known)
    return known


def own_relations(file: Path) -> Mapping[str, Relation]:
    """The relations of a file of one's own by name: in the form of the catalog's, checked by the same rules.

    InputError where it cannot be read, breaks a rule, or has a name or a predicate that the catalog has.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    own = entries(str(file), "relations", Relation, "name", content)
    if taken := next((name for name in own if name in relations()), None):
        raise InputError(f"{file}: relations.{taken}: the catalog has a relation of that name; choose another name")
    _check_predicates(str(file), {**relations(), **own})
    return own


def _check_predicates(filename: str, known: Mapping[str, Relation]) -> None:
    named: dict[str, str] = {}
    for relation in known.values():
        for predicate in relation.predicates:
            if predicate in named:
                other = named[predicate]
                raise InputError(f"{filename}: relations.{relation.name}.yago: {predicate} is that of {other} already")
            named[predicate] = relation.name


def relation(name: str, own: Mapping[str, Relation] = MappingProxyType({})) -> Relation:
    """The relation of that name, of the catalog or one's own; raises UnknownName with the nearest one."""
    known = {**relations(), **own}
    if name not in known:
        raise UnknownName("relation", name, known)
    return known[name]


def relations_of_yago() -> tuple[str, ...]:
    """The names of the relations that YAGO has a predicate for, in the file's order."""
    return tuple(relation.name for relation in relations().values() if relation.yago)


def relation_digest(name: str) -> str:
    """The digest of all that decides about a relation's texts, its entry; raises UnknownName for another name."""
    return digest_of(relation(name).entry)


def property_names_digest() -> str:
    """The digest of what relations are called and of their Wikidata properties: lists of facts are read by them."""
    return digest_of(sorted([entry.name, entry.wikidata, entry.reverse] for entry in relations().values()))


def published_form(relation: Relation) -> Mapping[ContextKind, tuple[str, ...]]:
    """One template of each kind in the published form, made from the sentence which an answer completes.

        base        the beginning of the sentence, and the answer     The capital of Norway is Lima.
        assertive   one lead-in for all relations, and the base       Without any doubt, the capital of Norway is Lima.
        negation    the base with its verb denied                     The capital of Norway is not Lima.
    A verb is denied where it must be that of the whole sentence, never one of a relative clause ("the person who is
    married to {entity} lives in"): a form of "be" or "include" at the end of the beginning, or a form of "be" right
    behind {entity} or "The ... of {entity}" with which the sentence begins. Elsewhere the negation is the relation's
    own first one.
    Source: Du et al. 2024, section 4.1 and the released data; the lead-in is our own.
    """
    beginning = relation.open[1]
    base = f"{beginning} {{answer}}.\n"
    denied = _denied(beginning)
    return {
        "base": (base,),
        "assertive": (LEAD_IN + _SMALL.sub(lambda first: first[0].lower(), base),),
        "negation": (f"{denied} {{answer}}.\n" if denied else relation.contexts["negation"][0],),
    }


def _denied(beginning: str) -> str | None:
    if found := _INCLUDE.search(beginning):
        return beginning[: found.start()] + _DENIED[found[1]]
    found = _BE.match(beginning)
    return f"{found[1]} not{found[2]}" if found else None
