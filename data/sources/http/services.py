"""Public services, by their names in a study file: their addresses and limits."""

from collections.abc import Mapping
from dataclasses import dataclass

TRANSIENT = (429, 502, 503, 504)
"""HTTP statuses of a service that may answer a later try."""


@dataclass(frozen=True)
class Service:
    """A service and its limits, which hold over all threads of a process.

    Attributes:
        name: The name in messages.
        address: The address, to which a request may add a path.
        max_concurrency: Limit of the requests that are under way together.
        requests_per_minute: Rate of requests, sent at even intervals.
        cache_ttl_days: The age up to which a cached response is used.
        timeout_s: Seconds without data after which a request fails; a whole response may take twice as long.
        max_requests: Upper bound on the requests of a run, retries included.
        tries: Number of times that a request is sent while its error is transient.
        contact_needed: True if requests carry a contact.
        transient: HTTP statuses after which a later try may succeed.
        cached_for_any_address: True if cached responses from another address of the service are used, too.
        query: Query string that is added to the address of every request.
        key_header: Name of the header with the API key; empty for Authorization.
    """

    name: str
    address: str
    max_concurrency: int = 1
    requests_per_minute: float = 60.0
    cache_ttl_days: float = 30.0
    timeout_s: float = 90.0
    max_requests: int = 10_000
    tries: int = 4
    contact_needed: bool = True
    transient: tuple[int, ...] = TRANSIENT
    cached_for_any_address: bool = False
    query: str = ""
    key_header: str = ""


def _wikimedia(name: str, address: str, cache_ttl_days: float) -> Service:
    """Return a service of Wikimedia; a client with a contact may send 200 requests a minute, three at a time."""
    return Service(name, address, 3, 200, cache_ttl_days, max_requests=200_000)


SERVICES: Mapping[str, Service] = {
    "yago": Service("YAGO", "https://yago-knowledge.org/sparql/query"),
    "wikidata": Service(
        "Wikidata Query Service",
        "https://query.wikidata.org/sparql",
        requests_per_minute=30,
        cache_ttl_days=7,
    ),
    "wikidata_api": _wikimedia("Wikidata", "https://www.wikidata.org/w/api.php", 7),
    "wikipedia": _wikimedia("Wikipedia", "https://en.wikipedia.org/w/api.php", 30),
    "pageviews": _wikimedia("Wikimedia page views", "https://wikimedia.org/api/rest_v1/metrics/pageviews", 7),
    "wembedder": Service(
        "Wembedder",
        "https://wembedder.toolforge.org/api",
        cache_ttl_days=180,
        max_requests=20_000,
    ),
    "dynamicqa": Service(
        "DynamicQA on GitHub",
        "https://raw.githubusercontent.com/copenlu/dynamicqa/main/Data",
        cache_ttl_days=365,
        contact_needed=False,
    ),
    "infini_gram": Service(
        "infini-gram",
        "https://api.infini-gram.io",
        requests_per_minute=120,
        cache_ttl_days=365,
        max_requests=100_000,
    ),
}
"""The services with default addresses and limits; the limits are cautious if a service publishes none."""
