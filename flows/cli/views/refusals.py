"""An audit that is refused: its workspace stays as it was, and nobody is told of a study file that nobody wrote."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.writing import write_file
from swaymeter.flows.study.places import AUDIT


@contextmanager
def leaving_nothing(folder: Path) -> Iterator[None]:
    """Where a UsageError is raised within: the study of the audit is as it was, and a folder that is empty is gone.

    Folders that were made within are no content: they have what a server that was tried has said. The message does not
    begin with a place in that study.
    """
    study = folder / AUDIT
    before = study.read_bytes() if study.is_file() else None
    known = {*folder.glob("*/")}
    try:
        yield
    except UsageError as error:
        if before is None:
            study.unlink(missing_ok=True)
            for made in {*folder.glob("*/")} - known:
                shutil.rmtree(made, ignore_errors=True)
            with suppress(OSError):  # it is not there, or has other files
                folder.rmdir()
        else:
            write_file(study, before)
        raise UsageError(re.sub(r"^models\.\d+: ", "", str(error).removeprefix(f"{study}: "))) from None
