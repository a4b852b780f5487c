"""The public services, by the name that a study file gives them: where they are and their limits."""

from collections.abc import Mapping
from types import MappingProxyType

from data.sources.http.limits import Service

_A_DAY = 24 * 60
"""Minutes: building a study's questions takes hours, and a service may be needed throughout."""


def _wikimedia(name: str, address: str, *, cache_ttl_days: float) -> Service:
    return Service(
        name,
        address,
        max_concurrency=3,
        requests_per_minute=200,
        cache_ttl_days=cache_ttl_days,
        max_requests=200_000,
        max_minutes=_A_DAY,
    )


SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "yago": Service(
            "YAGO",
            "https://yago-knowledge.org/sparql/query",
            max_concurrency=1,
            requests_per_minute=60,
            cache_ttl_days=30,
        ),
        "wikidata": Service(
            "Wikidata Query Service",
            "https://query.wikidata.org/sparql",
            max_concurrency=1,
            requests_per_minute=30,
            cache_ttl_days=7,
            max_minutes=_A_DAY,
        ),
        "wikidata_api": _wikimedia("Wikidata", "https://www.wikidata.org/w/api.php", cache_ttl_days=7),
        "wikipedia": _wikimedia("Wikipedia", "https://en.wikipedia.org/w/api.php", cache_ttl_days=30),
        "pageviews": _wikimedia(
            "Wikimedia page views", "https://wikimedia.org/api/rest_v1/metrics/pageviews", cache_ttl_days=7
        ),
        "wembedder": Service(
            "Wembedder",
            "https://wembedder.toolforge.org/api",
            max_concurrency=1,
            requests_per_minute=60,
            cache_ttl_days=180,
            max_requests=20_000,
            max_minutes=_A_DAY,
        ),
        "dynamicqa": Service(
            "DynamicQA on GitHub",
            "https://raw.githubusercontent.com/copenlu/dynamicqa/main/Data",
            max_concurrency=1,
            requests_per_minute=60,
            cache_ttl_days=365,
            contact_needed=False,
        ),
    }
)
"""The defaults of a study: addresses, and polite limits where the service publishes none. Wikimedia publishes its
own: at most three requests at a time, about 200 a minute, from clients with a contact."""
