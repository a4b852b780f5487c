"""A slow imitation of infini-gram's API: an index whose tokens are words, spaces and signs."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from swaymeter.data.sources.infini_gram import Ids
from tests.data.sources.servers.faults import FaultServer, ServedRequest, ServedResponse, json_response, serving

END = "\uffff"
_TOKEN = re.compile(r" ?\w+|\s|[^\w\s]")


class WordIndex:
    """An index of documents, and its tokenizer.

    A token is a word (with the space before it, if any), another white space or a sign. Each part of the index is a
    string. In the string, a token is the character whose code is the token's number. END stands before each document.
    """

    def __init__(self, documents: Sequence[str], parts: int = 1) -> None:
        """Deal the documents in turn to the parts of the index."""
        self._numbers: dict[str, int] = {}
        self._parts = ["".join(END + self._encode(text) for text in documents[part::parts]) for part in range(parts)]

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """Return the tokens of a name after a space and without it; tokens that no document has get new numbers."""
        return tuple(tuple(map(ord, self._encode(text))) for text in (f" {name}", name))

    def decode(self, ids: Ids) -> str:
        texts = list(self._numbers)
        return "".join(texts[token] for token in ids)

    def _encode(self, text: str) -> str:
        return "".join(chr(self._numbers.setdefault(token, len(self._numbers))) for token in _TOKEN.findall(text))

    @contextmanager
    def served(self, *, has_offset: bool = True) -> Iterator[FaultServer]:
        """Serve the API; `has_offset` adds an undocumented field: the position of the requested tokens in a passage."""
        with serving(play=lambda request: self._answer(request, has_offset)) as server:
            yield server

    def _answer(self, request: ServedRequest, has_offset: bool) -> ServedResponse:
        data = json.loads(request.body)
        assert data.pop("index") == "pieces"
        kind, ids = data.pop("query_type"), data.get("query_ids")
        if "query" in data:
            ids = list(self.spellings(data["query"])[0]) if data["query"] else []
        if kind == "find_cnf":
            # a pointer of infini-gram counts bytes, and each token has two
            offsets = [[2 * position for position in positions] for positions in self._positions(ids[0])]
            return json_response(
                {"cnt": sum(map(len, offsets)), "approx": False, "ptrs_by_shard": offsets, "token_ids": ids}
            )
        if kind == "get_doc_by_ptr":
            return json_response(self._document(data["s"], data["ptr"] // 2, data["max_disp_len"], has_offset))
        assert kind == "count"
        if ids and isinstance(ids[0], list):
            assert all(clause and all(clause) for clause in ids), "infini-gram refuses an empty clause or name"
            rarer, other = sorted((self._clause(clause) for clause in ids), key=len)
            near = sum(any(abs(first - second) <= data["max_diff_tokens"] for second in other) for first in rarer)
            return json_response({"count": near, "approx": False, "token_ids": ids})
        count = sum(map(len, self._positions([ids]) if ids else self._parts))
        return json_response({"count": count, "approx": False, "latency": 0.7, "token_ids": ids})

    def _clause(self, clause: list[list[int]]) -> list[int]:
        """Return the positions of the names in all parts; names in different parts are never near each other."""
        positions_by_part = enumerate(self._positions(clause))
        return [10**9 * number + position for number, positions in positions_by_part for position in positions]

    def _positions(self, names: list[list[int]]) -> list[list[int]]:
        """Return the positions of names in each part of the index, also of names that overlap."""
        patterns = [f"(?={re.escape(''.join(map(chr, name)))})" for name in names]
        return [
            sorted(match.start() for pattern in patterns for match in re.finditer(pattern, part))
            for part in self._parts
        ]

    def _document(self, number: int, position: int, limit: int, has_offset: bool) -> dict[str, Any]:
        part = self._parts[number]
        first, last = part.rindex(END, 0, position) + 1, (part + END).index(END, position)
        begin, end = max(first, position - limit // 2), min(last, position + (limit + 1) // 2)
        offset = {"needle_offset": position - begin} if has_offset else {}
        ids = list(map(ord, part[begin:end]))
        return {
            "doc_ix": part.count(END, 0, position) - 1,
            "doc_len": last - first,
            "disp_len": len(ids),
            "token_ids": ids,
            "spans": [[self.decode(tuple(ids)), None]],
            **offset,
        }
