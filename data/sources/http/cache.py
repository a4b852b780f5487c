"""Answers of a public service, kept on disk: one SQLite file per service, values in JSON, nothing that runs when read.

An answer is kept in one transaction, so a kill at any moment leaves all that was kept before, and nothing in part. Only
the answer is kept: not who asked (the contact stands in the request), and no cookies.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import requests
from requests.structures import CaseInsensitiveDict
from requests_cache.backends.sqlite import SQLiteCache
from requests_cache.models.response import CachedResponse

from data.errors import WorkspaceError

_BUSY_MS = 30_000
_TEXT = CaseInsensitiveDict({"Content-Type": "text/plain; charset=utf-8"})
"""By this the library keeps a body as text, and not in base 85."""


@dataclass(frozen=True)
class Kept:
    """An answer as it came, and when."""

    status: int
    body: bytes
    retrieved_at: datetime


def key_of(request: requests.PreparedRequest) -> str:
    """What tells one request from another: its method, address with parameters, body, and the wanted format."""
    body = request.body.decode() if isinstance(request.body, bytes) else request.body
    told = [request.method, request.url, body, request.headers.get("Accept")]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


class HttpCache:
    """The kept answers of one file, for all threads of a process; WorkspaceError where the file cannot be used."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = threading.Lock()
        with self._usable():
            file.parent.mkdir(parents=True, exist_ok=True)
            if not all(os.access(place, os.W_OK) for place in (file.parent, file) if place.exists()):
                raise PermissionError("it cannot be written")  # the library would try to, without end
            self._kept = SQLiteCache(file, serializer="json", decode_content=True, busy_timeout=_BUSY_MS)

    def get(self, key: str) -> Kept | None:
        """The answer under this key, however old; None without one that can be read."""
        with self._usable():
            found = self._kept.responses.get(key)
        if found is None or found.content is None:
            return None
        return Kept(found.status_code, found.content, found.created_at.astimezone(UTC))

    def put(self, key: str, answer: Kept, address: str) -> None:
        """Keeps an answer of text in place of any before it; on return it is on disk."""
        response = CachedResponse(
            content=answer.body,
            status_code=answer.status,
            url=address,
            headers=_TEXT,
            created_at=answer.retrieved_at,
            encoding="utf-8",
        )
        with self._writing, self._usable():
            self._kept.responses[key] = response
            kept = self.get(key)
            if kept is None or kept.retrieved_at != answer.retrieved_at:  # the library is silent about a full disk
                raise OSError("an answer could not be written; is the disk full?")

    def close(self) -> None:
        """Closes the file."""
        self._kept.close()  # type: ignore[no-untyped-call]

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise WorkspaceError(
                f"the answers kept in {self._file} cannot be used ({error}); "
                "if the file is damaged, remove it and run again"
            ) from None
