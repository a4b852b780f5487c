"""The content of a valid study, functions that change it, and the message that refuses a change."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data.errors import StudyFileError
from swaymeter.flows.config.study import StudyFile, read_study

SOUND = {
    "name": "small",
    "facts": {"relations": ["capital", "father"], "real_entities": 2, "invented_entities": 1},
    "contexts": {"base": 1, "assertive": 1, "negation": 0},
    "questions": {"partitions": ["static"], "per_partition": 3},
    "models": [{"name": "a-model", "dtype": "float32", "device": "cpu"}],
    "measures": {"persuasion": {}, "answers": {"samples": 2}},
}


def write_study(folder: Path, content: Any) -> Path:
    """Write a study file with this content, and return its path."""
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


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
