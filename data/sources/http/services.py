"""The public services, by the name that a study file gives them: where they are and how they want to be treated."""

from collections.abc import Mapping
from types import MappingProxyType

from data.sources.http.limits import Service

_A_DAY = 24 * 60
"""Minutes: a study's questions are made in hours, and what is asked first may be asked last."""


def _wikimedia(name: str, address: str, *, age_days: float) -> Service:
    return Service(name, address, at_once=3, requests_a_minute=200, age_days=age_days, requests=200_000, minutes=_A_DAY)


SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "yago": Service(
            "YAGO", "https://yago-knowledge.org/sparql/query", at_once=1, requests_a_minute=60, age_days=30
        ),
        "wikidata": Service(
            "Wikidata Query Service",
            "https://query.wikidata.org/sparql",
            at_once=1,
            requests_a_minute=30,
            age_days=7,
            minutes=_A_DAY,
        ),
        "wikidata_api": _wikimedia("Wikidata", "https://www.wikidata.org/w/api.php", age_days=7),
        "wikipedia": _wikimedia("Wikipedia", "https://en.wikipedia.org/w/api.php", age_days=30),
        "pageviews": _wikimedia(
            "Wikimedia page views", "https://wikimedia.org/api/rest_v1/metrics/pageviews", age_days=7
        ),
        "wembedder": Service(
            "Wembedder",
            "https://wembedder.toolforge.org/api",
            at_once=1,
            requests_a_minute=60,
            age_days=180,
            requests=20_000,
            minutes=_A_DAY,
        ),
        "dynamicqa": Service(
            "DynamicQA on GitHub",
            "https://raw.githubusercontent.com/copenlu/dynamicqa/main/Data",
            at_once=1,
            requests_a_minute=60,
            age_days=365,
            contact_needed=False,
        ),
    }
)
"""What a study need not say: addresses, and limits that are polite where none are published. Wikimedia publishes its
own: at most three requests at a time, about 200 a minute, from clients that say whom to reach."""
