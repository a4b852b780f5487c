"""The workers that a study asks for."""

from collections.abc import Sequence

from swaymeter.flows.execution.workers.workers import Workers
from swaymeter.flows.graph.step import Run
from swaymeter.flows.stages.plan import Variant
from swaymeter.flows.study.sections.execution import ExecutionPart


def chosen_workers(execution: ExecutionPart, run: Run, asked: Sequence[Variant]) -> Workers:
    """The workers of a run, not started yet. What only some of them need is imported for these alone.

    asked: the variants, which workers that are elsewhere must be able to hold.
    """
    if execution.runner == "processes":
        from swaymeter.flows.execution.workers.processes import Processes

        return Processes(execution.workers, execution.shares)
    if execution.runner == "dask":
        from swaymeter.flows.execution.workers.cluster import Cluster

        models = {variant.place: variant.model for variant in asked}
        return Cluster(execution.address, execution.workers, run, execution.shares, models)
    return Workers()
