"""The public services, by the name that a study file gives them: where they are and how they want to be treated."""

from collections.abc import Mapping
from types import MappingProxyType

from data.sources.limits import Service

SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "yago": Service(
            "YAGO", "https://yago-knowledge.org/sparql/query", at_once=1, requests_a_minute=60, age_days=30
        ),
        "wikidata": Service(
            "Wikidata Query Service", "https://query.wikidata.org/sparql", at_once=1, requests_a_minute=30, age_days=7
        ),
    }
)
"""What a study need not say: addresses, and limits that are polite where none are published."""
