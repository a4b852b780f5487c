"""An audit that is refused: its workspace stays as it was, and nobody is told of a study file that nobody wrote."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.writing import write_file
from swaymeter.flows.study.places import AUDIT


@contextmanager
def leaving_nothing(folder: Path) -> Iterator[None]:
    """Where a UsageError is raised within: the study of the audit is as it was, and a folder that is empty is gone.

    The message does not begin with the path of that study.
    """
    study = folder / AUDIT
    before = study.read_bytes() if study.is_file() else None
    try:
        yield
    except UsageError as error:
        if before is None:
            study.unlink(missing_ok=True)
            with suppress(OSError):  # it is not there, or has other files
                folder.rmdir()
        else:
            write_file(study, before)
        raise UsageError(str(error).removeprefix(f"{study}: ")) from None
