"""Sessions that the steps of one process share, so that a service's limits hold over all of them."""

import os
import threading
from datetime import datetime
from pathlib import Path

from pyrate_limiter import Limiter

from data.sources.http.services import Service
from data.sources.http.session import Session, limiter_of

_lock = threading.Lock()
_sessions: dict[tuple[Service, str | None, Path, bool, datetime | None], Session] = {}
_limiters: dict[tuple[str, float], Limiter] = {}


def shared_session(
    service: Service, *, contact: str | None, cache: Path, offline: bool = False, not_before: datetime | None = None
) -> Session:
    """The process's one open session for these arguments (those of `Session`), which all of its threads may use.

    Sessions with the same address share its requests per minute. A run's budget lasts until `close_sessions`.
    """
    arguments = (service, contact, cache.absolute(), offline, not_before)
    with _lock:
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
        for session in _sessions.values():
            session.close()
        for limiter in _limiters.values():
            limiter.close()
        _forget()


def _forget() -> None:
    _sessions.clear()
    _limiters.clear()


# A forked process has its parent's sessions, whose connections and database it must not use.
os.register_at_fork(after_in_child=_forget)
