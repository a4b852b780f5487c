"""File systems in memory, which can be full or away; mounting them takes root."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MIB = 1 << 20


@contextmanager
def mounted(folder: Path, size: int, files: int = 0) -> Iterator[Path]:
    """A folder that holds so many bytes, and so many files, folders and links; 0: as many as fit."""
    folder.mkdir(exist_ok=True)
    options = f"size={size},nr_inodes={files}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount() -> bool:
    """Whether a file system can be mounted here."""
    with (
        tempfile.TemporaryDirectory() as folder,
        suppress(OSError, subprocess.CalledProcessError),
        mounted(Path(folder), MIB),
    ):
        return True
    return False
