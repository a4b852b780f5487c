"""The workers that a study asks for."""

from flows.execution.workers.workers import Workers
from flows.graph.step import Run
from flows.study.sections.execution import ExecutionPart


def chosen_workers(execution: ExecutionPart, run: Run) -> Workers:
    """The workers of a run, not started yet. What only some of them need is imported for these alone."""
    if execution.runner == "processes":
        from flows.execution.workers.processes import Processes

        return Processes(execution.workers, execution.shares)
    if execution.runner == "dask":
        from flows.execution.workers.cluster import Cluster

        return Cluster(execution.address, execution.workers, run, execution.shares)
    return Workers()
