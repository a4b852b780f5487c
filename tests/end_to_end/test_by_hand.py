"""A run that a person starts: its page, its database and an output without noise."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.stages.aggregate import schema
from tests.end_to_end import forked_programs
from tests.end_to_end.tiny_study import COMMAND_SECONDS, ROOT, Run, TinyStudy


def test_a_run_leaves_a_page_and_a_database(undisturbed: tuple[TinyStudy, Run]) -> None:
    study, run = undisturbed
    assert run.prompts == study.stored_prompts() > 0
    assert (study.workspace / "report" / "index.html").exists()
    assert (study.workspace / "study.duckdb").exists()
    assert study.temporary_files() == []
    assert study.processes() == []


def test_database_has_measures_and_their_correlations(undisturbed: tuple[TinyStudy, Run]) -> None:
    study, _ = undisturbed
    with opened(study.workspace / "study.duckdb", schema()) as warehouse:
        queries = len(warehouse.frame("susceptibility_of_queries"))
        for name in ("fisher_of_queries", "memorization_of_queries", "answer_set_of_queries"):
            frame = warehouse.frame(name)
            assert len(frame) == queries > 0
            assert frame["susceptibility"].notna().all()
        assert "entity_independent_susceptibility" in set(warehouse.frame("runs")["measure"])
        correlations = warehouse.frame("correlations")
    assert {"fisher_top_k", "answer_set_susceptibility"} <= set(correlations["measure_a"])
    pooled = correlations[(correlations["level"] == "query") & (correlations["query_type"] == "all")]
    assert pooled.set_index("measure_a")["n"].to_dict()["fisher_top_k"] == queries


def test_output_has_no_noise_and_page_has_figures(study: TinyStudy, tmp_path: Path) -> None:
    study = replace(study.with_two_measures(tmp_path / "small.yaml"), api="")  # the run starts its own API
    process = subprocess.run(
        [sys.executable, "-m", forked_programs.__name__, "run", str(study.file), "--workspace", str(study.workspace)],
        cwd=ROOT,
        env=study.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    run = Run(process.returncode, process.stdout)
    assert (run.code, run.prompts) == (0, 0), run.output  # the workspace has all scores
    page = study.workspace / "report" / "index.html"
    assert "</html>" in page.read_text()
    assert len(list(page.parent.glob("figures/*.png"))) > 2
    for noise in ("Traceback", "Error", "WARNING", "prefect.", "Prefect", "nanobind", "leaked"):
        assert noise not in run.output
    assert study.processes() == []


def test_status_reports_that_all_is_done(undisturbed: tuple[TinyStudy, Run]) -> None:
    study, _ = undisturbed
    status = study.run("status")
    assert status.code == 0
    assert "0 missing, 0 blocked, 0 failed, 0 damaged in" in status.output
