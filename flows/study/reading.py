"""Study files are read: YAML into a study; everything that is wrong is named at once, with its key."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from data.errors import StudyFileError
from data.options import problems
from flows.study.renamed import renamed_keys
from flows.study.study import Study

STUDIES = Path(__file__).parent.parent / "studies"


def read_study(path: str | Path) -> Study:
    """The study of a YAML file, or a bundled one by its name; a file comes first. StudyFileError says what is wrong."""
    file = Path(path)
    try:
        if not file.exists() and (STUDIES / f"{path}.yaml").exists():
            file = STUDIES / f"{path}.yaml"
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        bundled = ", ".join(sorted(found.stem for found in STUDIES.glob("*.yaml")))
        raise StudyFileError(f"{file} cannot be read: {error.strerror}; bundled studies: {bundled}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise StudyFileError(f"{file} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise StudyFileError(f"{file} does not hold a study; expected keys such as name, facts, models, measures")
    if renamed := list(renamed_keys(content)):
        raise StudyFileError(f"{file}: {'; '.join(renamed)}")
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise StudyFileError(f"{file}: {'; '.join(_messages(error))}") from None


def _messages(error: ValidationError) -> list[str]:
    messages = []
    for place, message, is_unknown in problems(error, ()):
        key = ".".join(map(str, place))
        messages.append(f"unknown key {key} ({message})" if is_unknown else f"{key}: {message}".removeprefix(": "))
    return messages
