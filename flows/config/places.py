"""Paths of study files and workspaces, and the study file that `swaymeter init` writes."""

import re
from pathlib import Path
from typing import Literal

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.writing import move_to_target, temporary_beside

STUDIES = Path(__file__).parent.parent / "studies"
"""The folder of the bundled study files."""

AUDIT = "audit.yaml"
"""Name of the study file that an audit writes into its workspace."""


def workspace_folder(study: str, workspace: str | None) -> str | None:
    """Return the folder of `--workspace`; without this option, `study` if it is a folder, else None."""
    return workspace or (study if Path(study).is_dir() else None)


def folder_of(folder: str | None, study: str) -> Path:
    """Return the absolute path of `folder`, or of workspaces/STUDY in the current folder if `folder` is empty.

    Raises:
        RuntimeError: The home directory in the path does not exist, such as `~nobody`.
    """
    return Path(folder or f"workspaces/{study}").expanduser().absolute()


RunnerName = Literal["threads", "processes", "dask"]


SCHEMA = "swaymeter.schema.json"
"""Name of the JSON schema that editors use; the file stands beside a study."""
STARTER = Path(__file__).with_name("starter.yaml")
"""The study that `swaymeter init` writes, with a comment on every key.

The bundled models finish it in three minutes on two processor cores.
"""


def write_starter(file: Path) -> None:
    """Write a first study file.

    Raises:
        UsageError: The file exists or cannot be written.
    """
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:64] or "study"  # My Study (2).yaml: my-study-2
    schema = f"# yaml-language-server: $schema={SCHEMA}\n" if (file.parent / SCHEMA).exists() else ""
    text = STARTER.read_text(encoding="utf-8").replace("name: study", f'name: "{name}"').replace("{file}", str(file))
    try:
        with temporary_beside(file) as temporary:
            temporary.write_text(schema + text, encoding="utf-8")
            move_to_target(temporary, file, new=True)
    except FileExistsError:
        raise UsageError(f"{file} exists already; name another file") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; name another file") from None
