import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from typer import rich_utils

from swaymeter.data.errors import ModelError
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.api import Study
from swaymeter.flows.graph.stage import STAGES
from swaymeter.flows.server import api
from swaymeter.flows.stages import plan
from tests.extensions import source
from tests.flows.conftest import Command
from tests.flows.small_study import load_study, prepare, score, small_study, write_study
from tests.mounts import can_mount
from tests.registries import added


@pytest.fixture
def study(tmp_path: Path) -> str:
    return write_study(tmp_path, small_study(tmp_path))


COMMANDS = ("run", "status", "doctor", "audit", "compare", "diff", "history", "publish", "init")
GROUPS = {
    "annotate": ("passages", "export", "status"),
    "export": ("facts", "questions"),
    "list": ("measures", "relations", "models", "sources", "predicates"),
    "cluster": ("slurm",),
}
GROUPED = [f"{group} {name}" for group, names in GROUPS.items() for name in names]
STAGE_OPTIONS = [(), *(("--stage", stage) for stage in STAGES)]
HEAVY_PACKAGES = ("torch", "transformers", "prefect", "scipy", "duckdb", "pandas", "matplotlib")


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPED])
def test_every_command_has_an_example(name: str, swaymeter: Command) -> None:
    result = swaymeter(*name.split(), "--help")
    assert result.code == 0
    assert re.search(rf"Example: swaymeter {name}\b", " ".join(result.out.split()))


def test_the_help_lists_every_command(swaymeter: Command) -> None:
    result = swaymeter("--help")
    assert result.code == 0
    listed = re.findall(r"^│ ([a-z]+)  ", result.out, re.MULTILINE)
    assert sorted(listed) == sorted((*COMMANDS, *GROUPS))
    assert "swaymeter run quickstart" in " ".join(result.out.split())
    assert re.fullmatch(r"swaymeter \d+\.\d+\.\d+\n", swaymeter("--version").out)


@pytest.mark.parametrize(("command", "lines"), [("--help", 24), ("audit --help", 48)])
def test_the_help_fits_on_screens(
    command: str, lines: int, swaymeter: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 80)
    assert len(swaymeter(*command.split()).out.strip().splitlines()) <= lines


def test_an_old_command_names_the_new_command(swaymeter: Command) -> None:
    assert swaymeter("fetch", "quickstart").error == "`swaymeter fetch` is now `swaymeter run --stage fetch`"


@pytest.mark.parametrize(
    "arguments",
    [
        "run",
        "rum x",
        "run quickstart --reltion capital",
        "run quickstart --stage scores",
        "run quickstart --stage report --refresh",
        "fetch quickstart",
        "list",
        "list facts",
        "status a b",
        "--what",
        "diff",
        "diff a",
        "diff a b c",
        "diff a b --limit -1",
        "diff a b --jsn",
    ],
)
def test_wrong_arguments_end_with_2(arguments: str, swaymeter: Command) -> None:
    result = swaymeter(*arguments.split())
    assert result.code == 2
    assert "Traceback" not in result.out + result.err


@pytest.mark.parametrize("name", ["run", "status"])
def test_a_missing_study_ends_with_2(name: str, swaymeter: Command, tmp_path: Path) -> None:
    result = swaymeter(name, str(tmp_path / "missing.yaml"))
    assert result.code == 2
    assert re.search(r"missing.yaml cannot be read: .*; bundled studies: .*quickstart", result.error)


@pytest.mark.parametrize("name", ["run", "status"])
@pytest.mark.parametrize(
    ("option", "value", "near"),
    [
        ("--relation", "capitol", "capital"),
        ("--measure", "persuation", "persuasion"),
        ("--model", "smolm2-135m-instruct", "smollm2-135m-instruct"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(
    name: str, option: str, value: str, near: str, swaymeter: Command, tmp_path: Path
) -> None:
    result = swaymeter(name, "quickstart", option, value, "--workspace", str(tmp_path / "w"))
    assert result.code == 2
    assert result.error == f"no {option[2:]} is named {value!r}; did you mean {near!r}?"
    assert not (tmp_path / "w").exists()


def test_a_traceback_is_shown_on_request(swaymeter: Command) -> None:
    result = swaymeter("run", "missing.yaml", "--traceback")
    assert result.code == 2
    assert "Traceback" in result.err
    assert re.search(r"^error  missing.yaml cannot be read", result.err, re.MULTILINE)


@pytest.mark.parametrize("options", STAGE_OPTIONS)
def test_a_dry_run_writes_no_file(options: tuple[str, ...], swaymeter: Command, study: str) -> None:
    folder = Path(study).parent
    before = sorted(folder.rglob("*"))
    result = swaymeter("run", study, *options, "--dry-run")
    assert result.code == 0
    if not options or "fetch" in options:
        assert "capital · facts: missing" in result.out
    assert re.search(r"^\d+ prompts; estimated time: ", result.out, re.MULTILINE)
    assert sorted(folder.rglob("*")) == before


def test_dry_run_with_force_counts_done_steps(swaymeter: Command, study: str, tmp_path: Path) -> None:
    score(prepare(load_study(tmp_path)))
    assert "everything is done" in swaymeter("run", study, "--stage", "score", "--dry-run").out
    assert "everything is done" not in swaymeter("run", study, "--stage", "score", "--dry-run", "--force").out


def test_status_writes_no_file(swaymeter: Command, study: str, tmp_path: Path) -> None:
    counts = r"^0 done, \d+ missing, \d+ blocked, 0 failed, 0 damaged in "
    assert re.search(counts, swaymeter("status", study).out, re.M)
    assert not (tmp_path / "workspace").exists()


def test_status_of_a_damaged_score_ends_with_1(swaymeter: Command, study: str, tmp_path: Path) -> None:
    score(prepare(load_study(tmp_path)))
    (file,) = tmp_path.glob("workspace/scores/capital/*/persuasion-*.parquet")
    file.write_bytes(b"")
    result = swaymeter("status", study, "--relation", "capital")
    assert result.code == 1
    assert f"{file} holds other bytes than were written" in result.out
    document = json.loads(swaymeter("status", study, "--relation", "capital", "--json").out)
    assert [row["measure"] for row in document["rows"] if row["state"] == "damaged"] == ["persuasion"]


@pytest.mark.parametrize("options", STAGE_OPTIONS)
def test_a_workspace_that_cannot_be_written_fails(
    options: tuple[str, ...], swaymeter: Command, study: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    result = swaymeter("run", study, *options, "--workspace", str(tmp_path / "file" / "below"))
    assert result.code == 1
    assert re.search(r"the workspace .*below cannot be written: .*; choose another --workspace", result.error)
    assert (tmp_path / "file").read_text() == "in the way"
    unknown_home = "~nobody-of-that-name/x"
    result = swaymeter("run", study, *options, "--workspace", unknown_home)
    assert (result.code, unknown_home.partition("/")[0] in result.error) == (2, True)


def test_offline_option_sets_variable_of_the_hub(swaymeter: Command, study: str) -> None:
    swaymeter("run", study, "--offline", "--dry-run")
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_an_interrupted_command_explains_how_to_continue(
    swaymeter: Command, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "execute", stop)
    result = swaymeter("run", study)
    assert result.code == 130
    assert "run the same command again" in result.err


CLI = (sys.executable, "-m", "swaymeter.flows.cli.main")
FETCH = (*CLI, "run", "quickstart", "--stage", "fetch", "--relation", "capital", "--workspace")
"""A command that loads no model; the folder of a workspace follows."""


def _run_process(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "200", "HF_HUB_OFFLINE": "1"} | variables
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def is_fetched(workspace: Path) -> bool:
    """Return True if the workspace has the facts of FETCH."""
    rows = Study.load("quickstart", str(workspace), ["capital"]).rows()
    return ("capital", "done") in {(row.subject, row.state) for row in rows if row.stage == "fetch"}


def test_a_closed_pipe_does_not_stop_a_run(tmp_path: Path, server_client: httpx.Client) -> None:
    script, url = '"$@" | head -1', str(server_client.base_url)
    result = _run_process(
        "bash", "-c", script, "bash", *FETCH, str(tmp_path), PYTHONIOENCODING="ascii", PREFECT_API_URL=url
    )
    assert (result.stdout.count("\n"), "Traceback" in result.stderr) == (1, False)
    assert is_fetched(tmp_path)


def test_output_that_cannot_be_written_is_a_failure() -> None:
    result = _run_process("bash", "-c", '"$@" >/dev/full', "bash", *CLI, "init", "--schema")
    message = "error  standard output cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr) == (1, message)


@pytest.mark.skipif(not can_mount(), reason="mounting takes root")
def test_a_read_only_workspace_has_usable_finished_steps(swaymeter: Command, tmp_path: Path) -> None:
    arguments = ("quickstart", "--relation", "capital", "--workspace", str(tmp_path))
    assert swaymeter("run", *arguments, "--stage", "fetch").code == 0
    subprocess.run(["mount", "--bind", str(tmp_path), str(tmp_path)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(tmp_path)], check=True)
        assert swaymeter("run", *arguments, "--stage", "fetch").code == 0
        result = swaymeter("run", *arguments, "--stage", "build")
        assert (result.code, result.error.startswith(f"the workspace {tmp_path} cannot be written")) == (1, True)
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_locked_workspace_fails(study: str, tmp_path: Path) -> None:
    with Workspace(tmp_path / "workspace").lock():
        result = _run_process(*CLI, "run", study)
    assert (result.returncode, result.stdout, "Traceback" in result.stderr) == (1, "", False)
    assert result.stderr.startswith(f"error  process {os.getpid()} on ")


LIGHT_COMMANDS = (
    "--help",
    "status {study}",
    "run {study} --dry-run",
    "list measures",
    "list relations",
    "list sources",
    "init --schema",
)
PRINT_HEAVY_IMPORTS = f"""
import sys
from swaymeter.flows.cli import main
for line in sys.argv[1:]:
    sys.argv = ["swaymeter", *line.split()]
    main.run_command()
    print("imported by", line, *sorted({{*{HEAVY_PACKAGES}}} & sys.modules.keys()), sep="|", file=sys.stderr)
"""


def test_the_command_line_imports_no_pyarrow() -> None:
    program = "import sys; from swaymeter.flows.cli import main; print('pyarrow' in sys.modules)"
    assert _run_process(sys.executable, "-c", program).stdout == "False\n"


def test_commands_without_computation_import_no_heavy_packages(study: str) -> None:
    commands = [line.format(study=study) for line in LIGHT_COMMANDS]
    lines = _run_process(sys.executable, "-c", PRINT_HEAVY_IMPORTS, *commands).stderr.splitlines()
    imported = [line for line in lines if line.startswith("imported by")]
    assert imported == [f"imported by|{line}" for line in commands]


YAGO = {"source": "yago", "relations": ["capital"]}
IMPOSSIBLE_STUDIES = [
    ({"models": [{"name": "smollm2-135m-instruct", "dtype": "4bit"}]}, "models.0: dtype '4bit' needs a CUDA device"),
    ({"models": [{"name": "./gone"}]}, "model './gone': the folder does not exist"),
    (
        {"facts": {"relations": ["capital"], "real_entities": 50}},
        "facts: relation capital: 50 real entities are requested, but the facts have only 37; lower `real_entities`",
    ),
    *(
        (
            {"facts": {**facts, "invented_entities": 50}},
            "facts: relation capital: 50 invented entities are requested, but only 24 names are available; lower",
        )
        for facts in ({"relations": ["capital"]}, YAGO)
    ),
    (
        {"facts": {"source": "csv", "file": "facts.csv", "relations": ["father"]}},
        "facts.relations: the CSV file has no facts of relation father; leave it out",
    ),
    (
        {"facts": {**YAGO, "dump": ["gone.nt"]}},
        "facts.dump: {folder}/gone.nt cannot be read: No such file or directory; correct the path",
    ),
    (
        {"questions": {"source": "dynamicqa", "folder": ".", "partitions": ["static"]}},
        "questions.folder: {folder}/Static_final.csv cannot be read: No such file or directory; correct the path",
    ),
    (
        {"questions": {"source": "wikidata", "triples": {"source": "file", "file": "gone.csv"}}},
        "questions.triples.file: {folder}/gone.csv cannot be read: No such file or directory; correct the path",
    ),
]


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["run", "dry-run"])
@pytest.mark.parametrize(("changes", "message"), IMPOSSIBLE_STUDIES)
def test_impossible_studies_are_refused_before_a_run(
    changes: Any, message: str, options: list[str], swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "facts.csv").write_text("relation,subject,object\ncapital,Norway,Oslo\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delattr(api, "prefect_api")  # no flow can start
    with added(FACT_SOURCES, source.SOURCE):
        study = write_study(tmp_path, small_study(tmp_path, **changes))
        result = swaymeter("run", study, *options)
    assert result.code == 2
    assert result.error.startswith(f"{study}: {message.replace('{folder}', str(tmp_path))}")


def test_devices_of_done_scores_do_not_matter(swaymeter: Command, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cuda:99"}]
    score(prepare(load_study(tmp_path, models=models)))
    assert swaymeter("run", str(tmp_path / "study.yaml"), "--stage", "score").code == 0
    assert swaymeter("run", str(tmp_path / "study.yaml"), "--stage", "score", "--force", "--dry-run").code == 2


def test_a_dry_run_fails_if_the_run_would(swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ModelError(f"{name} is not on the hub")

    monkeypatch.setattr(plan, "identify_language_model", fail)
    study = write_study(tmp_path, small_study(tmp_path))
    result = swaymeter("run", study, "--dry-run")
    assert result.code == 1
    assert result.error == f"{study}: {tmp_path / 'model'} is not on the hub"
    assert "estimated time" in result.out
