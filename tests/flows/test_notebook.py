"""Studies from Python: results as data frames with units and types, and errors that name the failed step."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import swaymeter
from swaymeter.data.errors import InputError, UsageError, WorkFailed, WorkspaceError
from swaymeter.flows.api import Study
from tests.data.warehouse.small_study import build_study, small_study


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> swaymeter.Results:
    folder = tmp_path_factory.mktemp("results")
    build_study(folder / "study.duckdb", small_study())
    return swaymeter.open(folder)


def test_units_and_types_survive_a_file(results: swaymeter.Results, tmp_path: Path) -> None:
    ratios = results.frame("memorization_ratio")
    assert ratios["memorization_ratio"].isna().tolist() == [False, True]  # 0 / (0 + 0) is missing
    assert ratios.dtypes["substitute"] == pd.Int64Dtype()
    frame = results.frame("susceptibility_of_queries")
    frame.to_parquet(tmp_path / "frame.parquet")
    reloaded = pd.read_parquet(tmp_path / "frame.parquet")
    assert reloaded.attrs["units"]["susceptibility"] == "nats"
    pd.testing.assert_frame_equal(reloaded, frame)


def test_sql_keeps_units_of_columns_by_name(results: swaymeter.Results) -> None:
    frame = results.sql("SELECT max(persuasion) AS persuasion, count(*) AS n FROM persuasion")
    assert frame.to_dict("list") == {"persuasion": [6.0], "n": [6]}
    assert frame.attrs["units"] == {"persuasion": "nats"}


def test_names_include_tables_and_named_queries(results: swaymeter.Results) -> None:
    assert {"persuasion", "susceptibility_of_queries", "models_side_by_side"} <= {*results.names()}


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda results: results.frame("no such"), UsageError),
        (lambda results: results.sql("SELECT nothing FROM nowhere"), InputError),
        (lambda results: results.sql("SELECT * FROM read_text('/etc/hostname')"), Exception),
        (lambda results: results.findings(), WorkspaceError),
        (lambda results: swaymeter.open(results.database.parent / "files"), UsageError),
    ],
)
def test_impossible_requests_raise_errors(read: Any, error: type[Exception], results: swaymeter.Results) -> None:
    with pytest.raises(error):
        read(results)


def test_a_run_compared_with_itself_does_not_differ(results: swaymeter.Results) -> None:
    frame = swaymeter.compare(results.database, results.database.parent)
    assert len(frame) > 0
    assert not frame["difference"].any()
    assert frame.attrs == {"changes": [], "unmatched": []}


def test_a_failed_run_names_its_step_and_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(study: Study, progress: Any, **options: bool) -> tuple[Any, str]:
        progress.failures["score · capital"] = "no such model"
        return SimpleNamespace(), "1 step failed"

    monkeypatch.setattr(Study, "execute", execute)
    with pytest.raises(WorkFailed, match="1 step failed: score · capital: no such model"):
        swaymeter.Study.load("quickstart", tmp_path).run()
