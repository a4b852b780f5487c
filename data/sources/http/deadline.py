"""A deadline over the whole of a response: status line, headers, 100 Continue, body, chunk extensions and trailers.

The timeouts of sockets count the seconds without data, so that a server which sends a byte now and then would be
listened to for ever. Here every read of a connection passes through one reader that knows when the response began.
"""

import io
import socket
import time
from contextlib import suppress
from functools import partial
from http.client import HTTPResponse
from typing import Any
from weakref import WeakValueDictionary

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool

TIMEOUTS = 2
"""A whole response may take so many times the timeout: once until it begins, and once more until it is complete."""


class Overdue(Exception):
    """A response that was not complete in time."""


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
        raise Overdue(f"still sends after {TIMEOUTS * self._timeout_s:g} s")

    def abort(self) -> None:
        with suppress(OSError):
            socket.socket.shutdown(self._connection, socket.SHUT_RDWR)

    def close(self) -> None:
        self._raw.close()
        super().close()


Readers = WeakValueDictionary[int, _Reader]


class _Response(HTTPResponse):
    def __init__(self, readers: Readers, sock: socket.socket, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        reader = _Reader(self.fp.detach(), sock)
        readers[id(reader)] = reader
        self.fp = io.BufferedReader(reader)


class DeadlineAdapter(HTTPAdapter):
    """Connections whose responses raise Overdue where they are not complete in time, also those through a proxy.

    Closing it ends the responses that are being read in other threads, too. connections: how many are kept open.
    """

    def __init__(self, connections: int = 10) -> None:
        self._readers = Readers()
        self._pools: dict[str, type[HTTPConnectionPool]] = {}
        connects = {"response_class": partial(_Response, self._readers)}
        pools: dict[str, Any] = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}
        for scheme, pool in pools.items():
            connection = type(pool.ConnectionCls.__name__, (pool.ConnectionCls,), connects)
            self._pools[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
        super().__init__(pool_maxsize=connections)

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Makes the manager of direct connections."""
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **named: Any) -> Any:
        """The manager of connections through an HTTP proxy."""
        manager = super().proxy_manager_for(proxy, **named)
        if not proxy.lower().startswith("socks"):  # whose connections have classes of their own
            manager.pool_classes_by_scheme = self._pools
        return manager

    def close(self) -> None:
        """Closes all connections."""
        for reader in (reference() for reference in self._readers.valuerefs()):
            if reader is not None:
                reader.abort()
        super().close()
