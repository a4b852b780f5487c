"""The catalog of relations as a page to read: docs/relations.md."""

from collections.abc import Iterable

from data.catalog.relation_file import LITERAL_CLASSES, Relation, relations

_PREFIXES = {"http://schema.org/": "schema:", "http://yago-knowledge.org/resource/": "yago:"}
_COLUMNS = ("relation", "YAGO, Wikidata", "classes", "open queries", "closed queries", "a context of each kind")


def describe() -> str:
    """The relations in Markdown: how many, and a table of them with their texts."""
    known = list(relations().values())
    reversed_ = sum(relation.reverse for relation in known)
    counts = (
        f"{len(known)} relations: {len(known) - reversed_} forward, {reversed_} reversed; "
        f"{sum(relation.object_class in LITERAL_CLASSES for relation in known)} are answered with a literal, the "
        f"others with an entity. {sum(bool(relation.yago) for relation in known)} have a predicate of YAGO, "
        f"{sum(relation.wikidata is not None for relation in known)} a property of Wikidata."
    )
    table = [_row(_COLUMNS), _row(["---"] * len(_COLUMNS)), *map(_relation, known)]
    return "\n".join([counts, "", *table]) + "\n"


def _relation(relation: Relation) -> str:
    names = [f"`{_shortened(predicate)}`" for predicate in relation.predicates]
    unit = f" in {relation.unit}" if relation.unit else ""
    return _row(
        [
            f"`{relation.name}`, {'reversed' if relation.reverse else 'forward'}",
            "<br>".join(names + ([relation.wikidata] if relation.wikidata else [])),
            f"{relation.subject_class} → {relation.object_class}{unit}",
            _shown(relation.open),
            _shown(relation.closed),
            _shown(sentences[0] for sentences in relation.contexts.values()),
        ]
    )


def _shortened(predicate: str) -> str:
    """A predicate with prefixes, such as yago:capital or reverse-schema:author."""
    for home, prefix in _PREFIXES.items():
        predicate = predicate.replace(home, prefix)
    return predicate


def _shown(templates: Iterable[str]) -> str:
    return "<br>".join(template.replace("\n", "↵").replace("|", "\\|") for template in templates)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
