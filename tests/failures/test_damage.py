"""Damaged files are named and computed again from their inputs, and a failed step stops no other."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from tests.end_to_end.tiny_study import Run, TinyStudy, truncate

ALL_DONE = "0 missing, 0 blocked, 0 failed, 0 damaged in"


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_damaged_files_are_named_and_computed_again(study: TinyStudy, undisturbed: tuple[TinyStudy, Run]) -> None:
    prompts, scores = study.stored_prompts("director", "persuasion"), study.scores()
    damaged_tables = [
        study.only_file("facts/facts-capital-*.parquet"),
        study.only_file("prompts/birthplace/queries-*.parquet"),
        study.only_file("scores/director/*/persuasion-*.parquet"),
    ]
    for path in damaged_tables:
        truncate(path)
    flip_a_bit(study.workspace / "study.duckdb")

    status = study.run("status")
    assert status.code == 1
    assert all(status.output.count(str(path)) == 1 for path in damaged_tables), status.output
    assert ", 3 damaged in" in status.output  # the database is blocked by the damaged scores

    again = study.run("run")
    assert (again.code, again.prompts) == (0, prompts), again.output
    assert all(str(path) in again.output for path in damaged_tables), again.output
    assert "Traceback" not in again.output
    assert study.scores() == scores
    assert study.results() == undisturbed[0].results()
    assert (status := study.run("status")).code == 0, status.output
    assert ALL_DONE in status.output


def test_damaged_database_and_report_are_written_again(study: TinyStudy) -> None:
    before, figure = study.results(), sorted((study.workspace / "report" / "figures").glob("*.svg"))[0]
    page, database = study.workspace / "report" / "index.html", study.workspace / "study.duckdb"
    damages: dict[Path, Callable[[Path], object]] = {
        page: lambda path: path.write_bytes(b""),
        figure: Path.unlink,
        database: flip_a_bit,
    }
    for path, damage in damages.items():
        content = path.read_bytes()
        damage(path)
        assert (status := study.run("status")).code == 1
        assert re.search(rf"damaged  [^\n]*{re.escape(str(path))}", status.output), status.output
        if path != database:
            path.write_bytes(content)
    figure.unlink()
    page.write_bytes(b"")
    again = study.run("run")
    assert (again.code, again.prompts) == (0, 0), again.output
    assert all(str(path) in again.output for path in damages), again.output
    assert figure.exists()
    assert page.stat().st_size
    assert study.results() == before
    assert study.run("status").code == 0


def test_a_relation_that_fails_stops_no_other(study: TinyStudy, tmp_path: Path) -> None:
    study = study.with_two_measures(tmp_path / "small.yaml")
    prompts = {relation: study.stored_prompts(relation, "persuasion") for relation in ("capital", "birthPlace")}
    for relation in prompts:
        study.delete_scores(relation)
    obstacle = study.workspace / "scores" / "capital"
    obstacle.touch()  # a file in place of a folder

    first = study.run("run")
    assert first.code == 1, first.output
    assert first.prompts == prompts["birthPlace"]
    assert "Traceback" not in first.output
    assert re.search(r"failed  [^\n]*score · capital · persuasion[^\n]* cannot be written", first.output), first.output

    with httpx.Client(base_url=study.api, trust_env=False, timeout=60) as api:
        artifacts = api.post("/artifacts/filter", json={"artifacts": {"key": {"any_": ["failed-steps"]}}}).json()
        (artifact,) = [row for row in artifacts if str(obstacle) in row["data"]]  # other studies have artifacts, too
        steps = {row["step"].split(" · ")[1] for row in json.loads(artifact["data"])}
        assert steps == {"capital"}
        run = api.get(f"/flow_runs/{artifact['flow_run_id']}").json()
        assert (run["state_name"], run["parameters"]["workspace"]) == ("Failed", str(study.workspace))

    status = study.run("status", "--all")
    failed_rows = [line.split("│") for line in status.output.splitlines() if re.search(r"│ failed +│", line)]
    assert (status.code, {row[1].strip() for row in failed_rows}) == (1, {"capital"})
    reasons = [line for line in status.output.splitlines() if line.startswith("failed  ")]
    assert len({line.partition(": ")[2] for line in reasons}) == len(reasons)  # each reason has one line

    obstacle.unlink()
    repaired = study.run("run")
    assert (repaired.code, repaired.prompts) == (0, prompts["capital"]), repaired.output
    assert ALL_DONE in study.run("status").output


def test_run_with_nothing_to_do_needs_no_server(study: TinyStudy) -> None:
    run = replace(study, api="http://127.0.0.1:9/api").run("run")  # no server has this address
    assert (run.code, run.prompts) == (0, 0), run.output
