"""An index of tokens for tests: the pieces of texts, counted slowly, as infini-gram's API answers."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from swaymeter.data.sources.infini_gram import Ids
from tests.data.sources.servers.faults import FaultServer, Say, ServedRequest, says, serving

END = 65535
_PIECE = re.compile(r" ?\w+|\s|[^\w\s]")


class Pieces:
    """Documents as tokens: a word with the space before it, white space, a sign."""

    def __init__(self, documents: Sequence[str], parts: int = 1) -> None:
        """The documents, dealt to so many parts in turn."""
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        dealt = [documents[part::parts] for part in range(parts)]
        self.parts = [[id_ for text in texts for id_ in (END, *self._known(text))] for texts in dealt]
        self._where: dict[tuple[int, int], list[int]] = {}
        for part in self.parts:
            for at, id_ in enumerate(part):
                self._where.setdefault((id(part), id_), []).append(at)

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name behind a space and elsewhere; a piece that no document has gets a number of its own."""
        return tuple(self._known(f" {name}")), tuple(self._known(name))

    def decode(self, ids: Ids) -> str:
        return "".join(self._texts[id_] for id_ in ids)

    def _known(self, text: str) -> list[int]:
        for piece in (pieces := _PIECE.findall(text)):
            if piece not in self._numbers:
                self._numbers[piece] = len(self._texts)
                self._texts.append(piece)
        return [self._numbers[piece] for piece in pieces]

    @contextmanager
    def served(self, *, says_where: bool = True) -> Iterator[FaultServer]:
        """The API; says_where: whether it says where in a document the tokens are, as its documentation does not."""
        with serving(play=lambda asked: self._answer(asked, says_where)) as server:
            yield server

    def _answer(self, asked: ServedRequest, says_where: bool) -> Say:
        data = json.loads(asked.body)
        assert data.pop("index") == "pieces"
        kind, ids = data.pop("query_type"), data.get("query_ids")
        if "query" in data:
            ids = list(self.spellings(data["query"])[0]) if data["query"] else []
        if kind == "find_cnf":
            places = [[2 * at for at in self._places(part, ids[0])] for part in self.parts]
            return says({"cnt": sum(map(len, places)), "approx": False, "ptrs_by_shard": places, "token_ids": ids})
        if kind == "get_doc_by_ptr":
            return says(self._document(data["s"], data["ptr"] // 2, data["max_disp_len"], says_where))
        assert kind == "count"
        if ids and isinstance(ids[0], list):
            assert all(clause and all(clause) for clause in ids), "infini-gram refuses an empty clause or name"
            rarer, other = sorted((self._clause(clause) for clause in ids), key=len)
            near = sum(any(abs(one - two) <= data["max_diff_tokens"] for two in other) for one in rarer)
            return says({"count": near, "approx": False, "token_ids": ids})
        total = sum(map(len, self.parts))
        count = sum(len(self._places(part, [ids])) for part in self.parts) if ids else total
        return says({"count": count, "approx": False, "latency": 0.7, "token_ids": ids})

    def _clause(self, clause: list[list[int]]) -> list[int]:
        return [10**9 * number + at for number, part in enumerate(self.parts) for at in self._places(part, clause)]

    def _places(self, part: list[int], names: list[list[int]]) -> list[int]:
        starts = [(at, name) for name in names for at in self._where.get((id(part), name[0]), [])]
        return sorted(at for at, name in starts if part[at : at + len(name)] == name)

    def _document(self, number: int, at: int, most: int, says_where: bool) -> dict[str, Any]:
        part = self.parts[number]
        first = at
        while part[first - 1] != END:
            first -= 1
        last = part.index(END, at) if END in part[at:] else len(part)
        begin, end = max(first, at - most // 2), min(last, at + (most + 1) // 2)
        where = {"needle_offset": at - begin} if says_where else {}
        ids = part[begin:end]
        return {
            "doc_ix": part[:at].count(END) - 1,
            "doc_len": last - first,
            "disp_len": len(ids),
            "token_ids": ids,
            "spans": [[self.decode(tuple(ids)), None]],
            **where,
        }
