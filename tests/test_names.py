"""Identifiers of the package, without the words that CONTRIBUTING.md bans."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ("data", "flows", "reports", "tasks")
EXCEPTIONS = {
    ("data/catalog/name_parts.py", "called"),
    ("data/catalog/papers.py", "place"),
    ("data/records/facts.py", "made_by"),
    ("data/records/facts.py", "place"),
    ("data/records/score.py", "asked_model"),
    ("data/records/statistics.py", "of_first"),
    ("data/sources/own/passages.py", "most"),
    ("tasks/measures/persuasion.py", "most"),
}
"""Names with a banned word that are keys of study files or columns of tables, each with its file."""
FILES = [file for folder in PACKAGE for file in sorted((ROOT / folder).rglob("*.py"))]
_LIST = re.compile(r"^## Banned identifiers$.*?^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BANNED = _LIST.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))[0].split()


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every function, class, argument, variable and attribute that a module defines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str()):
                yield node.lineno, str(node.asname)


def is_banned(name: str) -> bool:
    name = name.strip("_").lower()
    return any(fnmatch(name, word) if "*" in word else word in name.split("_") for word in BANNED)


@pytest.mark.parametrize(
    ("name", "banned"), [("of_query", True), ("_asked_pairs", True), ("MOST", True), ("tone", False)]
)
def test_words_and_patterns_are_banned(name: str, banned: bool) -> None:
    assert is_banned(name) is banned


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_module_has_no_banned_name(file: Path) -> None:
    file_name = file.relative_to(ROOT).as_posix()
    names = identifiers(ast.parse(file.read_text(encoding="utf-8")))
    assert [
        f"{file.name}:{line} {name}" for line, name in names if is_banned(name) and (file_name, name) not in EXCEPTIONS
    ] == []
