"""relations.yaml: every relation."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from data.catalog.reading import document, fields, mapping
from data.catalog.relation_entry import FILE, Relation, read_relation
from data.errors import InputError, UnknownName


@cache
def relations() -> Mapping[str, Relation]:
    """Every relation of the catalog by name, in the file's order."""
    fields(FILE, "the top", document(FILE), ("source", "licence", "relations"))
    read = {name: read_relation(name, entry) for name, entry in mapping(FILE, "relations").items()}
    named: dict[str, str] = {}
    for relation in read.values():
        for predicate in relation.predicates:
            if predicate in named:
                other = named[predicate]
                raise InputError(f"{FILE}: relations.{relation.name}.yago: {predicate} is that of {other} already")
            named[predicate] = relation.name
    return MappingProxyType(read)


def relation(name: str) -> Relation:
    """The relation of that name; raises UnknownName with the nearest one."""
    known = relations()
    if name not in known:
        raise UnknownName("relation", name, known)
    return known[name]


def known_relation(where: str, name: str) -> str:
    """The name, which another file of the catalog has at `where`; raises InputError where no relation has it."""
    if name not in relations():
        raise InputError(f"{where}: relation {name!r} is not in {FILE}")
    return name


def relations_of_yago() -> tuple[str, ...]:
    """The names of the relations that YAGO has a predicate for, in the file's order."""
    return tuple(relation.name for relation in relations().values() if relation.yago)
