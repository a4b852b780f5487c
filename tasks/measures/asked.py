"""Which contexts stand before which query: every one of its relation, or a sample of the query's own.

A sample has some contexts that are relevant, as they mention the query's entity, and others that are not. It is drawn
without replacement, by the study's seed and the query's id, and stands in the order of the relation's contexts.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context: 256 contexts a query, 8 of them relevant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from swaymeter.data.errors import InputError
from swaymeter.data.records import Context, Query, is_relevant
from swaymeter.data.storage.keys import generator


@dataclass(frozen=True)
class PerQuery:
    """How many contexts a query is asked with, and how many of them are relevant."""

    contexts: int
    relevant: int


def own_sample(query: Query, contexts: Sequence[Context], per_query: PerQuery, seed: int) -> list[Context]:
    """The contexts that a query is asked with; InputError where its relation has too few of a kind."""
    of_kind: dict[bool, list[int]] = {True: [], False: []}
    for place, context in enumerate(contexts):
        of_kind[is_relevant(context, query)].append(place)
    check_enough(query.relation, query.entity, len(of_kind[True]), len(of_kind[False]), per_query)
    draw = generator(seed, "contexts of a query", query.query_id)
    counts = {True: per_query.relevant, False: per_query.contexts - per_query.relevant}
    places = [
        of_kind[kind][drawn]
        for kind, count in counts.items()
        for drawn in draw.choice(len(of_kind[kind]), size=count, replace=False)
    ]
    return [contexts[place] for place in sorted(places)]


def check_enough(relation: str, entity: str, relevant: int, others: int, per_query: PerQuery) -> None:
    """Raises InputError where a relation has too few contexts that are relevant to an entity's queries, or others."""
    for kind, count, known in (
        ("relevant", per_query.relevant, relevant),
        ("other", per_query.contexts - per_query.relevant, others),
    ):
        if known < count:
            raise InputError(
                f"contexts.per_query: relation {relation} has {known} {kind} contexts for queries about {entity}, "
                f"{count} are asked for; ask for fewer, or have more written about each entity"
            )
