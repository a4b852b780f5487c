"""Access to services and downloads, as a value that a step can carry to another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from data.sources.http.limits import Service
from data.sources.http.services import SERVICES
from data.sources.http.session import Session
from data.sources.http.shared import shared_session

CHANGES_DAILY = ("wikidata_api", "wikipedia", "pageviews")
"""The services whose responses a refresh requests again."""


@dataclass(frozen=True)
class ServiceAccess:
    """How a study reaches services; sessions are opened at their first use.

    Attributes:
        downloads: the workspace's folder of downloaded files, loaded graphs and cached responses.
        services: what differs from SERVICES, by key.
        contact: an e-mail address or page of whoever runs the study.
        cache: the folder of cached responses; None for one below `downloads`.
        offline: whether only cached responses are used.
        not_before: older cached responses are not used (UTC): when a forced fetch began.
        refreshed: the same for services that change daily: when a refresh began.
    """

    downloads: Path
    services: Mapping[str, Service] = field(default_factory=dict)
    contact: str | None = None
    cache: Path | None = None
    offline: bool = False
    not_before: datetime | None = None
    refreshed: datetime | None = None

    def service(self, name: str) -> Service:
        """The service of that key, with the study's settings."""
        return self.services.get(name, SERVICES[name])

    def address(self, service: str) -> str:
        """The address of a service."""
        return self.service(service).address

    @property
    def only_refreshes(self) -> bool:
        """Whether only what changes daily is requested again, and cached pages are used."""
        return self.refreshed is not None and self.not_before is None

    def session(self, service: str) -> Session:
        """The session with a service, one for all threads of this process."""
        refreshed = self.refreshed if service in CHANGES_DAILY else None
        not_before = max((began for began in (self.not_before, refreshed) if began), default=None)
        cache = self.cache or self.downloads / "answers"
        return shared_session(
            self.service(service), contact=self.contact, cache=cache, offline=self.offline, not_before=not_before
        )
