"""Snippets of the README, the pages and the notebooks: Python and SQL run, commands and studies are valid."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer.main
import yaml

import swaymeter
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.main import app
from swaymeter.flows.config.study import StudyFile, read_study
from swaymeter.flows.stages.aggregate import schema
from tests.data.warehouse.small_study import build_study, row, small_study, table
from tests.tasks.models.tiny import save_language_model

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TESTED_ELSEWHERE = {
    "application.md": "tests/flows/test_application.py",
    "own-data.md": "tests/test_own_data.py",
    "extending.md": "tests/test_extending.py",
}
"""Pages whose code belongs together, and the tests that run it."""
CALLS = re.compile(r"(?:^|[`(\s])(?:\.venv/bin/)?swaymeter ((?:[a-z]|--help|--version)[^`\n]*)")
TARGETS = re.compile(r"(?:^ *|`)make ([a-z-]+)", re.MULTILINE)
FILES = re.compile(r"^`([\w.]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Files that a page shows under their names."""
STUDY: Mapping[str, Any] = {
    "name": "snippet",
    "facts": {"source": "sample", "relations": ["capital"]},
    "questions": {"source": "file", "file": "own-questions.csv"},
    "models": [{"name": "smollm2-135m-instruct"}],
    "measures": {"persuasion": {}, "answers": {}, "whose_answer": {}},
}
"""Parts of a study that a snippet may leave out."""


def name_of(page: Path) -> str:
    return page.name


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if page.name not in TESTED_ELSEWHERE and blocks(page, language)]


@pytest.fixture(scope="module")
def cli() -> Any:
    return typer.main.get_command(app)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a folder with the database of a study, an exported table of a paper, and a tiny model."""
    folder = tmp_path_factory.mktemp("snippets")
    save_language_model(folder / "model")
    study, keys = small_study(), {"relation": "capital", "model": "m", "dtype": "float32"}
    for number in range(8):
        entity = {"query_id": f"e{number}", "entity": f"Entity {number}", "invented": number % 2 == 1}
        study["queries"].append(row(table("queries"), relation="capital", query_type="open", **entity))
        scores = {"query_id": f"e{number}", "contexts": 3, "susceptibility": 0.1 * number}
        study["susceptibility"].append(row(table("susceptibility"), **keys, **scores))
    (folder / "my-paper" / "data").mkdir(parents=True)
    database = folder / "workspaces" / "quickstart" / "study.duckdb"
    database.parent.mkdir(parents=True)
    (database.parents[1] / "replicate-marjanovic-small").symlink_to("quickstart")
    build_study(database, study)
    with opened(database, schema(), exports=folder / "my-paper") as warehouse:
        warehouse.export(table("persuasion"), folder / "my-paper" / "data" / "persuasion.parquet")
    return folder


@pytest.fixture
def current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter the folder, and load the tiny model under every name."""
    load = swaymeter.load
    monkeypatch.setattr(
        swaymeter, "load", lambda name, **options: load(str(folder / "model"), **options), raising=False
    )
    monkeypatch.chdir(folder)
    return folder


def cells(notebook: Path) -> Iterator[str]:
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs"), f"{notebook.name}: commit it without outputs"
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name_of)
def test_named_frames_exist(page: Path, folder: Path) -> None:
    frames = re.findall(r'frame\(\\?"(\w+)\\?"\)', page.read_text(encoding="utf-8"))
    names = swaymeter.open(str(folder / "workspaces" / "quickstart")).names()
    assert [frame for frame in frames if frame not in names] == []


@pytest.mark.parametrize("page", TESTED_ELSEWHERE)
def test_another_test_runs_the_page(page: str) -> None:
    assert f"docs/{page}" in (ROOT / TESTED_ELSEWHERE[page]).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*pages_with("python"), *NOTEBOOKS], ids=name_of)
def test_python_runs(page: Path, current_folder: Path) -> None:
    names: dict[str, Any] = {}
    for code in cells(page) if page.suffix == ".ipynb" else blocks(page, "python"):
        exec(compile(code, page.name, "exec"), names)


@pytest.mark.parametrize("page", pages_with("sql"), ids=name_of)
def test_sql_runs(page: Path, folder: Path) -> None:
    with duckdb.connect(folder / "workspaces" / "quickstart" / "study.duckdb", read_only=True) as connection:
        for sql in blocks(page, "sql"):
            connection.sql(sql)


def check_command(words: list[str], cli: Any) -> None:
    command = cli
    while hasattr(command, "commands") and words and not words[0].startswith("--"):
        name, *words = words
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    options = {"--help", *(option for part in command.params for option in (*part.opts, *part.secondary_opts))}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, f"options of {command.name}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_their_options_exist(page: Path, cli: Any) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for target in TARGETS.findall(text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for line in CALLS.findall(text):
        # A command ends before a comment, words of prose, a participle such as "printed", or a bracket.
        command = re.split(r" #|  +[a-z]|[,;:.]? [A-Z]?[a-z]+ed |\)", line)[0]
        check_command(shlex.split(re.sub("[\"']", "", command), comments=True), cli)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_studies_are_valid(page: Path, tmp_path: Path) -> None:
    for file in (ROOT / "docs").glob("*.[cj]s*"):  # questions that the pages name
        shutil.copy(file, tmp_path)
    for name, text in FILES.findall(page.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    if page.name == "extending.md":  # its studies need its modules
        return
    for block in blocks(page, "yaml"):
        content = yaml.safe_load(block)
        if isinstance(content, Mapping) and content.keys() <= StudyFile.model_fields.keys():
            (tmp_path / "study.yaml").write_text(yaml.safe_dump({**STUDY, **content}), encoding="utf-8")
            read_study(tmp_path / "study.yaml")
