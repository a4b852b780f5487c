"""What an installation holds: every module and data file of the packages."""

import tomllib
from pathlib import Path

from setuptools import find_packages

TOP = Path(__file__).parents[1]
SETUPTOOLS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_file_of_the_packages_is_installed() -> None:
    packages = find_packages(str(TOP), include=SETUPTOOLS["packages"]["find"]["include"])
    patterns = [(package.replace(".", "/"), "*.py") for package in packages]
    patterns += [(name.replace(".", "/"), one) for name, listed in SETUPTOOLS["package-data"].items() for one in listed]
    installed = {file for folder, pattern in patterns for file in (TOP / folder).glob(pattern)}
    files = {
        file
        for package in ("data", "tasks", "reports", "flows")
        for file in (TOP / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files - installed == set()
