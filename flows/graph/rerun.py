"""What was asked to be made again, and since when: `--force` and `--refresh`, remembered until it is done.

A rerun is a request, not a removal: what was made before stays, and is used, until something newer takes its place. It
is kept in the workspace, so that a run that ends early is gone on with by the next, which asks again for nothing that
was answered since.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, TypeAdapter

from data.storage.files import written_whole
from flows.graph.step import StepId

Kind = Literal["force", "refresh"]

EXPIRES = timedelta(days=7)
"""A rerun that was not finished for so long is given up."""
SELECTION = {"relations", "models", "measures", "stages"}


@dataclass(frozen=True)
class Rerun:
    """A request to make again what matches and was made before it.

    kind: "force", or "refresh" for what changes by the day alone. selection: as plain values.
    """

    since: AwareDatetime
    kind: Kind
    selection: dict[str, Any]


@dataclass(frozen=True)
class Reruns:
    """The requests of a workspace, and which of them a step matches."""

    requests: tuple[Rerun, ...] = ()
    matches: Callable[[Rerun, StepId], bool] = lambda request, step: False

    def since(self, step: StepId, kind: Kind) -> datetime | None:
        """Nothing that the step made before then counts; None where anything does."""
        return max(
            (request.since for request in self.requests if request.kind == kind and self.matches(request, step)),
            default=None,
        )


_REQUESTS = TypeAdapter(list[Rerun])


def read_reruns(file: Path) -> list[Rerun]:
    """The requests that a file holds and that have not expired; none where it is damaged or missing."""
    try:
        requests = _REQUESTS.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return []
    now = datetime.now(UTC)
    return [request for request in requests if now - request.since < EXPIRES and request.selection.keys() == SELECTION]


def write_reruns(file: Path, requests: list[Rerun]) -> None:
    """Writes the requests, or removes the file where there are none."""
    if not requests:
        file.unlink(missing_ok=True)
        return
    with written_whole(file) as temporary:
        temporary.write_bytes(_REQUESTS.dump_json(requests, indent=1))
