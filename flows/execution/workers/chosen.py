"""The workers that a study asks for."""

from collections.abc import Mapping

from swaymeter.flows.execution.workers.workers import Workers
from swaymeter.flows.graph.step import Run
from swaymeter.flows.study.sections.execution import ExecutionPart
from swaymeter.flows.study.sections.model import ModelPart


def chosen_workers(execution: ExecutionPart, run: Run, asked: Mapping[int, ModelPart]) -> Workers:
    """The workers of a run, not started yet. What only some of them need is imported for these alone.

    asked: the models, by their place in the study file, which workers that are elsewhere must be able to hold.
    """
    if execution.runner == "processes":
        from swaymeter.flows.execution.workers.processes import Processes

        return Processes(execution.workers, execution.shares)
    if execution.runner == "dask":
        from swaymeter.flows.execution.workers.cluster import Cluster

        return Cluster(execution.address, execution.workers, run, execution.shares, asked)
    return Workers()
