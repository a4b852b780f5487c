import tomllib
from pathlib import Path

TOP = Path(__file__).parents[1]


def test_every_package_is_installed() -> None:
    named = set(tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = {file.parent for room in ("data", "tasks", "reports", "flows") for file in (TOP / room).rglob("*.py")}
    assert {".".join(folder.relative_to(TOP).parts) for folder in folders} == named
