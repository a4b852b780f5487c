"""A run that meets a fault goes on or says what to do, and the next run ends as an undisturbed one."""

import json
import random
from pathlib import Path

import pytest

from tests.end_to_end import preloaded_workers
from tests.faults.applications import APPLICATIONS
from tests.faults.case import Case, Disturbance
from tests.faults.kills import KILLS
from tests.faults.operations import OPERATIONS
from tests.faults.outages import OUTAGES
from tests.faults.services import JUDGES, SERVERS

FAULTS = [
    pytest.param(study, disturbance, id=f"{kind}: {name}")
    for kind, study, disturbances in (
        ("kills", "undisturbed_study", KILLS),
        ("outages", "undisturbed_study", OUTAGES),
        ("operations", "undisturbed_served_study", OPERATIONS),
        ("services", "undisturbed_served_study", SERVERS),
        ("services", "undisturbed_judged_audit", JUDGES),
        ("applications", "undisturbed_application_audit", APPLICATIONS),
    )
    for name, disturbance in disturbances.items()
]
"""Undisturbed study and disturbance of each test."""


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("study", "disturbance"), FAULTS)
def test_the_next_run_ends_as_undisturbed(
    study: str,
    disturbance: Disturbance,
    draw: int,
    generator: random.Random,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", json.dumps([preloaded_workers.__name__]))  # equal chunks
    undisturbed = request.getfixturevalue(study)
    copy = undisturbed.study.elsewhere(tmp_path / "workspace", with_files=False)
    case = Case(copy, undisturbed, tmp_path, generator)
    try:
        with disturbance(case):
            case.complete()
    finally:
        request.node.user_properties.append(("kills", case.kills))  # in the file of --junitxml
        for process in case.study.processes():
            process.kill()
