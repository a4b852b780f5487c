"""Small file systems in memory, for tests of a full or unmounted disk; mounting needs root."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MIB = 1 << 20


@contextmanager
def mounted(folder: Path, size: int, files: int = 0) -> Iterator[Path]:
    """Mount a folder for `size` bytes, and for `files` files, folders and links (0: no limit)."""
    folder.mkdir(exist_ok=True)
    options = f"size={size},nr_inodes={files}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount() -> bool:
    """Return True if this process can mount a file system."""
    with (
        tempfile.TemporaryDirectory() as folder,
        suppress(OSError, subprocess.CalledProcessError),
        mounted(Path(folder), MIB),
    ):
        return True
    return False
