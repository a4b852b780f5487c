"""Functions that change a valid study, and the message that refuses a change."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.config.study import StudyFile, read_study
from tests.flows.small_study import SOUND, write_study


def changed_study(folder: Path, **changes: Any) -> StudyFile:
    """Return the study SOUND with these sections in place of its own."""
    return read_study(write_study(folder, SOUND | changes))


def error_message(folder: Path, **changes: Any) -> str:
    """Return the message that refuses the changed study, without the name of the file."""
    with pytest.raises(StudyFileError) as raised:
        changed_study(folder, **changes)
    file, message = str(folder / "study.yaml"), str(raised.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")
