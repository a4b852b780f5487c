"""The entities of queries: real entities drawn from the facts, invented ones from a list of names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from swaymeter.data.errors import InputError
from swaymeter.data.records import Fact, RelationName, WikidataId
from swaymeter.data.storage.keys import drawn_first, generator

Choice = Literal["random", "degree"]


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a relation with its object; other_objects: further true ones, which no context may state."""

    name: str
    invented: bool
    object: str
    wikidata_id: WikidataId | None = None
    other_objects: tuple[str, ...] = ()
    degree: int | None = None
    relation_degree: int | None = None


def objects(facts: Sequence[Fact]) -> list[str]:
    """The different objects of the facts, sorted: the answers of contexts and closed queries are drawn from them."""
    return sorted({fact.object for fact in facts})


def choose_entities(
    relation: RelationName,
    facts: Sequence[Fact],
    names: Sequence[str],
    *,
    real: int,
    invented: int,
    seed: int,
    choice: Choice = "random",
) -> list[Entity]:
    """The entities of a study's queries: `real` subjects of the facts, as `choice` says, then invented ones.

    InputError where facts or names are fewer than requested, the source has no degrees, or objects are fewer than two.
    """
    by_subject = {fact.subject: fact for fact in facts}
    if len(by_subject) < real:
        raise InputError(
            f"relation {relation}: {real} real entities are requested, the facts have {len(by_subject)}; lower "
            "`real_entities` under `facts`, or leave the relation out"
        )
    entities = [
        Entity(
            fact.subject, False, fact.object, fact.subject_id, fact.other_objects,
            fact.subject_degree, fact.subject_relation_degree,
        )
        for fact in map(by_subject.__getitem__, _chosen(relation, by_subject, real, seed, choice))
    ]  # fmt: skip
    unknown, pool = unknown_names(relation, names, by_subject, invented), objects(facts)
    if len(pool) < 2:
        raise InputError(f"relation {relation}: the facts have {len(pool)} different objects; contexts need at least 2")
    degree = 0 if any(fact.subject_degree is not None for fact in facts) else None
    for name in drawn_first(unknown, invented, seed, relation, "invented"):
        drawn = generator(seed, relation, name, "answer").integers(len(pool))
        entities.append(Entity(name, True, pool[drawn], degree=degree, relation_degree=degree))
    return entities


def unknown_names(relation: RelationName, names: Sequence[str], subjects: Collection[str], count: int) -> list[str]:
    """The names that no subject of the facts has; InputError where they are fewer than `count`."""
    unknown = [name for name in names if name not in subjects]
    if len(unknown) < count:
        raise InputError(
            f"relation {relation}: {count} invented entities are requested, {len(unknown)} names are available; lower "
            "`invented_entities` under `facts`, or generate more names with `invented: names`"
        )
    return unknown


def _chosen(relation: RelationName, by_subject: dict[str, Fact], count: int, seed: int, choice: Choice) -> list[str]:
    drawn = drawn_first(by_subject, len(by_subject) if choice == "degree" else count, seed, relation, "real")
    if choice == "random":
        return drawn
    degrees = {name: fact.subject_degree for name, fact in by_subject.items() if fact.subject_degree is not None}
    if len(degrees) < len(by_subject):
        raise InputError(f"relation {relation}: entities are to be chosen by degree, and the source has no degrees")
    return sorted(drawn, key=lambda name: -degrees[name])[:count]  # of equal ones, those drawn first
