"""invented.yaml: names of every class that exist nowhere."""

from functools import cache

from data.catalog.reading import mapping, texts
from data.errors import UnknownName


@cache
def invented_entities(entity_class: str) -> tuple[str, ...]:
    """Names of that class which exist nowhere; raises UnknownName for a class the catalog lacks."""
    classes = mapping("invented.yaml", "classes")
    if entity_class not in classes:
        raise UnknownName("entity class", entity_class, classes)
    return texts("invented.yaml", f"classes.{entity_class}", classes[entity_class])
