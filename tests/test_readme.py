"""The README and docs/sql.md: options exist, SQL gives hand-worked means, and the README fits a page."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer.main

import swaymeter
from swaymeter.flows.cli.main import app
from tests.data.warehouse.small_study import build_study, row, small_study, table

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SQL_PAGE = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
SQL = re.findall(r"^```sql\n(.*?)^```$", SQL_PAGE, re.MULTILINE | re.DOTALL)


def options_of(command: Any) -> set[str]:
    return {"--help", *(word for parameter in command.params for word in parameter.opts)}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = small_study()
    keys = {"relation": "P36", "model": "m", "dtype": "float32", "question_id": "w1"}
    verdict = {"condition": "counter_memory", "sample": None, "outcome": "stubborn"}
    study["whose_answer"] = [row(table("whose_answer"), **keys, **verdict)]  # some SQL is about outcomes
    path = tmp_path_factory.mktemp("readme") / "workspaces" / "quickstart" / "study.duckdb"
    return build_study(path, study)


def test_there_is_sql_to_test() -> None:
    assert len(SQL) >= 5


@pytest.mark.parametrize("sql", SQL)
def test_sql_returns_rows(sql: str, database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        assert connection.sql(sql).fetchall()


def test_sql_about_susceptibility_gives_hand_worked_means(database: Path) -> None:
    with duckdb.connect(database, read_only=True) as connection:
        assert connection.sql(SQL[0]).fetchall() == [("m", "float32", "capital", "open", 3.5)]
        assert connection.sql(SQL[2]).fetchall() == [
            ("m", "float32", "open", False, 2.0),
            ("m", "float32", "open", True, 5.0),
        ]


def test_the_command_with_a_query_prints_rows(database: Path) -> None:
    (line,) = re.findall(r"^\.venv/bin/python -c .*$", SQL_PAGE, re.MULTILINE)
    command = shlex.split(line)
    code = command[command.index("-c") + 1]
    folder = database.parents[2]
    completed = subprocess.run(
        [sys.executable, "-c", code], input=SQL[0], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "capital" in completed.stdout


def test_the_readme_has_commands_and_make_targets() -> None:
    assert len(re.findall(r"^    \S*swaymeter ", README, re.MULTILINE)) >= 4
    assert {"study", "test"} <= set(re.findall(r"(?:^    |`)make ([a-z-]+)", README, re.MULTILINE))


def test_log_and_function_are_audited(tmp_path: Path) -> None:
    (log,) = re.findall(r"^```csv\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (tmp_path / "log.csv").write_text(log)
    (tmp_path / "my_app.py").write_text(code)
    audit = swaymeter.audit(
        tmp_path / "log.csv",
        models=[f"{tmp_path / 'my_app.py'}:answer"],
        replies=["response"],
        workspace=tmp_path / "audit",
    )
    verdicts = audit.frame("answers_of_questions").set_index(["model", "condition"])["verdict"]
    assert verdicts["response", "supporting"] == verdicts["response", "conflicting"] == "context"
    assert verdicts["my_app.py:answer"].to_dict() == {
        "none": "refusal",
        "supporting": "context",
        "conflicting": "context",
    }


def test_options_in_the_text_exist() -> None:
    cli: Any = typer.main.get_command(app)
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    assert options <= options_of(cli) | options_of(cli.commands["run"]) | options_of(cli.commands["audit"])


def test_every_folder_has_its_link() -> None:
    for folder in ("data", "tasks", "reports", "flows", "tests", "docs"):
        assert f"[{folder}/]({folder}/)" in README


def test_the_readme_fits_a_page_with_small_pictures() -> None:
    assert len(README.splitlines()) <= 90
    assert all(image.stat().st_size < 300_000 for image in (ROOT / "docs" / "images").iterdir())
