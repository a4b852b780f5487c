"""Rerun numbers: `--force` and `--refresh` put a new number into the keys of the selected artifacts.

An artifact whose key has a new number is missing, so the run makes it. The workspace stores the numbers. An interrupted
run therefore resumes without the option, and makes no artifact twice.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from swaymeter.data.errors import DamagedFile, first_line
from swaymeter.data.storage.notes import read_note, unseal, write_sealed
from swaymeter.data.storage.workspace import Workspace

RerunOption = Literal["force", "refresh"]
_NUMBERS = TypeAdapter(dict[str, int])


@dataclass(frozen=True)
class RerunNumbers:
    """Rerun numbers in milliseconds since 1970, by `Step.key_without_number`.

    Attributes:
        force: Numbers of `--force`.
        refresh: Numbers of `--refresh`, for steps whose source changes daily.
    """

    force: Mapping[str, int]
    refresh: Mapping[str, int]

    def of(self, key: str) -> tuple[int, int]:
        """Return the numbers of `--force` and `--refresh` for a key; 0 without a number."""
        return self.force.get(key, 0), self.refresh.get(key, 0)

    def with_new(self, option: RerunOption, keys: Iterable[str]) -> "RerunNumbers":
        """Return the rerun numbers with a new number for these keys."""
        last = max([0, *self.force.values(), *self.refresh.values()])
        new = dict.fromkeys(keys, max(time.time_ns() // 1_000_000, last + 1))  # a clock may have been set back
        if option == "force":
            return replace(self, force={**self.force, **new})
        return replace(self, refresh={**self.refresh, **new})


NO_NUMBERS = RerunNumbers({}, {})


def numbers_file(workspace: Workspace) -> Path:
    """Return the path of the file with the rerun numbers."""
    return workspace.root / "forced.json"


def read_numbers(file: Path) -> RerunNumbers:
    """Read the rerun numbers of a workspace.

    Raises:
        DamagedFile: The file cannot be read.
    """
    try:
        content = unseal(read_note(file))
        return RerunNumbers(*(_NUMBERS.validate_python(content[option]) for option in ("force", "refresh")))
    except FileNotFoundError:
        return NO_NUMBERS
    except (OSError, ValueError, KeyError) as error:
        raise DamagedFile(
            f"the list {file} of the artifacts that --force and --refresh selected cannot be read "
            f"({first_line(error)}); remove the file and run again, which computes these artifacts once more"
        ) from None


def write_numbers(file: Path, numbers: RerunNumbers) -> None:
    """Write the rerun numbers of a workspace."""
    write_sealed(file, {"force": dict(numbers.force), "refresh": dict(numbers.refresh)})
