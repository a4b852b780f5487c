"""Cached responses of a public service: one SQLite file per service, values in JSON.

A response is written in one transaction: a kill leaves all earlier responses and no partial one. Where a bit of it
changed, the request is sent again. Contacts, which are part of the request, and cookies are not cached.
"""

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import requests

from swaymeter.data.digests import sha256_of_json
from swaymeter.data.errors import ServiceClosed, WorkspaceError
from swaymeter.data.sources.http.answer import Reply
from swaymeter.data.storage.notes import json_object

log = logging.getLogger(__name__)

_BUSY_S = 30.0
_CREATE = "CREATE TABLE IF NOT EXISTS cached_responses (key TEXT PRIMARY KEY, value BLOB NOT NULL)"
_OTHERS = "SELECT type, name FROM sqlite_schema " \
    "WHERE type NOT IN ('table', 'index') OR tbl_name != 'cached_responses'"
_READ = "SELECT value FROM cached_responses WHERE key = ?"
_WRITE = "INSERT OR REPLACE INTO cached_responses VALUES (?, ?)"


def key_of(request: requests.PreparedRequest, moved_from: str = "") -> str:
    """The SHA-256 (hex) of a request's method, address with parameters, body, and accepted format.

    moved_from: the beginning of the address that does not count.
    """
    body = request.body.decode() if isinstance(request.body, bytes) else request.body
    parts = [request.method, (request.url or "").removeprefix(moved_from), body, request.headers.get("Accept")]
    return sha256_of_json(parts)


class HttpCache:
    """The cached responses of one file, for all threads; WorkspaceError where it cannot be used."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock, self.is_closed = file, threading.RLock(), False
        with self._usable():
            file.parent.mkdir(parents=True, exist_ok=True)
            if not all(os.access(place, os.W_OK) for place in (file.parent, file) if place.exists()):
                raise PermissionError("it cannot be written")
            if file.exists() and not file.is_file():
                raise OSError("it is not a file")
            self._database = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._database.execute("PRAGMA trusted_schema = OFF")
                if others := {*self._database.execute(_OTHERS).fetchall()}:  # a view or trigger runs when it is used
                    raise sqlite3.DatabaseError(f"it holds {', '.join(f'{kind} {name!r}' for kind, name in others)}")
                self._database.execute(_CREATE)
            except BaseException:
                self._database.close()
                raise

    def get(self, key: str) -> Reply | None:
        """The response under this key, however old; None if there is none, or, with a warning, if it is damaged."""
        with self._usable():
            row = self._database.execute(_READ, (key,)).fetchone()
        try:
            if row is None:
                return None
            content = json_object(row[0])
            if content.pop("sha256") != _checksum(key, content):
                raise ValueError("its checksum does not match")
            retrieved_at, reruns = datetime.fromisoformat(content["retrieved_at"]), frozenset(content.get("reruns", ()))
            return Reply(content["status"], content["body"].encode(), retrieved_at, reruns=reruns)
        except (ValueError, KeyError, TypeError) as error:
            log.warning("a cached response in %s is damaged (%s); the request is sent again", self._file, error)
            return None

    def put(self, key: str, response: Reply, address: str) -> None:
        """Caches a response of JSON or text in UTF-8 and replaces an earlier one; on return it is on disk."""
        content: dict[str, object] = {
            "status": response.status,
            "retrieved_at": response.retrieved_at.astimezone(UTC).isoformat(),
            "address": address,
            "body": response.body.decode(errors="replace"),
            "reruns": sorted(response.reruns),
        }
        sealed = json.dumps({**content, "sha256": _checksum(key, content)}, ensure_ascii=False).encode()
        with self._usable():
            self._database.execute(_WRITE, (key, sealed))

    def close(self) -> None:
        """Closes the file after the current reads and writes of other threads."""
        with self._lock:
            self.is_closed = True
            self._database.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            with self._lock:
                if self.is_closed:
                    raise ServiceClosed(f"the cached responses of {self._file} are closed; open a new session")
                yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last of a message that quotes damaged text
            raise WorkspaceError(
                f"the cached responses in {self._file} cannot be used: {error}; free space on a full disk, remove the "
                "file where it is damaged, and run again"
            ) from None


def _checksum(key: str, content: dict[str, object]) -> str:
    return sha256_of_json([key, content], sort_keys=True)
