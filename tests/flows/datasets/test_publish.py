import json
from pathlib import Path

import duckdb
import pytest

import swaymeter.reports.publish as publishing
from swaymeter.flows.api import Study
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages.report import DRAW_REPORT
from swaymeter.flows.study_graph import graph_of
from tests.flows.conftest import Command
from tests.flows.small_study import prepare, run, score, small_study, write_study
from tests.registries import only


@pytest.fixture
def study(tmp_path: Path) -> str:
    """Return the file of a study without scores."""
    return write_study(tmp_path, small_study(tmp_path, questions=None, measures={"persuasion": {}}))


def test_a_study_without_a_database_is_refused(study: str, tmp_path: Path, swaymeter: Command) -> None:
    result = swaymeter("publish", study, str(tmp_path / "paper"))
    assert result.code == 2
    assert "has no current database" in result.error
    assert f"swaymeter run {study}" in result.error
    assert not (tmp_path / "paper").exists()


def test_a_study_is_published(study: str, tmp_path: Path, swaymeter: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = score(prepare(Study.load(study)))
    run(lambda: graph_of(scored.plan), Selection(stages=("aggregate",)))
    with only(publishing.FIGURES, ()), only(publishing.TABLES, ()):
        result = swaymeter("publish", study, str(tmp_path / "paper"))
    assert (result.code, result.out) == (0, f"{tmp_path / 'paper' / 'manifest.json'}\n")
    manifest = json.loads((tmp_path / "paper" / "manifest.json").read_text(encoding="utf-8"))
    assert (tmp_path / "paper" / "study.yaml").read_bytes() == Path(study).read_bytes()
    assert manifest["commands"] == ["swaymeter run study.yaml", "swaymeter publish study.yaml paper"]
    # `score` writes "0" for the hardware and for every version.
    assert manifest["runs_computed_with"] == [dict.fromkeys(manifest["runs_computed_with"][0], "0")]
    assert manifest["published_on"]["processor"]
    assert {"numpy", "pandas", "scipy", "torch"} <= manifest["versions"].keys()
    assert (manifest["seeds"], manifest["keys_of_further_seeds"]) == ([0], [])
    keys = []  # keys of the report; a new catalog changes the key, because the page prints texts of the catalog
    for catalog in ("old", "new"):
        monkeypatch.setattr("swaymeter.data.catalog.digest", lambda name, catalog=catalog: f"{catalog} {name}")
        step = graph_of(scored.plan).nodes[DRAW_REPORT.id("study")].step
        assert step is not None
        keys.append(step.outputs["files"].key)
    assert keys[0] != keys[1]
    assert {"facts", "queries", "persuasion", "runs"} <= {file.stem for file in (tmp_path / "paper" / "data").iterdir()}
    with duckdb.connect(tmp_path / "paper" / "study.duckdb", read_only=True) as database:
        assert database.execute("SELECT count(*) > 0 FROM persuasion").fetchone() == (True,)
    (scored.workspace.root / "study.duckdb").unlink()
    assert swaymeter("publish", study, str(tmp_path / "paper")).code == 2
