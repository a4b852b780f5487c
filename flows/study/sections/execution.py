"""The section `execution` of a study file: where the steps are computed that ask a model."""

from pydantic import Field

from swaymeter.data.options import Options
from swaymeter.flows.study.sections.runner import RunnerName


class ExecutionPart(Options):
    """Where steps that ask a model are computed; all others stay in the process that runs the study. No score depends
    on it. `--runner` on the command line takes the place of `runner`."""

    runner: RunnerName = "threads"
    """threads: one at a time in the process that runs the study; processes: worker processes on this machine, one a
    GPU, each of which keeps its model; dask: workers of a Dask cluster. The last two need the extra `dask`."""
    workers: int | None = Field(default=None, ge=1, le=1000)
    """Worker processes, also of a Dask cluster that the run starts; null: one a GPU, or two where there is none."""
    shares: int = Field(default=1, ge=1, le=1000)
    """In how many shares each score step is cut, computed by so many workers at once: for a study of fewer relations
    than workers. Not with the runner threads."""
    address: str | None = Field(default=None, pattern=r"^(tcp|tls|ucx|ws|wss)://\S+$")
    """The scheduler of a Dask cluster, such as tcp://10.0.0.1:8786; null: what the environment variable
    DASK_SCHEDULER_ADDRESS says, else a cluster on this machine that ends with the run."""
