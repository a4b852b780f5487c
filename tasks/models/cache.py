"""The folder in which Swaymeter keeps converted models, and folders there with a manifest of their files' digests."""

import json
import os
from pathlib import Path

from tasks.models.digests import sha256_of

MANIFEST = "manifest.json"


def cache_folder() -> Path:
    """$SWAYMETER_CACHE, else ~/.cache/swaymeter."""
    chosen = os.environ.get("SWAYMETER_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "swaymeter"


def seal(folder: Path) -> None:
    """Writes the manifest of a folder's files, and all of them to the disk."""
    digests = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps(digests, indent=1), encoding="utf-8")
    for path in (*folder.iterdir(), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def damage(folder: Path) -> str | None:
    """What is wrong with a folder that was sealed; None for a folder whose files are those of its manifest."""
    try:
        digests = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = {file.name: file for file in folder.iterdir() if file.name != MANIFEST}
        if not isinstance(digests, dict) or set(files) != set(digests):
            return "its files are not those of its manifest"
        changed = [name for name, file in files.items() if sha256_of(file) != digests[name]]
    except (OSError, ValueError) as error:
        return f"its manifest or its files cannot be read ({error})"
    return f"{', '.join(sorted(changed))} changed on the disk" if changed else None
