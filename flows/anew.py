"""A forced fetch asks everything anew, once: where it ends early, the next run of the same selection goes on with it.

So does a refresh, which asks anew what changes by the day: the edits of live questions and the views of their pages.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data.storage.keys import content_key
from data.storage.workspace import KEY_IN_NAME, Stored, written_whole
from flows.plan import Plan

GOES_ON = timedelta(days=7)
"""For so long the next runs go on with a fetch that did not come to its end; after that, another one begins."""


@dataclass(frozen=True)
class Since:
    """When the forced fetch began that a run is, or goes on with; None where it is none."""

    began: datetime | None
    note: Path

    def done(self) -> None:
        """Says that all of it is fetched: the next run does not go on with it."""
        self.note.unlink(missing_ok=True)


def since(plan: Plan, *, force: bool, name: str = "anew") -> Since:
    """The forced fetch of that name that this run is, or goes on with.

    It is noted in the workspace until it is done: where it is interrupted, a part of it fails, or a service has been
    asked enough for a day, the next runs go on with it, forced or not, and ask again for nothing that was answered.
    """
    note = plan.workspace.root / "downloads" / f"{name}-{content_key(asdict(plan.only))[:KEY_IN_NAME]}.txt"
    began, now = _read(note), datetime.now(UTC)
    if began is not None and now - began > GOES_ON:
        began = None
    if began is None and force:
        began = now
        with written_whole(note) as temporary:
            temporary.write_text(began.isoformat(), encoding="utf-8")
    return Since(began, note)


def is_wanted(stored: Stored, began: datetime | None) -> bool:
    """Whether the file is to be fetched: it is not there, or older than the forced fetch."""
    return not stored.exists() or (began is not None and stored.path.stat().st_mtime < began.timestamp())


def _read(note: Path) -> datetime | None:
    try:
        began = datetime.fromisoformat(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return began if began.tzinfo else None
