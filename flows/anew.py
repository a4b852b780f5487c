"""A forced fetch asks everything anew, once: where it is killed, the next run of the same selection goes on with it.

So does a refresh, which asks anew what changes by the day: the edits of live questions and the views of their pages.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from data.keys import content_key
from data.workspace import KEY_IN_NAME, Stored, written_whole
from flows.plan import Plan


@contextmanager
def since(plan: Plan, *, force: bool, name: str = "anew") -> Iterator[datetime | None]:
    """When the forced fetch of that name began that this run is, or goes on with; None where it is none.

    Noted in the workspace until the fetch has ended, well or not; only a run that is interrupted leaves the note.
    """
    note = plan.workspace.root / "downloads" / f"{name}-{content_key(asdict(plan.only))[:KEY_IN_NAME]}.txt"
    began = _read(note)
    if began is None and force:
        began = datetime.now(UTC)
        with written_whole(note) as temporary:
            temporary.write_text(began.isoformat(), encoding="utf-8")
    yield began
    note.unlink(missing_ok=True)


def is_wanted(stored: Stored, began: datetime | None) -> bool:
    """Whether the file is to be fetched: it is not there, or older than the forced fetch."""
    return not stored.exists() or (began is not None and stored.path.stat().st_mtime < began.timestamp())


def _read(note: Path) -> datetime | None:
    try:
        return datetime.fromisoformat(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
