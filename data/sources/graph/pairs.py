"""The pairs of a relation in a fixed random order, page by page.

A pair is the subject and the object of a triple. Its sampling key is the MD5 of the seed and these two terms; the
smallest keys come first. So the first n pairs are a random sample, the same from every service with the same graph. A
query requests a page: the pairs whose keys begin with a prefix and follow the last key of the page before. The service
sorts the pairs of a prefix. So the prefix is longer in a large relation, and becomes longer if a query takes too long.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from swaymeter.data.catalog import Relation
from swaymeter.data.errors import ServiceError, ServiceTimeout
from swaymeter.data.sources.graph.sparql import Literal, Row, Rows, SparqlStore, Term, Uri, bound, count, iri, string

DIGITS = "0123456789abcdef"
MAX_DIGITS = 3
"""Limit of the digits that slow queries add to a prefix; with more digits, a query is no faster."""
SMALLEST_PAGE = 10
"""Least number of pairs in a page that was halved."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two terms that a predicate of the graph joins, their sampling key, and the response that has them."""

    key: str
    subject: Uri
    object: Term
    response: Rows

    def directed(self, relation: Relation) -> tuple[Term, Term]:
        """Return the entity that queries name, then the answer. In a reversed relation, the object comes first."""
        return (self.object, self.subject) if relation.reverse else (self.subject, self.object)


def sampled_pairs(
    store: SparqlStore, predicates: Sequence[str], *, seed: int, page: int, english_only: bool = False
) -> Iterator[Pair]:
    """Yield every pair that one of the predicates joins, in the order of the keys, without blank nodes.

    Args:
        store: The graph.
        predicates: The predicates.
        seed: A part of each sampling key.
        page: Number of pairs in the first page; the yielded pairs do not depend on it.
        english_only: True to leave out objects that are texts in languages other than English.

    Raises:
        ServiceTimeout: Even queries for small parts take too long.
    """
    pages = _Pages(store, predicates, seed, max(page, 2), english_only)
    length = pages.prefix_length()
    for prefix in product(DIGITS, repeat=length):
        yield from pages.pairs("".join(prefix), "", length + MAX_DIGITS)


def triple_pattern(predicates: Sequence[str], subject: str, object: str) -> str:
    """Return a triple pattern with the path a|b of the predicates; with VALUES, services would read the whole graph."""
    return f"{subject} {'|'.join(map(iri, predicates))} {object} ."


class _Pages:
    """The pages of pairs; a slow query halves `_size`, the number of pairs in a page."""

    def __init__(self, store: SparqlStore, predicates: Sequence[str], seed: int, size: int, english_only: bool) -> None:
        self._store, self._predicates, self._seed, self._size = store, predicates, seed, size
        self._english_only = english_only

    def prefix_length(self) -> int:
        """Return the length of a prefix whose pairs fill about 1 to 16 pages; 0 if the pairs take too long to count."""
        patterns = " UNION ".join(f"{{ ?s {iri(predicate)} ?o }}" for predicate in self._predicates)
        try:
            counted = self._store.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {patterns} }}").rows
        except ServiceTimeout:
            return 0
        pairs, length = sum(count(bound(row, "n")) for row in counted), 0
        while pairs >= self._size * len(DIGITS) ** (length + 1):
            length += 1
        return length

    def pairs(self, prefix: str, after: str, max_length: int) -> Iterator[Pair]:
        """Yield in order the pairs whose keys begin with the prefix and are larger than `after`."""
        while True:
            try:
                response = self._store.select(self._query(prefix, after))
            except ServiceTimeout:
                if len(prefix) == max_length:
                    raise
                self._size = max(SMALLEST_PAGE, self._size // 2)
                break
            pairs = sorted((_pair(row, response) for row in response.rows), key=_order)
            ignores_filter = any(not pair.key.startswith(prefix) or pair.key <= after for pair in pairs)
            if ignores_filter or len(response) > self._size:
                clause = "FILTER" if ignores_filter else "LIMIT"
                raise ServiceError(
                    f"{response.address} returned pairs outside the query's {clause}: a cache of the service ignores "
                    "parts of the query, or the service does not support SPARQL 1.1; write another address into the "
                    "study file"
                )
            if len(response) < self._size:
                yield from pairs
                return
            # Objects that differ only in language or datatype share a key, so pairs of the last key may be missing.
            complete = [pair for pair in pairs if pair.key < pairs[-1].key]
            if complete:
                after = complete[-1].key
            else:
                self._size *= 2
            yield from complete
        # Pairs with keys up to `after` were yielded before.
        for digit in DIGITS:
            longer_prefix = prefix + digit
            if longer_prefix >= after[: len(longer_prefix)]:
                yield from self.pairs(longer_prefix, after if after.startswith(longer_prefix) else "", max_length)

    def _query(self, prefix: str, after: str) -> str:
        conditions = [f"STRSTARTS(?k, {string(prefix)})"] if prefix else []
        conditions += [f"?k > {string(after)}"] if after else []
        # This filter takes as long as the MD5. So callers leave it out for objects that are entities.
        if self._english_only:
            conditions.append('(isIRI(?o) || LANG(?o) = "" || LANGMATCHES(LANG(?o), "en"))')
        return "\n".join(
            [
                "SELECT ?s ?o ?k WHERE {",
                f"  {triple_pattern(self._predicates, '?s', '?o')}",
                f'  BIND(MD5(CONCAT("{self._seed} ", STR(?s), " ", STR(?o))) AS ?k)',
                *([f"  FILTER({' && '.join(conditions)})"] if conditions else []),
                f"}} ORDER BY ?k LIMIT {self._size}",
            ]
        )


def _pair(row: Row, response: Rows) -> Pair:
    subject, value, key = row.get("s"), row.get("o"), row.get("k")
    if not isinstance(subject, Uri) or value is None or not isinstance(key, Literal):
        raise ServiceError(
            f"{response.address} answered with a pair without a subject, object or MD5; use a service that supports "
            "SPARQL 1.1"
        )
    return Pair(key.value, subject, value, response)


def _order(pair: Pair) -> tuple[str, str, str, str]:
    if isinstance(pair.object, Literal):
        return pair.key, pair.object.value, pair.object.datatype or "", pair.object.language or ""
    return pair.key, pair.object, "", ""
