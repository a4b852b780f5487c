"""What was asked to be made again, and since when: `--force` and `--refresh`, remembered until it is done.

A rerun is a request, not a removal: what was made before stays, and is used, until something newer takes its place. It
is kept in the workspace: if a run ends early, the next one continues it, and repeats nothing that was answered since.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, TypeAdapter

from swaymeter.data.errors import DamagedFile, first_line
from swaymeter.data.storage.notes import note_of, unsealed, write_sealed
from swaymeter.flows.graph.step import StepId

Kind = Literal["force", "refresh"]
REQUESTED: tuple[Kind, Kind] = ("force", "refresh")

EXPIRES = timedelta(days=7)
"""A rerun that was not finished for so long is given up."""
SELECTION = {"relations", "models", "measures", "stages"}


@dataclass(frozen=True)
class Rerun:
    """A request to make matching steps again, unless that was already done for this request.

    since: when it was asked, by the clock of that host; it also tells the request from others. kind: "force", or
    "refresh" for what changes by the day alone. selection: as plain values. study: the study that it is for; empty, as
    older versions wrote it, for every study of the workspace.
    """

    since: AwareDatetime
    kind: Kind
    selection: dict[str, Any]
    study: str = ""

    @property
    def name(self) -> str:
        """What artifacts and cached responses that answer it note."""
        return self.since.isoformat()

    def is_for(self, study: str) -> bool:
        """Whether it is for this study."""
        return self.study in ("", study)


def asked_at(name: str) -> datetime:
    """When the request of a name was made, by the clock of that host."""
    return datetime.fromisoformat(name)


@dataclass(frozen=True)
class Reruns:
    """The requests of a workspace, and which of them a step matches."""

    requests: tuple[Rerun, ...] = ()
    matches: Callable[[Rerun, StepId], bool] = lambda request, step: False

    def of(self, step: StepId, kind: Kind) -> frozenset[str]:
        """The names of the requests of a kind that match a step; its output is valid where it answers all of them."""
        return frozenset(
            request.name for request in self.requests if request.kind == kind and self.matches(request, step)
        )


_REQUESTS = TypeAdapter(list[Rerun])


def read_reruns(file: Path) -> list[Rerun]:
    """The requests that a file holds and that have not expired; DamagedFile where it cannot be read."""
    try:
        requests = _REQUESTS.validate_python(unsealed(note_of(file))["requests"])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError) as error:
        raise DamagedFile(
            f"{file}, which notes what is to be made again, cannot be read ({first_line(error)}); remove it, and ask "
            "again by --force or --refresh"
        ) from None
    now = datetime.now(UTC)
    return [request for request in requests if now - request.since < EXPIRES and request.selection.keys() == SELECTION]


def write_reruns(file: Path, requests: list[Rerun]) -> None:
    """Writes the requests, or removes the file where there are none."""
    if not requests:
        file.unlink(missing_ok=True)
        return
    write_sealed(file, {"requests": _REQUESTS.dump_python(requests, mode="json")})
