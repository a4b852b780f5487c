"""Run a study as a flow run of Prefect from this process, whose API is the configured one or a temporary one."""

import importlib
import signal

from swaymeter.data.errors import WorkFailed, first_line
from swaymeter.flows.execution.interrupt import TERMINATED
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.run import StudyRun

FLOW = "swaymeter.flows.study"
"""Imports Prefect, which takes longer than anything else."""


def run_flow(study: str, run: StudyRun, progress: Progress) -> str:
    """Run the flow of a study, which takes over the run that this process has begun; return why it failed, or "".

    Args:
        study: Path or name of the study, a parameter of the flow run.
        run: The run that has begun.
        progress: Is shown meanwhile.

    Raises:
        WorkFailed: The API failed in the middle of the run.
    """
    from swaymeter.flows.server.temporary import prefect_api

    with prefect_api(FLOW) as url, progress:
        from prefect.exceptions import TerminationSignal

        flow = importlib.import_module(FLOW)
        try:
            state = flow.study(study, **run.parameters, return_state=True)
        except TerminationSignal:  # the first process of a container, which Prefect's SIGTERM does not end
            raise SystemExit(TERMINATED) from None
        except Exception as error:  # of Prefect: those of the flow are in its state
            _end_if_terminated(error)
            raise WorkFailed(
                f"Prefect's API at {url} failed in the middle of the run ({first_line(error)}); what was computed "
                "is kept: run the same command again"
            ) from None
    if state.is_completed():
        return ""
    if state.is_crashed():
        state.result()  # raises what ended the flow
    if state.data is not None and isinstance(raised := state.result(raise_on_failure=False), BaseException):
        raise raised
    return state.message or "the run failed"


def _end_if_terminated(error: BaseException) -> None:
    """End the run if Prefect's API failed while Prefect reported that a signal ends the run."""
    from prefect.exceptions import TerminationSignal

    came_before = [error]
    for cause in came_before:
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        if isinstance(cause, TerminationSignal):
            signal.raise_signal(signal.SIGTERM)
            raise SystemExit(TERMINATED)  # the first process of a container does not end by the signal alone
        earlier = (cause.__cause__, cause.__context__)
        came_before += [error for error in earlier if error and error not in came_before]
