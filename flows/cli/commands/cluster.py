"""The commands that start the workers of a cluster for one study: `swaymeter cluster slurm`."""

from typing import Annotated

import typer

from swaymeter.data.errors import UsageError
from swaymeter.flows.cli import options
from swaymeter.flows.cli.commands.run import run_study
from swaymeter.flows.cli.console import print_line, print_product

cluster = typer.Typer(help="Run a study on jobs of a cluster's queue.")


@cluster.callback()
def _group() -> None:
    pass  # without a callback, Typer would leave out the name of a single command


@cluster.command()
def slurm(
    study: options.StudyPath,
    workspace: options.Folder = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Number of jobs; each is a worker.")] = 1,
    gpus: Annotated[
        int | None, typer.Option("--gpus", min=0, help="GPUs of a job; by default 1, or 0 for models of device cpu.")
    ] = None,
    cores: Annotated[int, typer.Option("--cores", min=1, help="Processors of a job.")] = 4,
    memory: Annotated[str, typer.Option("--memory", help="Main memory of a job.")] = "32GB",
    walltime: Annotated[str, typer.Option("--walltime", help="Time limit of a job, as for sbatch.")] = "24:00:00",
    partition: Annotated[str | None, typer.Option("--partition", "--queue", help="SLURM's partition.")] = None,
    account: Annotated[str | None, typer.Option("--account", help="SLURM's account.")] = None,
    offline: options.Offline = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the script of a job, and submit nothing.")] = False,
    traceback: options.Traceback = False,
) -> None:
    """Run a study on jobs of SLURM: Dask workers, submitted by sbatch, that end with the run.

    Example: [bold]swaymeter cluster slurm my-study.yaml --workers 8 --partition gpu --dry-run[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.execution.dask import Jobs
    from swaymeter.flows.stages.refusals import check_run

    selected = Study.load(study, workspace, runner="dask")
    if selected.study.execution.address:
        raise UsageError(
            f"{study}: execution.address names a cluster, but `swaymeter cluster slurm` starts a new cluster; leave "
            "execution.address out"
        )
    if gpus is None:
        gpus = int(any(model.device != "cpu" for model in selected.study.models))
    folder = selected.workspace.root
    jobs = Jobs(f"swaymeter-{folder.name}", folder, gpus, cores, memory, walltime, partition, account)
    if dry_run:
        print_product(jobs.script(), nl=False)
        return
    selected.check_models()
    with selected.workspace.lock():  # nothing is submitted for a workspace that another run uses
        check_run(selected.graph, selected.plan, selected.selection, name=study, offline=offline)
        print_line(f"{workers} jobs are submitted; the run begins with the first worker; Ctrl-C ends the jobs")
        with jobs.started(workers):
            run_study(selected, offline=offline, traceback=traceback)
