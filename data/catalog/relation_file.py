"""relations.yaml: every relation with its identifiers, the classes of its subject and object, and its texts."""

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, Iri, Name, PropertyId, Text, digest_of, entries
from swaymeter.data.catalog.templates import Beginning, ClosedQuestion, OpenQuestion, Sentence
from swaymeter.data.errors import InputError, UnknownName
from swaymeter.data.records import CONTEXT_KINDS, ContextKind

EntityClass = Literal[
    "person",
    "fictionalCharacter",
    "film",
    "tvSeries",
    "book",
    "newspaper",
    "song",
    "production",
    "work",
    "musician",
    "performingGroup",
    "company",
    "organization",
    "recordLabel",
    "university",
    "airline",
    "airport",
    "country",
    "region",
    "city",
    "place",
    "mountain",
    "waterBody",
    "road",
    "celestialBody",
    "product",
    "material",
    "award",
    "degree",
    "event",
    "taxon",
    "language",
    "religion",
    "gender",
    "genre",
    "occupation",
]
LiteralClass = Literal["date", "number", "quantity", "identifier", "text", "url"]

ENTITY_CLASSES: tuple[str, ...] = get_args(EntityClass)
LITERAL_CLASSES: tuple[str, ...] = get_args(LiteralClass)
FILE = "relations.yaml"
REVERSED = "reverse-"
"""Beginning of the published name of a predicate whose subject and object change places."""
LEAD_IN = "Without any doubt, "
"""Beginning of an assertive context in the published form."""
_BE = re.compile(r"^(.*\b(?:is|are|was|were)$|(?:(?:The|An?|One) \w+ of )?\{entity\} (?:is|are|was|were)\b)(.*)$")
"""Splits the beginning of a sentence, such as "The capital of {entity} is", after its form of "be"."""
_INCLUDE = re.compile(r"\binclude(s|d)?$")
_CAPITALISED = re.compile(r"^(?:The|An?|One|Another|In|On|At)(?= )")
"""A first word that has a capital only at the beginning of a sentence."""
_NEGATED_INCLUDE = {None: "do not include", "s": "does not include", "d": "did not include"}
"""The denied verb, by the ending of "include"."""


def _as_tuple(names: Any) -> Any:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else names


def _check_kinds(contexts: Mapping[ContextKind, Any]) -> Mapping[ContextKind, Any]:
    for kind in CONTEXT_KINDS:
        if kind not in contexts:
            raise ValueError(f"has no sentences of the kind {kind}; add the key `{kind}` with sentences")
    return MappingProxyType({kind: contexts[kind] for kind in CONTEXT_KINDS})


Contexts = Annotated[
    Mapping[ContextKind, Annotated[tuple[Sentence, ...], Field(min_length=1)]], AfterValidator(_check_kinds)
]


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class Relation:
    """A relation with its identifiers, its classes, and the texts of its queries and contexts.

    Attributes:
        name: name of the relation, such as capital.
        subject_class: class of the entities that queries are about, such as country.
        object_class: class of the answers: a class of entities, or a literal such as date.
        open: an open question, and the beginning of a sentence that an answer completes.
        closed: two questions that are answered with yes or no.
        contexts: sentence templates by kind, each with a newline at the end.
        wikidata: id of the Wikidata property, such as P36; None without one.
        yago: IRIs of the predicate in YAGO, first the IRI in the data of Du et al. 2024; () if YAGO has no predicate.
        reverse: True if the entity of queries is the predicate's object, and the answer is the predicate's subject.
        unit: unit for an answer that is a number without a unit.
    """

    name: Name
    subject_class: EntityClass
    object_class: EntityClass | LiteralClass
    open: tuple[OpenQuestion, Beginning]
    closed: tuple[ClosedQuestion, ClosedQuestion]
    contexts: Contexts
    wikidata: PropertyId | None = None
    yago: Annotated[tuple[Iri, ...], BeforeValidator(_as_tuple)] = ()
    reverse: StrictBool = False
    unit: Text | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.reverse != bool(re.match("reverse[A-Z]", self.name)):
            verb = "must" if self.reverse else "must not"
            raise ValueError(
                f"name: {verb} begin with reverse and a capital letter, because the key `reverse` is "
                f"{str(self.reverse).lower()}"
            )
        if self.reverse and self.object_class not in ENTITY_CLASSES:
            raise ValueError(
                "object_class: must be a class of entities, because with `reverse: true`, the answer is the "
                "predicate's subject"
            )
        if self.unit is not None and self.object_class not in ("number", "quantity"):
            raise ValueError("unit: only the object classes `number` and `quantity` may have a unit; leave `unit` out")
        groups: dict[str, tuple[str, ...]] = {"open": self.open, "closed": self.closed}
        groups |= {f"contexts.{kind}": templates for kind, templates in self.contexts.items()}
        first_keys: dict[str, str] = {}  # by text
        for group, templates in groups.items():
            for index, template in enumerate(templates):
                key = f"{group}[{index}]"
                first_key = first_keys.setdefault(template.casefold(), key)
                if first_key != key:
                    raise ValueError(f"{key} has the same text as {first_key}, {template!r}; write two different texts")
        return self

    @property
    def predicates(self) -> tuple[str, ...]:
        """The IRIs of the predicate; for a reversed relation, each begins with `reverse-`, as in Du et al. 2024."""
        return tuple(REVERSED + iri if self.reverse else iri for iri in self.yago)

    @property
    def entry(self) -> dict[str, Any]:
        """The fields of the relation, as plain values by name."""
        return {**vars(self), "contexts": dict(self.contexts)}

    def __reduce__(self) -> tuple[partial["Relation"], tuple[()]]:
        # A relation's read-only mapping of contexts cannot be pickled.
        return partial(Relation, **self.entry), ()


@cache
def relations() -> Mapping[str, Relation]:
    """Return every relation of the catalog by name, in the file's order."""
    catalog_relations = entries(FILE, "relations", Relation, "name")
    _check_predicates(FILE, catalog_relations)
    return catalog_relations


def own_relations(file: Path) -> Mapping[str, Relation]:
    """Return the relations of a user's file by name; the rules of relations.yaml hold for the file.

    Raises:
        InputError: the file cannot be read, breaks a rule, or has a name or a predicate that the catalog has.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    own = entries(str(file), "relations", Relation, "name", content)
    if taken := next((name for name in own if name in relations()), None):
        raise InputError(f"{file}: relations.{taken}: the catalog already has a relation {taken}; choose another name")
    _check_predicates(str(file), {**relations(), **own})
    return own


def _check_predicates(filename: str, relations_by_name: Mapping[str, Relation]) -> None:
    owners: dict[str, str] = {}
    for relation in relations_by_name.values():
        for predicate in relation.predicates:
            if owner := owners.get(predicate):
                raise InputError(
                    f"{filename}: relations.{relation.name}.yago: {predicate} is also a predicate of relation {owner}; "
                    "name another predicate"
                )
            owners[predicate] = relation.name


def relation(name: str, own: Mapping[str, Relation] = MappingProxyType({})) -> Relation:
    """Return the relation with this name, from the catalog or from `own`; UnknownName suggests a similar name.

    Args:
        name: name of the relation, such as capital.
        own: relations of a user's file, by name.
    """
    relations_by_name = {**relations(), **own}
    if name not in relations_by_name:
        raise UnknownName("relation", name, relations_by_name)
    return relations_by_name[name]


def relations_of_yago() -> tuple[str, ...]:
    """Return the names of the relations with a predicate in YAGO, in the file's order."""
    return tuple(relation.name for relation in relations().values() if relation.yago)


def relation_digest(name: str) -> str:
    """Return the digest of a relation's entry; UnknownName if no relation has the name."""
    return digest_of(relation(name).entry)


def property_names_digest() -> str:
    """Return the digest of the values by which a question of DynamicQA gets its relation."""
    return digest_of(sorted([entry.name, entry.wikidata, entry.reverse] for entry in relations().values()))


def published_form(relation: Relation) -> Mapping[ContextKind, tuple[str, ...]]:
    """Return a template of each kind of context in the form of Du et al. 2024, made from the relation's open sentence.

        base        the beginning of the sentence, and the answer     The capital of Norway is Lima.
        assertive   one lead-in for all relations, and the base       Without any doubt, the capital of Norway is Lima.
        negation    the base with its verb denied                     The capital of Norway is not Lima.

    Only a verb of the main clause is denied, never a verb of a relative clause ("the person who is married to {entity}
    lives in"). The verb is a form of "be" or "include" at the end of the beginning, or a form of "be" right after an
    initial {entity} or "The ... of {entity}". Without such a verb, the first negation template of the relation is used.
    Source: Du et al. 2024, section 4.1 and the released data. The lead-in was written for Swaymeter.
    """
    beginning = relation.open[1]
    base = f"{beginning} {{answer}}.\n"
    negated = _negated(beginning)
    return {
        "base": (base,),
        "assertive": (LEAD_IN + _CAPITALISED.sub(lambda first: first[0].lower(), base),),
        "negation": (f"{negated} {{answer}}.\n" if negated else relation.contexts["negation"][0],),
    }


def _negated(beginning: str) -> str | None:
    """Return a beginning with its verb denied; None if it has no verb that can be denied (`published_form`)."""
    if match := _INCLUDE.search(beginning):
        return beginning[: match.start()] + _NEGATED_INCLUDE[match[1]]
    match = _BE.match(beginning)
    return f"{match[1]} not{match[2]}" if match else None
