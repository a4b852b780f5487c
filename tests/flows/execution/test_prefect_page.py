import subprocess
from collections.abc import Callable
from typing import Any

import httpx

from tests.waiting import wait_until

SCORING = """
import sys
from prefect import flow
from swaymeter.flows.execution import prefect_page
from swaymeter.flows.execution.progress import current_display
prefect_page.UPDATE_SECONDS = 0.1

@flow(name="study", flow_run_name="study, score, now")
def study():
    with prefect_page.scoring_updates():
        display = current_display()
        display.set_totals({"fetch": 9, "score": 4})
        display.end_step("fetch", "facts", None)
        display.end_step("score", "capital", None)
        display.advance_step("score", "father", 1, 2)
        sys.stdin.readline()
        for name in ("father", "mother", "author"):
            display.end_step("score", name, "no memory" if name == "author" else None)

study()
"""


def test_the_page_shows_the_progress_of_scoring(
    server_client: httpx.Client, program: Callable[..., subprocess.Popen[str]]
) -> None:
    def artifacts() -> list[tuple[Any, Any]]:
        response = server_client.post("/artifacts/filter", json={"artifacts": {"key": {"any_": ["scoring"]}}}).json()
        return [(artifact["data"], artifact["description"]) for artifact in response]

    with program(SCORING) as scoring:
        # One step and half a step of 4 are done.
        wait_until(lambda: artifacts() == [(37.5, "Scoring: 1 of 4 steps are done.")])
        assert scoring.communicate("go on\n", timeout=60)[1] == ""
    assert artifacts() == [(75.0, "Scoring: 3 of 4 steps are done; 1 failed.")]
