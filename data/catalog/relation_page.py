"""The catalog of relations as a page to read: docs/relations.md."""

from collections.abc import Iterable

from data.catalog.classes import LITERAL_CLASSES
from data.catalog.relation_entry import CONTEXT_KINDS, REVERSED, Relation
from data.catalog.relation_file import relations

PREFIXES = {"schema:": "http://schema.org/", "yago:": "http://yago-knowledge.org/resource/"}

_COLUMNS = ("relation", "YAGO, Wikidata", "classes", "open queries", "closed queries", "a context of each kind")


def describe() -> str:
    """The relations in Markdown: how many, and a table of them with their texts."""
    known = list(relations().values())
    reversed_ = [relation for relation in known if relation.reverse]
    literal = [relation for relation in known if relation.object_class in LITERAL_CLASSES]
    of_yago = [relation for relation in known if relation.yago]
    counts = (
        f"{len(known)} relations: {len(known) - len(reversed_)} forward, {len(reversed_)} reversed; {len(literal)} are "
        f"answered with a literal, the others with an entity. {len(of_yago)} have a predicate of YAGO, "
        f"{sum(relation.wikidata is not None for relation in known)} a property of Wikidata."
    )
    table = [_row(_COLUMNS), _row(["---"] * len(_COLUMNS)), *map(_relation, known)]
    return "\n".join([counts, "", *table]) + "\n"


def shortened(predicate: str) -> str:
    """A predicate with the prefix that stands for its beginning: yago:capital, reverse-schema:author."""
    reverse = REVERSED if predicate.startswith(REVERSED) else ""
    iri = predicate.removeprefix(REVERSED)
    for prefix, home in PREFIXES.items():
        if iri.startswith(home):
            return reverse + prefix + iri.removeprefix(home)
    return predicate


def _relation(relation: Relation) -> str:
    names = [f"`{shortened(predicate)}`" for predicate in relation.predicates]
    unit = f" in {relation.unit}" if relation.unit else ""
    return _row(
        [
            f"`{relation.name}`, {'reversed' if relation.reverse else 'forward'}",
            "<br>".join(names + ([relation.wikidata] if relation.wikidata else [])),
            f"{relation.subject_class} → {relation.object_class}{unit}",
            _shown(*relation.open),
            _shown(*relation.closed),
            _shown(*(relation.contexts[kind][0] for kind in CONTEXT_KINDS)),
        ]
    )


def _shown(*templates: str) -> str:
    return "<br>".join(template.replace("\n", "↵").replace("|", "\\|") for template in templates)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
