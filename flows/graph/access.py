"""How the steps of a study reach services: settings that travel with a step, and the sessions of its process."""

from dataclasses import dataclass, field
from pathlib import Path

from data.sources.access import ServiceAccess
from data.sources.http.limits import Service
from data.storage.workspace import Workspace
from flows.graph.step import Run, Step
from flows.study.study import Study


@dataclass(frozen=True)
class ServiceSettings:
    """The study's settings of services, its contact, and the folder of cached responses that it names."""

    services: dict[str, Service] = field(default_factory=dict)
    contact: str | None = None
    cache: Path | None = None

    @classmethod
    def of(cls, study: Study) -> "ServiceSettings":
        """The settings of a study."""
        part = study.services
        return cls(part.by_name(), part.asked_by, Path(part.cache).expanduser() if part.cache else None)

    def access_of(self, workspace: Workspace) -> ServiceAccess:
        """Access that tells addresses and downloaded files, for keys; nothing is asked."""
        return ServiceAccess(workspace.downloads, self.services, self.contact, self.cache, offline=True)

    def access(self, run: Run, step: Step) -> ServiceAccess:
        """Access for a step of a run."""
        downloads = Workspace(run.workspace).downloads
        return ServiceAccess(
            downloads, self.services, self.contact, self.cache, run.offline, step.not_before, step.refreshed
        )
