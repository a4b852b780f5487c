"""Who is asked about: real entities drawn from the facts, invented ones from the catalog."""

from collections.abc import Sequence
from dataclasses import dataclass

from data import catalog
from data.errors import InputError
from data.keys import drawn_first, generator
from data.records import Fact, RelationName, WikidataId


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a relation with its object; an invented entity has a drawn one."""

    name: str
    invented: bool
    object: str
    wikidata_id: WikidataId | None = None


def objects(facts: Sequence[Fact]) -> list[str]:
    """The different objects of the facts, sorted: what contexts and closed queries draw their answers from."""
    return sorted({fact.object for fact in facts})


def choose_entities(
    relation: RelationName, facts: Sequence[Fact], *, real: int, invented: int, seed: int
) -> list[Entity]:
    """The entities a study asks about: `real` of the facts' subjects, then `invented` ones of the subject's class.

    InputError where the facts or the catalog have fewer than asked for, or where a drawn answer is needed and the
    facts give none.
    """
    by_subject = {fact.subject: fact for fact in facts}
    if len(by_subject) < real:
        raise InputError(f"relation {relation}: {real} real entities are asked for, the facts have {len(by_subject)}")
    chosen = [by_subject[name] for name in drawn_first(by_subject, real, seed, relation, "real")]
    entities = [Entity(fact.subject, False, fact.object, fact.subject_id) for fact in chosen]

    names = [
        name for name in catalog.invented_entities(catalog.relation(relation).subject_class) if name not in by_subject
    ]
    if len(names) < invented:
        raise InputError(
            f"relation {relation}: {invented} invented entities are asked for, the catalog has {len(names)}"
        )
    pool = objects(facts)
    if len(pool) < 2:
        raise InputError(f"relation {relation}: the facts have {len(pool)} different objects; contexts need at least 2")
    for name in drawn_first(names, invented, seed, relation, "invented"):
        drawn = generator(seed, relation, name, "answer").integers(len(pool))
        entities.append(Entity(name, True, pool[drawn]))
    return entities
