"""SPARQL: terms, texts and IRIs in the syntax of queries, and any SPARQL 1.1 endpoint over HTTP.

The content of a graph is untrusted. A name or an IRI enters a query only through `string` and `iri`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from swaymeter.data.errors import InputError, ServiceError, ServiceTimeout, is_text, shown
from swaymeter.data.sources.http.response import TransientError, is_timeout_message, reading_check

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

RESULTS = "application/sparql-results+json"

# An absolute IRI. SPARQL forbids the excluded characters between < and >; a backslash could begin an escape of >.
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f<>\"{}|^`\\\ud800-\udfff]+")
_ADVICE = "use a service that supports SPARQL 1.1"
_ESCAPES = {'"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Uri(str):
    """An IRI in the graph's spelling."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Literal:
    """A value of a graph: a text, and its language or the IRI of its datatype, if any."""

    value: str
    datatype: str | None = None
    language: str | None = None


Term = Uri | Literal
Row = Mapping[str, Term]


@dataclass(frozen=True)
class Rows:
    """The response to a query.

    Attributes:
        rows: The rows without blank nodes, each with a term for every bound variable.
        address: The address of the graph.
        query: The query.
        retrieved_at: The time of the response (UTC), or of the load of a dump.
        rejected: Number of rows with blank nodes.
    """

    rows: tuple[Row, ...]
    address: str
    query: str
    retrieved_at: datetime
    rejected: int = 0

    def __len__(self) -> int:
        """Return the number of rows and rejected rows, because a LIMIT counts both."""
        return len(self.rows) + self.rejected


class SparqlStore(Protocol):
    """A graph that answers SELECT queries."""

    @property
    def address(self) -> str:
        """Return the address of the service, or the names of the files of a dump."""

    def select(self, query: str) -> Rows:
        """Return the rows of a query.

        Raises:
            ServiceTimeout: The query takes too long; a query about fewer items may be fast enough.
            ServiceError: The graph cannot answer.
        """


class Endpoint:
    """A SPARQL 1.1 endpoint."""

    def __init__(self, session: "Session") -> None:
        self._session, self.address = session, session.service.address

    def select(self, query: str) -> Rows:
        """Return the rows of a query; errors as in `SparqlStore.select`."""
        response = self._session.ask({"query": query}, method="POST", accept=RESULTS, error_of=_problem)
        rows = _rows(response.content)
        usable = tuple(row for row in rows if row is not None)
        return Rows(usable, self.address, query, response.retrieved_at, len(rows) - len(usable))


def bound(row: Row, variable: str) -> Term:
    """Return the row's term for a variable that the query always binds; ServiceError for an unbound variable."""
    if variable not in row:
        raise ServiceError(
            f"a SPARQL endpoint answered without the variable ?{variable} of the query: {str(row)[:200]}; {_ADVICE}"
        )
    return row[variable]


def count(term: Term) -> int:
    """Return the number of a COUNT; ServiceError if the term is no number."""
    if not isinstance(term, Literal) or not re.fullmatch(r"[0-9]{1,18}", term.value):
        raise ServiceError(f"a SPARQL endpoint answered {str(term)[:200]!r} instead of a count; {_ADVICE}")
    return int(term.value)


def is_iri(value: str) -> bool:
    """Return True for an absolute IRI without the characters that SPARQL forbids in IRIs, such as spaces and quotes."""
    return _IRI.fullmatch(value) is not None


def iri(value: str) -> str:
    """Return the IRI in the syntax of queries; InputError for an invalid IRI."""
    if not is_iri(value):
        raise InputError(
            f"{value[:200]!r} is not a valid absolute IRI; a SPARQL query needs an absolute IRI, such as http://example.org/x"
        )
    return f"<{value}>"


def iris(values: Iterable[str]) -> str:
    """Return IRIs in the syntax of VALUES; InputError for an invalid IRI."""
    return " ".join(map(iri, values))


def string(value: str, language: str | None = None) -> str:
    """Return a text in the syntax of queries, with its language if any; InputError for a lone surrogate."""
    if not is_text(value):
        raise InputError(f"{value[:200]!r} has a lone surrogate, which is not text; a SPARQL query needs text")

    def escape_backslash(match: re.Match[str]) -> str:
        # A backslash is doubled: \u0022 becomes \\u0022. Some services decode \uXXXX first, and would read the second
        # backslash and u0022 as a quote. So u or U after a backslash is written as \u0075 or \u0055.
        return "\\\\" + (f"\\u{ord(match[1]):04x}" if match[1] else "")

    escaped = re.sub(r"\\([uU]?)", escape_backslash, value)
    escaped = re.sub(r"[\"\n\r\t\b\f]", lambda match: _ESCAPES[match[0]], escaped)
    return f'"{escaped}"' + (f"@{language}" if language else "")


def _problem(content: Any) -> ServiceError | TransientError | None:
    """Return the error that a response reports, or an error for unreadable rows; None for readable rows."""
    reported = (content.get("error") or content.get("exception")) if isinstance(content, dict) else None
    if reported:
        message = reported if isinstance(reported, str) else shown(reported, 10_000)
        if is_timeout_message(message.encode(errors="replace")):
            return ServiceTimeout(f"{message[:200]}; choose fewer entities or pairs")
        return ServiceError(message)
    return reading_check(_rows)(content)


def _rows(content: Any) -> list[Row | None]:
    """Return the rows of a response; None for a row with a blank node."""
    rows: list[Row | None] = []
    bindings = content["results"]["bindings"]
    if not isinstance(bindings, list):
        raise TypeError("`results.bindings` is not a list")
    for binding in bindings:
        terms = {name: _term(value) for name, value in binding.items()}
        row = {name: term for name, term in terms.items() if term is not None}
        rows.append(row if len(row) == len(terms) else None)
    return rows


def _term(entry: Mapping[str, Any]) -> Term | None:
    """Return a term of a response; None for a blank node."""
    kind, value, datatype, language = entry["type"], entry["value"], entry.get("datatype"), entry.get("xml:lang")
    if not isinstance(value, str) or not isinstance(datatype, str | None) or not isinstance(language, str | None):
        raise TypeError("the value, datatype or language of a term is not text")
    if kind == "uri":
        return Uri(value)
    if kind in ("literal", "typed-literal"):  # SPARQL 1.0 endpoints write typed-literal
        return Literal(value, datatype, language)
    if kind == "bnode":
        return None
    raise TypeError("a term has a kind that SPARQL 1.1 does not have")
