"""Cached responses of a service in one SQLite file.

A response is written in one transaction, so that a kill leaves no partial response. A damaged response is requested
again. The user's contact, cookies and API keys are not cached.
"""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import requests

from swaymeter.data.digests import sha256_of_json
from swaymeter.data.errors import ServiceClosed, WorkspaceError
from swaymeter.data.sources.http.response import Response
from swaymeter.data.storage.notes import seal, unseal

log = logging.getLogger(__name__)

_BUSY_S = 30.0
"""Seconds to wait while another process writes into the file."""
_CREATE = "CREATE TABLE IF NOT EXISTS cached_responses (key TEXT PRIMARY KEY, value BLOB NOT NULL)"


def key_of(request: requests.PreparedRequest, prefix: str = "") -> str:
    """Return the SHA-256 (hex) of a request's method, address, body and accepted format.

    Args:
        request: The request.
        prefix: The beginning of the address that the key leaves out; "" for none.
    """
    body = request.body.decode() if isinstance(request.body, bytes) else request.body
    parts = [request.method, (request.url or "").removeprefix(prefix), body, request.headers.get("Accept")]
    return sha256_of_json(parts)


class HttpCache:
    """The cached responses of one file, for all threads; WorkspaceError if the file cannot be used."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.Lock()
        with self._locked():
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._database.execute(_CREATE)
            except BaseException:
                self._database.close()
                raise

    def get(self, key: str) -> Response | None:
        """Return the response of a key, however old; None if it is missing or damaged. Damage is logged."""
        with self._locked():
            row = self._database.execute("SELECT value FROM cached_responses WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        try:
            content = unseal(row[0])
            if content["key"] != key:
                raise ValueError("the response belongs to another request")
            retrieved_at = datetime.fromisoformat(content["retrieved_at"])
            return Response(content["status"], content["body"].encode(), retrieved_at, rerun=content["rerun"])
        except (ValueError, KeyError, TypeError) as error:
            log.warning("a cached response in %s is damaged (%s); the request is sent again", self._file, error)
            return None

    def put(self, key: str, response: Response) -> None:
        """Write a response to disk, in place of an earlier response of the key."""
        content = {
            "key": key,
            "status": response.status,
            "retrieved_at": response.retrieved_at.astimezone(UTC).isoformat(),
            "rerun": response.rerun,
            "body": response.body.decode(errors="replace"),
        }
        row = key, seal(content).encode()
        with self._locked():
            self._database.execute("INSERT OR REPLACE INTO cached_responses VALUES (?, ?)", row)

    def close(self) -> None:
        """Close the file, once other threads have finished their reads and writes."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock; ServiceClosed after `close`, and WorkspaceError if the file cannot be used."""
        try:
            with self._lock:
                yield
        except sqlite3.ProgrammingError:
            raise ServiceClosed(f"the cache {self._file} is closed; open a new session") from None
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # SQLite may quote damaged text in a message
            raise WorkspaceError(
                f"the cached responses in {self._file} cannot be used: {error}; free space if the disk is full, "
                "remove the file if it is damaged, and run again"
            ) from None
