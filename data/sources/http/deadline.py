"""A deadline over the whole of a response: status line, headers, 100 Continue, body, chunk extensions and trailers.

The timeouts of sockets count the seconds without data, so that a server which sends a byte now and then would be
listened to for ever. Here every read of a connection passes through one reader that knows when the response began.
"""

import io
import socket
import time
from http.client import HTTPResponse
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

TIMEOUTS = 2
"""A whole response may take so many times the timeout: once until it begins, and once more until it is complete."""


class Overdue(Exception):
    """A response that was not complete in time; seconds: how long it was read."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"still sends after {seconds:g} s")


class _Reader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        self._raw, self._connection = raw, connection
        self._timeout_s = connection.gettimeout() or 0.0
        self._until = time.monotonic() + TIMEOUTS * self._timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left = self._until - time.monotonic()
        if left > 0:
            self._connection.settimeout(min(left, self._timeout_s))
            try:
                return self._raw.readinto(buffer)
            except TimeoutError:
                if left >= self._timeout_s:
                    raise
        raise Overdue(TIMEOUTS * self._timeout_s)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self.fp = io.BufferedReader(_Reader(self.fp.detach(), sock))


class _Http(HTTPConnection):
    response_class = _Response


class _Https(HTTPSConnection):
    response_class = _Response


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class DeadlineAdapter(HTTPAdapter):
    """Connections whose responses raise Overdue where they are not complete in time, also those through a proxy."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Makes the manager of direct connections."""
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

    def proxy_manager_for(self, proxy: str, **named: Any) -> Any:
        """The manager of connections through an HTTP proxy."""
        manager = super().proxy_manager_for(proxy, **named)
        if not proxy.lower().startswith("socks"):  # whose connections have classes of their own
            manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
        return manager
