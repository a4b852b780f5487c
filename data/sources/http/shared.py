"""Sessions that the steps of one process share, so that a service's limits hold over all of them."""

import os
import threading
from datetime import datetime
from pathlib import Path

from pyrate_limiter import Limiter

from data.sources.http.limits import Service
from data.sources.http.session import Session, limiter_of

_Arguments = tuple[Service, str | None, Path, bool, datetime | None]
_Rate = tuple[str, float]

_lock = threading.Lock()
_process = os.getpid()
_sessions: dict[_Arguments, Session] = {}
_limiters: dict[_Rate, Limiter] = {}


def shared_session(
    service: Service, *, contact: str | None, cache: Path, offline: bool = False, not_before: datetime | None = None
) -> Session:
    """The process's one open session for these arguments, which all of its threads may use.

    Sessions with the same address share its requests per minute, whatever their other arguments. A run's budget
    (`max_requests`, `max_minutes`) lasts until `close_sessions`.

    Args:
        service: The service and its limits.
        contact: An e-mail address or URL of whoever runs this.
        cache: The folder of cached responses.
        offline: Whether only cached responses are used.
        not_before: Responses cached before this moment (UTC) are requested again.

    Raises:
        ServiceError: The contact is missing, or the address is not valid.
        WorkspaceError: The cache cannot be used.
    """
    arguments = (service, contact, cache.absolute(), offline, not_before)
    with _lock:
        _forget_those_of_the_parent()
        session = _sessions.get(arguments)
        if session is None or session.is_closed:
            rate = (service.address, service.requests_per_minute)
            limiter = _limiters.setdefault(rate, limiter_of(service))
            session = _sessions[arguments] = Session(
                service, contact=contact, cache=cache, offline=offline, not_before=not_before, limiter=limiter
            )
        return session


def close_sessions() -> None:
    """Closes all shared sessions of this process: waiting threads are woken, and the next run counts from 0."""
    with _lock:
        _forget_those_of_the_parent()
        for session in _sessions.values():
            session.close()
        for limiter in _limiters.values():
            limiter.close()
        _sessions.clear()
        _limiters.clear()


def _forget_those_of_the_parent() -> None:
    """A forked process has its parent's sessions, whose connections and database it must not use."""
    global _process
    if _process != os.getpid():
        _process = os.getpid()
        _sessions.clear()
        _limiters.clear()
