"""infini-gram's public API: counts and passages of a corpus. Responses are cached for a year.

    count           the number of occurrences of tokens. If a text is sent, the response also has the text's tokens
    count of a CNF  an estimate of how often the rarer of two clauses stands near the other clause. A clause is a
                    choice of names: the conjunctive normal form (A OR B) AND (C OR D) has the clauses A OR B and
                    C OR D. The API samples a frequent clause, but not every response says so. The API misses some names
                    near the ends of documents
    find_cnf        the positions of all occurrences of tokens
    get_doc_by_ptr  the document around an occurrence

An index has tokens, not words: "Berlin" may have other tokens after a space than after a line break.

Source: https://infini-gram.readthedocs.io/en/latest/api.html
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.response import TransientError, reading_check

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

Ids = tuple[int, ...]
"""Tokens, by their numbers."""
_WIDTH = 2
"""Bytes of a token in every index of the API."""
_INT64_LIMIT = 2**63
"""Counts and offsets are smaller than this number."""
_LARGEST_CLAUSE = 500_000
"""Number of occurrences above which the API samples a clause."""
_MAX_TERMS = 4
"""Limit of the names of a clause."""
_MAX_DISTANCE = 1000
"""Limit of the tokens between two clauses that count as near."""
_TRANSIENT_MESSAGE = re.compile(r"time[d -]*out|try again|internal server error|request error", re.IGNORECASE)
_SPACE_BEFORE_OPERATOR = re.compile(r" (?=(?:AND|OR) )")

Read = TypeVar("Read")


class Occurrence(NamedTuple):
    """An occurrence of tokens in the index."""

    part: int
    """Number of the part of the index."""
    byte: int
    """Offset within the part, in bytes."""


@dataclass(frozen=True)
class Passage:
    """The tokens of a document around an occurrence."""

    document: tuple[int, int]
    """The document: the part of the index, and the document's number."""
    first: int
    """Position of the first token within the part, in tokens; 0 for a whole document or an unknown position."""
    ids: Ids
    at: int
    """Position of the occurrence within the passage, in tokens."""
    begins: bool
    """True if the passage begins where its document begins."""
    ends: bool
    """True if the passage ends where its document ends."""


class Tokenizer(Protocol):
    """The tokenizer that an index was made with."""

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """Return the tokens of a name after a space, and then its tokens after a line break if they differ."""

    def decode(self, ids: Ids) -> str:
        """Return the text of tokens."""


class InfiniGramApi:
    """An index of the public API; ServiceError if a response reports an error or is unreadable."""

    tokens_per_word = 1.35
    """Mean number of tokens of a word."""
    max_passage_tokens = 10_000
    """Limit of the tokens of a passage; an even number, because the requested tokens begin in the middle."""

    def __init__(self, session: "Session", index: str, tokenizer: Tokenizer | None = None) -> None:
        """Set the index; without its tokenizer, documents cannot be read."""
        self._session, self._index, self._tokenizer = session, index, tokenizer
        self.can_decode = tokenizer is not None
        self._counts: dict[Ids, int] = {}

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """Return the tokens of each spelling of a name.

        The API gives the tokens after a space, and the tokenizer gives the tokens after a line break.
        The API reads AND and OR between words as operators. So "war AND peace" is sent as "war" and "AND peace".

        Raises:
            ServiceError: The tokenizer decodes the tokens as another text.
        """
        responses = [self._ask(_tokens_and_count, "count", query=words) for words in _SPACE_BEFORE_OPERATOR.split(name)]
        ids = tuple(token for tokens, _ in responses for token in tokens)
        if len(responses) == 1:
            self._counts[ids] = responses[0][1]
        if self._tokenizer is None:
            return (ids,)
        if _plain(text := self._tokenizer.decode(ids)) != _plain(name):
            raise ServiceError(
                f"infini-gram: `frequency.tokenizer` decodes the tokens of {name!r} in {self._index} as {text!r}; name "
                "the tokenizer of the index, or leave `frequency.tokenizer` out"
            )
        return tuple(dict.fromkeys((ids, *self._tokenizer.spellings(name)[1:])))

    def after_space(self, word: str) -> tuple[Ids, ...]:
        """Return the tokens of a word after a space; these tokens may also begin a longer word."""
        return self.spellings(word)[:1]

    def count(self, ids: Ids) -> int:
        """Count the occurrences of tokens in the corpus; without tokens, return the size of the corpus in tokens."""
        if ids in self._counts:
            return self._counts[ids]
        query: dict[str, Any] = {"query_ids": list(ids)} if ids else {"query": ""}
        return self._ask(_count, "count", **query)

    def near(self, clauses: Sequence[Sequence[Ids]], max_distance: int) -> int:
        """Estimate how often a name of one clause stands near a name of the other clause.

        Args:
            clauses: The two clauses, each with the tokens of its names; only the first four names are used.
            max_distance: Limit of the tokens between the two names; the API allows at most 1,000 tokens.
        """
        cnf = [[list(ids) for ids in clause[:_MAX_TERMS]] for clause in clauses]
        limits = {"max_clause_freq": _LARGEST_CLAUSE, "max_diff_tokens": min(max_distance, _MAX_DISTANCE)}
        return self._ask(_count, "count", query_ids=cnf, **limits)

    def occurrences(self, ids: Ids) -> Sequence[Occurrence]:
        """Return every occurrence of the tokens."""
        return self._ask(_occurrences, "find_cnf", query_ids=[[list(ids)]], max_clause_freq=_LARGEST_CLAUSE)

    def passage(self, occurrence: Occurrence, ids: Ids, size: int) -> Passage:
        """Return at most `size` tokens around an occurrence."""

        def read(content: Any) -> Passage:
            return _passage_of(occurrence, ids, size, content)

        pointer = {"s": occurrence.part, "ptr": occurrence.byte, "max_disp_len": size}
        return self._ask(read, "get_doc_by_ptr", query_ids=[[list(ids)]], **pointer)

    def text(self, ids: Ids) -> str:
        """Return the text of tokens."""
        assert self._tokenizer is not None
        return self._tokenizer.decode(ids)

    def _ask(self, read: Callable[[Any], Read], query_type: str, **fields: Any) -> Read:
        check = reading_check(read)

        def problem(content: Any) -> ServiceError | TransientError | None:
            if not isinstance(content, dict):
                return TransientError("the response is not a JSON object")
            if "error" in content:
                message = str(content["error"])
                return TransientError(message) if _TRANSIENT_MESSAGE.search(message) else ServiceError(message)
            return check(content)

        form = {"index": self._index, "query_type": query_type, **fields}
        allow = (200, 400, 500)  # an error is also JSON, with status 400 or 500
        response = self._session.ask(form, method="POST", as_json=True, allow=allow, error_of=problem)
        return read(response.content)


def _plain(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()


def _count(content: Any) -> int:
    count = content["count"]
    if type(count) is not int or not 0 <= count < _INT64_LIMIT:
        raise ValueError("`count` is not a whole number from 0 to 2^63 - 1")
    return count


def _tokens_and_count(content: Any) -> tuple[Ids, int]:
    ids = content["token_ids"]
    if not ids or any(type(token) is not int or not 0 <= token < 256**_WIDTH for token in ids):
        raise ValueError("`token_ids` is empty or has an invalid token")
    return tuple(ids), _count(content)


def _occurrences(content: Any) -> list[Occurrence]:
    shards = enumerate(content["ptrs_by_shard"])
    occurrences = [Occurrence(part, offset) for part, offsets in shards for offset in offsets]
    if any(type(occurrence.byte) is not int or not 0 <= occurrence.byte < _INT64_LIMIT for occurrence in occurrences):
        raise ValueError("a position in `ptrs_by_shard` is not a whole number from 0 to 2^63 - 1")
    if len(occurrences) != content["cnt"]:
        raise ValueError(
            f"`cnt` is {content['cnt']}, but the number of positions in `ptrs_by_shard` is {len(occurrences)}"
        )
    return occurrences


def _passage_of(occurrence: Occurrence, needle: Ids, size: int, response: dict[str, object]) -> Passage:
    """Return the passage in a response; ValueError for a passage that is too short or does not contain the needle.

    The needle is the requested tokens. If the response has no offset of the needle, the needle is searched. In a whole
    document, the needle may begin anywhere. In a part of a document, the needle begins `size // 2` tokens after the
    beginning of the passage. If the document has fewer tokens before the needle, the needle begins `size // 2` tokens
    before the end of the passage.

    If a part of a document has the needle at both offsets, `begins` and `ends` are False. `begins` and `ends` are also
    False for a blocked document, of which the API gives only the needle.
    """
    ids, number, length = response["token_ids"], response["doc_ix"], response["doc_len"]
    if not isinstance(ids, list) or type(number) is not int or type(length) is not int:
        raise ValueError("`token_ids`, `doc_ix` or `doc_len` of the passage has a wrong type")
    if any(type(value) is not int or not 0 <= value < 256**_WIDTH for value in ids):
        raise ValueError("the passage has invalid tokens")
    tokens, half, document = tuple(ids), size // 2, (occurrence.part, number)
    if response.get("blocked"):
        return Passage(document, 0, needle, 0, begins=False, ends=False)
    is_whole = len(tokens) == length
    offset = response.get("needle_offset")
    candidates: Iterable[int] = (half, len(tokens) - half)
    if type(offset) is int:
        candidates = (offset,)
    elif is_whole:
        candidates = range(length)
    starts = sorted({start for start in candidates if start >= 0 and tokens[start : start + len(needle)] == needle})
    if not starts:
        raise ValueError("the passage does not contain the requested tokens")
    at = starts[0]
    if is_whole:
        return Passage(document, 0, tokens, at, begins=True, ends=True)
    if len(starts) > 1:
        return Passage(document, 0, tokens, 0, begins=False, ends=False)
    begins, ends = at < half, len(tokens) - at < half
    if begins and ends:
        raise ValueError("the passage is shorter than requested")
    return Passage(document, occurrence.byte // _WIDTH - at, tokens, at, begins, ends)


def merge_passages(passages: Iterable[Passage]) -> Iterator[Ids]:
    """Merge passages that overlap or adjoin, and yield their tokens; a whole document replaces its other passages."""
    ordered = sorted(passages, key=lambda passage: (passage.document, passage.first))
    for _, group in groupby(ordered, lambda passage: passage.document):
        document_passages = list(group)
        if whole := next((passage for passage in document_passages if passage.begins and passage.ends), None):
            yield whole.ids
            continue
        ids, first = list[int](), 0
        for passage in document_passages:
            overlap = first + len(ids) - passage.first
            if ids and overlap >= 0:
                ids += passage.ids[overlap:]
            else:
                if ids:
                    yield tuple(ids)
                ids, first = list(passage.ids), passage.first
        yield tuple(ids)
