"""Packages: the wheel has one name and every file, and imports have no cycle."""

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from zipfile import ZipFile

import grimp
import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("data", "tasks", "reports", "flows")


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel from a copy, because a build leaves folders. Return the wheel's files without its metadata."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    files = [*FOLDERS, "swaymeter", "pyproject.toml", "README.md", "LICENSE"]
    subprocess.run(["cp", "--recursive", "--no-dereference", *files, str(copy)], cwd=ROOT, check=True)
    build = "from setuptools import build_meta; import sys; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=copy, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    return {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_has_one_top_level_name(wheel_files: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel_files} == {"swaymeter"}


def test_the_wheel_has_every_file(wheel_files: set[str]) -> None:
    files = {
        f"swaymeter/{file.relative_to(ROOT)}"
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files | {"swaymeter/__init__.py", "swaymeter/py.typed"} == wheel_files


def test_imports_have_no_cycle() -> None:
    graph = grimp.build_graph("swaymeter")
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()
