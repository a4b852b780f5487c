import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from data.dataset.dataset import _EXPECTED as EXPECTED
from data.storage.workspace import Workspace
from flows.cli import main as cli
from flows.cli import stage_commands as cli_stages
from flows.cli.stage_commands import COMMANDS
from tests.flows.conftest import Command
from tests.flows.small_plan import build, fetch, score, small_plan, small_study, write_study


@pytest.fixture
def study(tmp_path: Path) -> str:
    return write_study(tmp_path, small_study(tmp_path))


EVERY = [*COMMANDS, "status"]
ALL = [*EVERY, "diff", "export", "predicates", "doctor"]


@pytest.mark.parametrize("name", ALL)
def test_every_command_s_help_has_an_example_of_it(name: str, swaymeter: Command) -> None:
    ended = swaymeter(name, "--help")
    assert ended.code == 0
    assert re.search(rf"Example: swaymeter {name}\b", " ".join(ended.out.split()))


def test_the_help_of_diff_says_of_which_datasets(swaymeter: Command) -> None:
    words = " ".join(swaymeter("diff", "--help").out.replace("│", " ").split())
    assert EXPECTED.removeprefix("name a ") in words
    assert "Say which facts and questions were added, gone or changed" in words


def test_the_help_lists_every_command_and_how_to_begin(swaymeter: Command) -> None:
    ended = swaymeter("--help")
    assert ended.code == 0
    for name in ALL:
        assert re.search(rf"\b{name}\b", ended.out)
    assert "swaymeter run quickstart" in " ".join(ended.out.split())


def test_the_version_is_said(swaymeter: Command) -> None:
    ended = swaymeter("--version")
    assert ended.code == 0
    assert re.fullmatch(r"swaymeter \d+\.\d+\.\d+\n", ended.out)


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["rum", "x"], ["run", "quickstart", "--reltion", "capital"], ["status", "a", "b"], ["--what"]],
)
def test_what_the_command_line_does_not_know_is_usage(arguments: list[str], swaymeter: Command) -> None:
    ended = swaymeter(*arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.out + ended.err


@pytest.mark.parametrize("name", EVERY)
def test_a_study_that_is_not_there_is_usage(name: str, swaymeter: Command, tmp_path: Path) -> None:
    ended = swaymeter(name, str(tmp_path / "missing.yaml"))
    assert ended.code == 2
    assert re.search(r"missing.yaml cannot be read: .*; bundled studies: .*quickstart", ended.told)


def test_an_unknown_key_is_usage_and_suggests_the_nearest(swaymeter: Command, tmp_path: Path) -> None:
    file = write_study(tmp_path, small_study(tmp_path, contexts={"negatoin": 1}))
    ended = swaymeter("run", file)
    assert ended.code == 2
    assert ended.told == f"{file}: unknown key contexts.negatoin (did you mean 'negation'?)"


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("option", "value", "near"),
    [
        ("--relation", "capitol", "capital"),
        ("--measure", "persuation", "persuasion"),
        ("--model", "smolm2-135m-instruct", "smollm2-135m-instruct"),
    ],
)
def test_an_unknown_name_is_usage_and_suggests_the_nearest(
    name: str, option: str, value: str, near: str, swaymeter: Command, tmp_path: Path
) -> None:
    ended = swaymeter(name, "quickstart", option, value, "--workspace", str(tmp_path / "w"))
    assert ended.code == 2
    assert ended.told == f"no {option[2:]} is named {value!r}; did you mean {near!r}?"
    assert not (tmp_path / "w").exists()


def test_a_traceback_is_there_for_who_asks(swaymeter: Command) -> None:
    ended = swaymeter("run", "missing.yaml", "--traceback")
    assert ended.code == 2
    assert "Traceback" in ended.err
    assert re.search(r"^error  missing.yaml cannot be read", ended.err, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_says_what_would_be_done_and_makes_no_file(name: str, swaymeter: Command, study: str) -> None:
    folder = Path(study).parent
    before = sorted(folder.rglob("*"))
    ended = swaymeter(name, study, "--dry-run")
    assert ended.code == 0
    assert "capital x persuasion" in ended.out
    assert re.search(r"^\d+ prompts; estimated time: ", ended.out, re.MULTILINE)
    assert sorted(folder.rglob("*")) == before


def test_a_dry_run_with_force_counts_what_is_done(swaymeter: Command, study: str, tmp_path: Path) -> None:
    score(build(fetch(small_plan(tmp_path))))
    assert "everything is done" in swaymeter("run", study, "--dry-run").out
    assert "everything is done" not in swaymeter("run", study, "--dry-run", "--force").out


def test_status_counts_and_names_the_workspace_and_makes_no_file(
    swaymeter: Command, study: str, tmp_path: Path
) -> None:
    ended = swaymeter("status", study)
    assert ended.code == 0
    assert ended.out.endswith(f"0 done, 0 failed, 5 missing in {tmp_path / 'workspace'}\n")
    assert not (tmp_path / "workspace").exists()


def test_status_shows_what_is_done_what_is_damaged_and_why(swaymeter: Command, study: str, tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    stored = plan.work(next(plan.items())).wanted["persuasion"]
    stored.path.write_bytes(b"")
    ended = swaymeter("status", study, "--relation", "capital")
    assert ended.code == 0
    assert "1 done, 1 failed, 0 missing" in ended.out
    assert "cannot be read" in " ".join(ended.out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_workspace_that_cannot_be_written_is_a_failure(
    name: str, swaymeter: Command, study: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = swaymeter(name, study, "--workspace", str(tmp_path / "file" / "below"))
    assert ended.code == 1
    assert re.search(r"the workspace .*below cannot be written: .*; choose another --workspace", ended.told)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_workspace_below_nobody_s_home_is_usage(swaymeter: Command, study: str) -> None:
    ended = swaymeter("run", study, "--workspace", "~nobody-of-that-name/x")
    assert ended.code == 2
    assert "~nobody-of-that-name" in ended.told


def test_status_says_that_more_questions_are_asked_for_than_there_are(swaymeter: Command, tmp_path: Path) -> None:
    questions = {"partitions": ["static"], "per_partition": 100_000}
    fetch(small_plan(tmp_path, questions=questions))
    ended = swaymeter("status", write_study(tmp_path, small_study(tmp_path, questions=questions)))
    assert ended.code == 0
    assert "1 failed" in ended.out
    assert "100000" in ended.out
    assert "Traceback" not in ended.out + ended.err


def test_offline_is_said_before_any_model_is_asked_for(swaymeter: Command, study: str) -> None:
    swaymeter("run", study, "--offline", "--dry-run")
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_to_stop_it_is_no_error_and_says_how_to_go_on(
    swaymeter: Command, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_stages, "_conduct", stop)
    ended = swaymeter("run", study)
    assert ended.code == 130
    assert "run the same command again" in ended.err


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "200", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "flows.cli.main", *arguments],
        capture_output=True, text=True, env=environment, timeout=120, cwd=Path(cli.__file__).parents[1],
    )  # fmt: skip


def test_a_process_ends_with_2_where_it_was_asked_for_what_is_not_there(tmp_path: Path) -> None:
    ended = _process("run", "quickstart", "--relation", "capitol", "--workspace", str(tmp_path / "w"))
    assert ended.returncode == 2
    assert ended.stderr == "error  no relation is named 'capitol'; did you mean 'capital'?\n"
    assert ended.stdout == ""


def test_a_process_ends_with_1_where_another_one_holds_the_workspace(study: str, tmp_path: Path) -> None:
    with Workspace(tmp_path / "workspace").conducted():
        ended = _process("run", study)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error  another run conducts the workspace")
    assert "Traceback" not in ended.stderr


def test_a_process_ends_with_1_where_a_source_is_missing_and_says_which(tmp_path: Path) -> None:
    questions = {"source": "dynamicqa", "folder": str(tmp_path / "missing"), "partitions": ["static"]}
    study = write_study(tmp_path, small_study(tmp_path, questions=questions))
    ended = _process("fetch", study)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert "Traceback" not in said
    assert re.search(r"failed  fetch x static questions: .*Static_final.csv cannot be read", said)
    assert "fetch x capital" not in said
    status = _process("status", study)
    assert status.returncode == 0
    assert "1 failed" in status.stdout
