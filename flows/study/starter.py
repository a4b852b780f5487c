"""The study file that `swaymeter init` writes: starter.yaml, named after the file."""

import re
from pathlib import Path

from swaymeter.data.errors import UsageError

SCHEMA = "swaymeter.schema.json"
"""The file beside a study in which editors look for the schema."""
STARTER = Path(__file__).with_suffix(".yaml")
"""A study that the bundled models finish within three minutes on two processor cores, with a comment on every key."""


def write_starter(file: Path) -> None:
    """Writes the study file; UsageError where it exists already or cannot be written."""
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:64] or "study"
    schema = f"# yaml-language-server: $schema={SCHEMA}\n" if (file.parent / SCHEMA).exists() else ""
    text = STARTER.read_text(encoding="utf-8").replace("name: study", f'name: "{name}"').replace("{file}", str(file))
    try:
        with file.open("x", encoding="utf-8") as handle:
            handle.write(schema + text)
    except FileExistsError:
        raise UsageError(f"{file} exists already, and is left as it is; name another file") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; name another file") from None
