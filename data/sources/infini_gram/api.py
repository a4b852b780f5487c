"""infini-gram's public API: an index is asked by its name. Its answers are cached for a year.

    count           how often tokens stand in the corpus; the tokens of a text are in the answer
    count of a CNF  (A OR B) AND (C OR D): how often the rarer clause stands near the other; of a frequent clause a
                    sample, which the answer does not always say; without some pairs near the ends of documents
    find_cnf        where tokens stand
    get_doc_by_ptr  the document around such a place

Source: https://infini-gram.readthedocs.io/en/latest/api.html
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.answer import TransientError, misread
from swaymeter.data.sources.infini_gram.index import Ids, Passage, Place, Tokenizer, passage_of

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

_WIDTH = 2
"""Bytes of a token in every index of the API."""
_MOST = 2**63
"""More than any count, or place."""
_LARGEST_CLAUSE = 500_000
_MOST_TERMS = 4
_FARTHEST = 1000
_PASSING = re.compile(r"time[d -]*out|try again|internal server error|request error", re.IGNORECASE)
_IS_OPERATOR = re.compile(r" (?=(?:AND|OR) )")

Read = TypeVar("Read")


class InfiniGramApi:
    """An index of the public API; attributes and methods as in `LocalIndex`. ServiceError where it cannot answer."""

    per_word = 1.35
    longest = 10_000

    def __init__(self, session: "Session", index: str, tokenizer: Tokenizer | None = None) -> None:
        """An index by its name at the API; without its tokenizer, documents cannot be read."""
        self._session, self._index, self._tokenizer = session, index, tokenizer
        self.reads = tokenizer is not None
        self._counts: dict[Ids, int] = {}

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name as the API makes them, behind a space; others by the tokenizer.

        An AND or OR within a name is a word of it. ServiceError where the tokenizer reads other text in the tokens.
        """
        answers = [self._ask(_counted, "count", query=part) for part in _IS_OPERATOR.split(name)]
        ids = tuple(token for of_part, _ in answers for token in of_part)
        if len(answers) == 1:
            self._counts[ids] = answers[0][1]
        if self._tokenizer is None:
            return (ids,)
        if _plain(text := self._tokenizer.decode(ids)) != _plain(name):
            raise ServiceError(
                f"infini-gram: the tokens of {name!r} in {self._index} are {text!r} by the tokenizer that "
                "`frequency.tokenizer` names; name that of the index, or none"
            )
        return tuple(dict.fromkeys((ids, *self._tokenizer.spellings(name)[1:])))

    def alone(self, word: str) -> tuple[Ids, ...]:
        """The tokens of a word behind a space; a longer one may begin with them."""
        return self.spellings(word)[:1]

    def count(self, ids: Ids) -> int:
        """How often the tokens stand in the corpus; of none, how many tokens it has."""
        if ids in self._counts:
            return self._counts[ids]
        query: dict[str, Any] = {"query_ids": list(ids)} if ids else {"query": ""}
        return self._ask(_number, "count", **query)

    def near(self, clauses: Sequence[Sequence[Ids]], tokens: int) -> int:
        """An estimate, also where the API says that it is none; of a clause, the first four names are asked for."""
        cnf = [[list(ids) for ids in clause[:_MOST_TERMS]] for clause in clauses]
        limits = {"max_clause_freq": _LARGEST_CLAUSE, "max_diff_tokens": min(tokens, _FARTHEST)}
        return self._ask(_number, "count", query_ids=cnf, **limits)

    def places(self, ids: Ids) -> Sequence[Place]:
        """Every place where the tokens stand."""
        return self._ask(_places, "find_cnf", query_ids=[[list(ids)]], max_clause_freq=_LARGEST_CLAUSE)

    def passage(self, place: Place, ids: Ids, most: int) -> Passage:
        """At most so many tokens around the tokens at a place."""
        where = {"s": place.part, "ptr": place.byte, "max_disp_len": most}
        read = lambda content: passage_of(place, ids, _WIDTH, most, content)  # noqa: E731
        return self._ask(read, "get_doc_by_ptr", query_ids=[[list(ids)]], **where)

    def text(self, ids: Ids) -> str:
        """The text of tokens."""
        assert self._tokenizer is not None
        return self._tokenizer.decode(ids)

    def _ask(self, read: Callable[[Any], Read], query_type: str, **fields: Any) -> Read:
        """What `read` finds in an answer; ServiceError where it is an error, or of another form."""
        misreading = misread(read)

        def problem(content: Any) -> ServiceError | TransientError | None:
            if not isinstance(content, dict):
                return TransientError("no JSON object")
            if "error" in content:
                message = str(content["error"])
                return TransientError(message) if _PASSING.search(message) else ServiceError(message)
            return misreading(content)

        form = {"index": self._index, "query_type": query_type, **fields}
        allow = (200, 400, 500)  # errors are told in JSON
        answer = self._session.ask(form, method="POST", as_json=True, allow=allow, error_of=problem)
        return read(answer.content)


def _plain(text: str) -> list[str]:
    """The words of a text, as tokenizers may have put together its letters and accents."""
    return unicodedata.normalize("NFC", text).split()


def _number(content: Any) -> int:
    count = content["count"]
    if type(count) is not int or not 0 <= count < _MOST:
        raise ValueError("count is not a number")
    return count


def _counted(content: Any) -> tuple[Ids, int]:
    ids = content["token_ids"]
    if not ids or any(type(token) is not int or not 0 <= token < 256**_WIDTH for token in ids):
        raise ValueError("token_ids are not tokens")
    return tuple(ids), _number(content)


def _places(content: Any) -> list[Place]:
    places = [Place(part, byte) for part, bytes_ in enumerate(content["ptrs_by_shard"]) for byte in bytes_]
    if any(type(place.byte) is not int or not 0 <= place.byte < _MOST for place in places):
        raise ValueError("places are not numbers")
    if len(places) != content["cnt"]:
        raise ValueError("other places than counted")
    return places
