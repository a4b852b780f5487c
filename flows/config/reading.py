"""Read study files: YAML into a study. An error names every wrong key at once."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import ValidationError

from swaymeter.data.errors import StudyFileError
from swaymeter.data.options import problems
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.flows.config.places import AUDIT, STUDIES, study_file
from swaymeter.flows.config.study import StudyFile

QUESTION_FILES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx"})
"""Suffixes of files that `swaymeter audit` reads."""


def read_study(path: str | Path, changes: Mapping[str, Any] = MappingProxyType({})) -> StudyFile:
    """Read a study from a YAML file, or a bundled study by its name.

    Args:
        path: Path of the file, or name of a bundled study. An existing file wins.
        changes: New values of keys, such as models.0.name.

    Raises:
        StudyFileError: The file cannot be read, or a key is wrong.
    """
    file = Path(path)
    if file.suffix.lower() in QUESTION_FILES and file.is_file():
        raise StudyFileError(
            f"{file} is a file of questions instead of a study; run swaymeter audit {quote(str(file))} --model NAME"
        )
    try:
        file = study_file(path)
        text = text_of(file)
        content = untrusted_yaml(text)
    except OSError as error:
        bundled = ", ".join(sorted(path.stem for path in STUDIES.glob("*.yaml")))
        is_folder = isinstance(error, IsADirectoryError)
        reason = f"it is a folder without {AUDIT}; name the study's file" if is_folder else error.strerror
        raise StudyFileError(f"{file} cannot be read: {reason}; bundled studies: {bundled}") from None
    except yaml.MarkedYAMLError as error:
        raise StudyFileError(f"{file} is not valid YAML: {_yaml_problem(error, text)}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or too large
        raise StudyFileError(f"{file} is not valid YAML: {' '.join(str(error).split())}; correct the file") from None
    if not isinstance(content, dict):
        raise StudyFileError(
            f"{file} has no keys of a study; write keys such as name, facts, models, measures, or begin with "
            "`swaymeter init`"
        )
    for key, value in changes.items():
        _replace_value(content, key, value)
    try:
        return StudyFile.model_validate(content, context=_validation_context(file))
    except ValidationError as error:
        raise StudyFileError(f"{file}: {'; '.join(_messages(error))}") from None


def _validation_context(file: Path) -> Mapping[str, Any]:
    """Return the validation context: the folder that relative paths start from."""
    return {"folder": str(file.parent), "is_bundled": file.parent.resolve() == STUDIES.resolve()}


def _replace_value(content: Any, key: str, value: Any) -> None:
    """Replace the value of a key.

    Raises:
        StudyFileError: The sections around the key do not exist.
    """
    *sections, last = (int(part) if part.isdecimal() else part for part in key.split("."))
    try:
        for part in sections:
            content = content[part]
        content[last] = value
    except (KeyError, IndexError, TypeError):
        raise StudyFileError(f"the study has no section for the key {key}; name a key such as models.0.name") from None


def _yaml_problem(error: yaml.MarkedYAMLError, text: str) -> str:
    """Return the position and the message of a YAML error, with advice."""
    mark = error.problem_mark or error.context_mark
    assert mark is not None
    has_tab = "\t" in "".join(text.splitlines()[mark.line : mark.line + 1])
    advice = "indent with spaces, not with tabs" if has_tab else "correct this line or the line before"
    return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem or error.context}; {advice}"


def _messages(error: ValidationError) -> list[str]:
    """Return a message for each wrong key."""
    messages = []
    for location, message, is_unknown in problems(error, {}):
        key = ".".join(map(str, location))
        messages.append(f"unknown key {key} ({message})" if is_unknown else f"{key}: {message}".removeprefix(": "))
    return messages
