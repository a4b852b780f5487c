"""A study by hand: one command, which says what it did and nothing else."""

from tests.end_to_end.tiny_study import Run, TinyStudy


def test_a_run_computes_everything_and_leaves_a_page_and_a_database(undisturbed: tuple[TinyStudy, Run]) -> None:
    study, run = undisturbed
    assert run.forward_passes == study.stored_passes() > 0
    assert (study.workspace / "report" / "index.html").exists()
    assert (study.workspace / "study.duckdb").exists()
    assert study.temporary_files() == []
    assert study.processes() == []


def test_a_run_without_a_server_says_nothing_of_prefect_and_no_traceback(undisturbed: tuple[TinyStudy, Run]) -> None:
    _, run = undisturbed
    for noise in ("Traceback", "Error", "WARNING", "prefect.", "Prefect", "nanobind", "leaked"):
        assert noise not in run.said


def test_status_says_that_all_is_done(undisturbed: tuple[TinyStudy, Run]) -> None:
    study, _ = undisturbed
    status = study.run("status")
    assert status.code == 0
    assert "0 failed, 0 missing" in status.said
