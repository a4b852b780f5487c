"""What is damaged is named and made again from its inputs; what cannot be made stops nothing else."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.end_to_end.tiny_study import Run, TinyStudy, cut_short

ALL_DONE = "0 missing, 0 blocked, 0 failed, 0 damaged in"


def flip_a_bit(path: Path) -> None:
    """Changes one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_what_is_damaged_is_named_and_made_again(study: TinyStudy, undisturbed: tuple[TinyStudy, Run]) -> None:
    asked, scores = study.stored_prompts("director", "persuasion"), study.scores()
    damaged = [
        study.one_file("facts/facts-capital-*.parquet"),
        study.one_file("prompts/birthplace/queries-*.parquet"),
        study.one_file("scores/director/*/persuasion-*.parquet"),
        study.workspace / "study.duckdb",
    ]
    for path in damaged[:3]:
        cut_short(path)
    flip_a_bit(damaged[3])

    status = study.run("status")
    assert status.code == 1
    assert all(status.said.count(str(path)) == 1 for path in damaged[:3]), status.said
    assert ", 3 damaged in" in status.said

    again = study.run("run")
    assert (again.code, again.prompts) == (0, asked), again.said
    assert all(str(path) in again.said for path in damaged[:3]), again.said
    assert "Traceback" not in again.said
    assert study.scores() == scores
    assert study.results() == undisturbed[0].results()
    assert (status := study.run("status")).code == 0, status.said
    assert ALL_DONE in status.said


def test_a_damaged_database_or_report_is_made_again(study: TinyStudy) -> None:
    before, figure = study.results(), sorted((study.workspace / "report" / "figures").glob("*.svg"))[0]
    page, database = study.workspace / "report" / "index.html", study.workspace / "study.duckdb"
    damages: dict[Path, Callable[[Path], object]] = {
        page: lambda path: path.write_bytes(b""),
        figure: Path.unlink,
        database: flip_a_bit,
    }
    for path, damage in damages.items():
        whole = path.read_bytes()
        damage(path)
        assert (status := study.run("status")).code == 1
        assert re.search(rf"damaged  [^\n]*{re.escape(str(path))}", status.said), status.said
        if path != database:
            path.write_bytes(whole)
    figure.unlink()
    page.write_bytes(b"")
    again = study.run("run")
    assert (again.code, again.prompts) == (0, 0), again.said
    assert all(str(path) in again.said for path in damages), again.said
    assert figure.exists()
    assert page.stat().st_size
    assert study.results() == before
    assert study.run("status").code == 0


def test_a_relation_that_fails_stops_no_other(study: TinyStudy, tmp_path: Path) -> None:
    study = study.with_fewer_figures(tmp_path / "small.yaml")
    asked = {relation: study.stored_prompts(relation, "persuasion") for relation in ("capital", "birthPlace")}
    for relation in asked:
        study.forget_scores(relation)
    obstacle = study.workspace / "scores" / "capital"
    obstacle.touch()  # a file where a folder has to be

    failed = study.run("run")
    assert failed.code == 1, failed.said
    assert failed.prompts == asked["birthPlace"]
    assert "Traceback" not in failed.said
    assert re.search(r"failed  [^\n]*score · capital · persuasion[^\n]* cannot be written", failed.said), failed.said

    with httpx.Client(base_url=study.api, trust_env=False, timeout=60) as api:
        artifacts = api.post("/artifacts/filter", json={"artifacts": {"key": {"any_": ["failed-steps"]}}}).json()
        (artifact,) = [one for one in artifacts if str(obstacle) in one["data"]]  # other studies have theirs
        steps = {row["step"].split(" · ")[1] for row in json.loads(artifact["data"])}
        assert steps == {"capital"}
        run = api.get(f"/flow_runs/{artifact['flow_run_id']}").json()
        assert (run["state_name"], run["parameters"]["workspace"]) == ("Failed", str(study.workspace))

    status = study.run("status", "--all")
    failed_rows = [line.split("│") for line in status.said.splitlines() if re.search(r"│ failed +│", line)]
    assert (status.code, {row[1].strip() for row in failed_rows}) == (1, {"capital"})
    reasons = [line for line in status.said.splitlines() if line.startswith("failed  ")]
    assert len({line.partition(": ")[2] for line in reasons}) == len(reasons)

    obstacle.unlink()
    mended = study.run("run")
    assert (mended.code, mended.prompts) == (0, asked["capital"]), mended.said
    assert ALL_DONE in study.run("status").said


def test_run_with_nothing_to_do_needs_no_server(study: TinyStudy) -> None:
    nowhere = TinyStudy(study.file, study.workspace, study.prefect_home, study.mark, "http://127.0.0.1:9/api")
    run = nowhere.run("run")
    assert (run.code, run.prompts) == (0, 0), run.said
