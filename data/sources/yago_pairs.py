"""The pairs of a relation in an order that is drawn once and for all, page by page.

A pair's key is the MD5 of the seed and the two terms as the graph writes them; the smallest keys come first. So the
first n pairs are a sample of n, the same on every day and from every service that holds the same graph, whatever
pages they came in: a page asks for keys of a beginning (a prefix of hexadecimal digits) and beyond the last key seen.
What needs too long is asked again in sixteen parts, each of keys that begin with one digit more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from data.catalog import Relation
from data.errors import ServiceError, ServiceTimeout
from data.sources.sparql import Literal, Row, Rows, SparqlStore, Term, Uri, iri, iris, string

DIGITS = "0123456789abcdef"
DEEPEST = 3
"""Digits of the longest beginning: below a 4,096th part of a relation, smaller ones need as long."""
SMALLEST_PAGE = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """Two terms that the graph joins under a relation, the sampling key, and the answer that holds them."""

    key: str
    subject: Uri
    object: Term
    answer: Rows

    def directed(self, relation: Relation) -> tuple[Term, Term]:
        """Who is asked about, and what is answered."""
        return (self.object, self.subject) if relation.reverse else (self.subject, self.object)


def sampled_pairs(store: SparqlStore, relation: Relation, *, seed: int, page: int) -> Iterator[Pair]:
    """Every pair of the relation that has IRIs where there must be some, in the order of the keys.

    page: how many pairs are asked for at once, at first; it changes nothing else. Literals in other languages than
    English are left out. ServiceTimeout where even small parts need too long.
    """
    yield from _Pages(store, relation, seed, max(page, 2)).beginning_with("", "")


def joined(relation: Relation, subject: str, object: str) -> str:
    """The triple pattern of the relation between two variables."""
    if len(relation.yago) == 1:
        return f"{subject} {iri(relation.yago[0])} {object} ."
    return f"VALUES ?p {{ {iris(relation.yago)} }} {subject} ?p {object} ."


class _Pages:
    def __init__(self, store: SparqlStore, relation: Relation, seed: int, size: int) -> None:
        self._store, self._relation, self._seed, self._size = store, relation, seed, size

    def beginning_with(self, prefix: str, after: str) -> Iterator[Pair]:
        while True:
            try:
                answer = self._store.select(self._query(prefix, after))
            except ServiceTimeout:
                if len(prefix) == DEEPEST:
                    raise
                self._size = max(SMALLEST_PAGE, self._size // 2)
                break
            found = sorted((_pair(row, answer) for row in answer.rows), key=_order)
            if len(answer) < self._size:
                yield from found
                return
            # A full page may have lost some pairs of its last key to the next one.
            whole = [pair for pair in found if pair.key < found[-1].key]
            if whole:
                after = whole[-1].key
            else:
                self._size *= 2
            yield from whole
        for digit in DIGITS:
            part = prefix + digit
            if part >= after[: len(part)]:
                yield from self.beginning_with(part, after if after.startswith(part) else "")

    def _query(self, prefix: str, after: str) -> str:
        limits = [f"STRSTARTS(?k, {string(prefix)})"] if prefix else []
        limits += [f"?k > {string(after)}"] if after else []
        literal = "" if self._relation.reverse else ' || LANG(?o) = "" || LANGMATCHES(LANG(?o), "en")'
        return "\n".join(
            [
                "SELECT ?s ?o ?k WHERE {",
                f"  {joined(self._relation, '?s', '?o')}",
                f"  FILTER(isIRI(?s) && (isIRI(?o){literal}))",
                f'  BIND(MD5(CONCAT("{self._seed} ", STR(?s), " ", STR(?o))) AS ?k)',
                *([f"  FILTER({' && '.join(limits)})"] if limits else []),
                f"}} ORDER BY ?k LIMIT {self._size}",
            ]
        )


def _pair(row: Row, answer: Rows) -> Pair:
    subject, found, key = row.get("s"), row.get("o"), row.get("k")
    if not isinstance(subject, Uri) or found is None or not isinstance(key, Literal):
        raise ServiceError(f"{answer.address} answered a pair without its MD5; a SPARQL 1.1 service computes it")
    return Pair(key.value, subject, found, answer)


def _order(pair: Pair) -> tuple[str, str, str, str]:
    if isinstance(pair.object, Literal):
        return pair.key, pair.object.value, pair.object.datatype or "", pair.object.language or ""
    return pair.key, pair.object, "", ""
