"""Undo of a refused audit: its workspace stays unchanged, and the message does not mention the audit's study file."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.data.storage.writing import write_file
from swaymeter.flows.config.places import AUDIT


@contextmanager
def undone_if_refused(folder: Path) -> Iterator[None]:
    """Restore the study of an audit, and remove an empty folder, after a UsageError within the block.

    A folder that was made within the block counts as empty if it has only cached responses of a server's probe. The
    message omits positions in the study, such as models.0, because the user did not write the study.
    """
    study = folder / AUDIT
    before = study.read_bytes() if study.is_file() else None
    is_new = not folder.exists()
    try:
        yield
    except UsageError as error:
        if before is None:
            study.unlink(missing_ok=True)
            downloads = Workspace(folder).downloads
            if is_new and [*folder.glob("*")] == [downloads]:
                shutil.rmtree(downloads, ignore_errors=True)
            with suppress(OSError):  # the folder is missing, or has other files
                folder.rmdir()
        else:
            write_file(study, before)
        message = str(error).removeprefix(f"{study}: ").replace("measures.judged_answers.judge: ", "--judge: ")
        raise UsageError(re.sub(r"(^|; )models\.\d+: (?=model )", r"\1", message)) from None
