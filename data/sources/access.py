"""Access to services and downloads, as a value that a step can carry to another process."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from swaymeter.data.sources.http.services import SERVICES, Service

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

GraphName = Literal["yago", "wikidata"]
CHANGES_DAILY = ("wikidata_api", "wikipedia", "pageviews")
"""Services whose data change daily; --refresh requests their responses again, except the texts of Wikipedia pages."""


@dataclass(frozen=True)
class Access:
    """The services that a study may reach, by their names in SERVICES.

    Attributes:
        downloads: The workspace's folder of downloaded files, loaded graphs and cached responses.
        services: Services by name, which replace services in SERVICES.
        contact: An e-mail address or page of the person who runs the study.
        cache: The folder of cached responses; None for a folder below `downloads`.
        offline: True to use only cached responses.
        forced: Time of the step's last `--force`, in milliseconds since 1970; 0 without one. Responses that were
            cached before this time are requested again.
        refreshed: Time of the step's last `--refresh`, in the same unit; it applies only to CHANGES_DAILY.
    """

    downloads: Path
    services: Mapping[str, Service] = field(default_factory=dict)
    contact: str | None = None
    cache: Path | None = None
    offline: bool = False
    forced: int = 0
    refreshed: int = 0

    def address(self, service: str) -> str:
        """Return the address of a service."""
        return self._service(service).address

    @property
    def only_refreshes(self) -> bool:
        """True if the step was refreshed, and never forced; cached Wikipedia pages are then used at any age."""
        return self.refreshed > 0 and not self.forced

    def session(self, service: str) -> "Session":
        """Return the session with a service; the first call opens it, and all threads of the process share it."""
        from swaymeter.data.sources.http.session import shared_session  # needs requests, which a bare GPU machine lacks

        rerun = max(self.forced, self.refreshed if service in CHANGES_DAILY else 0)
        cache = self.cache or self.downloads / "answers"
        return shared_session(
            self._service(service), contact=self.contact, cache=cache, offline=self.offline, rerun=rerun
        )

    def _service(self, name: str) -> Service:
        return self.services.get(name, SERVICES[name])


def close_sessions() -> None:
    """Close all sessions of this process: waiting threads wake, and the next run counts requests from 0."""
    session_module = sys.modules.get("swaymeter.data.sources.http.session")
    if session_module:  # otherwise no session is open
        session_module.close_sessions()
