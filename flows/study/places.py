"""Where study files and workspaces lie."""

from pathlib import Path
from typing import Literal

STUDIES = Path(__file__).parent.parent / "studies"
"""The folder of the bundled study files."""


def study_file(path: str | Path) -> Path:
    """The file that is meant: that of this path, or else the bundled one of this name."""
    bundled = STUDIES / f"{path}.yaml"
    return bundled if not Path(path).exists() and bundled.exists() else Path(path)


def folder_of(folder: str | None, study: str) -> Path:
    """The folder of a study's workspace: the one that is named, or one named after the study.

    RuntimeError where it is below a home directory that does not exist.
    """
    return Path(folder or f"workspaces/{study}").expanduser().absolute()


RunnerName = Literal["threads", "processes", "dask"]
