"""Names of flow runs that tell them apart, so that a person finds one and `prefect flow-run retry NAME` has one."""

from datetime import datetime
from pathlib import Path

from prefect.runtime import flow_run

from swaymeter.flows.graph.step import STAGES


def run_name() -> str:
    """The study, what of it is run, and the start; a run that is tried again keeps its name."""
    if flow_run.run_count:
        return str(flow_run.name)
    parameters = flow_run.parameters
    stages = parameters.get("stages") or STAGES
    whole = "run" if "stages" in parameters else flow_run.flow_name
    verb = whole if set(stages) == set(STAGES) else " and ".join(stages)
    if parameters.get("failed"):
        verb += " what failed"
    return f"{Path(parameters['study']).stem}, {verb}, {datetime.now():%Y-%m-%d %H:%M:%S}"
