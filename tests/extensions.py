"""Modules of docs/extending.md, imported from the page."""

import re
import sys
from pathlib import Path
from types import ModuleType

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
_FILE = re.compile(r"^`([\w./-]+)`(?:, further lines:)?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_of(page: str) -> dict[str, str]:
    """Return the files of the page by name, with further lines at the end of their file."""
    files: dict[str, str] = {}
    for name, text in _FILE.findall(page):
        files[name] = files.get(name, "") + text
    return files


def __getattr__(name: str) -> ModuleType:
    """Import a module of the page, when it is first used."""
    files = [file for file in files_of(PAGE) if file.endswith(f"/{name}.py")]
    if name.startswith("_") or not files:
        raise AttributeError(name)
    module = sys.modules[f"{__name__}.{name}"] = ModuleType(f"{__name__}.{name}")
    globals()[name] = module
    exec(compile(files_of(PAGE)[files[0]], f"docs/extending.md, {files[0]}", "exec"), module.__dict__)
    return module
