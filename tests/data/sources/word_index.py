"""A slow imitation of infini-gram's API: an index whose tokens are words, spaces and signs."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from swaymeter.data.sources.infini_gram import Ids
from tests.data.sources.servers.faults import FaultServer, ServedRequest, ServedResponse, json_response, serving

END = 65535
_PIECE = re.compile(r" ?\w+|\s|[^\w\s]")


class WordIndex:
    """Documents as tokens: words with the space before them, white space and signs; also the tokenizer."""

    def __init__(self, documents: Sequence[str], parts: int = 1) -> None:
        """Deal the documents in turn to the parts of the index."""
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        dealt = [documents[part::parts] for part in range(parts)]
        self.parts = [[token for text in texts for token in (END, *self._encode(text))] for texts in dealt]
        self._positions: dict[tuple[int, int], list[int]] = {}
        for part in self.parts:
            for position, token in enumerate(part):
                self._positions.setdefault((id(part), token), []).append(position)

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """Return the tokens of a name after a space and elsewhere; pieces that no document has get new numbers."""
        return tuple(self._encode(f" {name}")), tuple(self._encode(name))

    def decode(self, ids: Ids) -> str:
        return "".join(self._texts[token] for token in ids)

    def _encode(self, text: str) -> list[int]:
        for piece in (pieces := _PIECE.findall(text)):
            if piece not in self._numbers:
                self._numbers[piece] = len(self._texts)
                self._texts.append(piece)
        return [self._numbers[piece] for piece in pieces]

    @contextmanager
    def served(self, *, has_offset: bool = True) -> Iterator[FaultServer]:
        """Serve the API; `has_offset` adds the undocumented field with the position of the tokens in a document."""
        with serving(play=lambda request: self._answer(request, has_offset)) as server:
            yield server

    def _answer(self, request: ServedRequest, has_offset: bool) -> ServedResponse:
        data = json.loads(request.body)
        assert data.pop("index") == "pieces"
        kind, ids = data.pop("query_type"), data.get("query_ids")
        if "query" in data:
            ids = list(self.spellings(data["query"])[0]) if data["query"] else []
        if kind == "find_cnf":
            offsets = [[2 * position for position in self._occurrences(part, ids[0])] for part in self.parts]
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
        total = sum(map(len, self.parts))
        count = sum(len(self._occurrences(part, [ids])) for part in self.parts) if ids else total
        return json_response({"count": count, "approx": False, "latency": 0.7, "token_ids": ids})

    def _clause(self, clause: list[list[int]]) -> list[int]:
        return [
            10**9 * number + position
            for number, part in enumerate(self.parts)
            for position in self._occurrences(part, clause)
        ]

    def _occurrences(self, part: list[int], names: list[list[int]]) -> list[int]:
        starts = [(start, name) for name in names for start in self._positions.get((id(part), name[0]), [])]
        return sorted(start for start, name in starts if part[start : start + len(name)] == name)

    def _document(self, number: int, position: int, limit: int, has_offset: bool) -> dict[str, Any]:
        part = self.parts[number]
        first = position
        while part[first - 1] != END:
            first -= 1
        last = part.index(END, position) if END in part[position:] else len(part)
        begin, end = max(first, position - limit // 2), min(last, position + (limit + 1) // 2)
        offset = {"needle_offset": position - begin} if has_offset else {}
        ids = part[begin:end]
        return {
            "doc_ix": part[:position].count(END) - 1,
            "doc_len": last - first,
            "disp_len": len(ids),
            "token_ids": ids,
            "spans": [[self.decode(tuple(ids)), None]],
            **offset,
        }
