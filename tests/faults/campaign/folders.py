"""A disk that is full, or a folder that is not mounted: of the workspace, or of Prefect; it takes root."""

import shutil
import subprocess
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from swaymeter.flows.graph.step import Stage
from tests.faults.campaign.case import SAID, Case, NotHitError, as_in_a_terminal
from tests.mounts import MIB, mounted


def workspace_full(case: Case, stage: Stage) -> str:
    """The disk of the workspace is full where a stage begins; somebody makes room before the next run."""
    with mounted(case.study.workspace, 64 * MIB) as workspace:
        outcome = case.through(stage, partial(_fill, workspace), "No space left on device")
        (workspace / "filling").unlink()
        case.complete()
    return outcome


def no_more_files(case: Case, stage: Stage) -> str:
    """The disk of the workspace has room, but can name no further file, where a stage begins."""
    with mounted(case.study.workspace, 64 * MIB, files=2_000) as workspace:
        outcome = case.through(stage, partial(_fill_table, workspace), "No space left on device")
        shutil.rmtree(workspace / "filling")
        case.complete()
    return outcome


def workspace_away(case: Case, seconds: float) -> str:
    """The shared folder of the workspace is not mounted for so many seconds."""
    workspace, shared = case.study.workspace, case.folder / "shared"
    shared.mkdir()
    workspace.mkdir()
    mount = ["mount", "--bind", str(shared), str(workspace)]
    later = threading.Timer(seconds, subprocess.run, (mount,), {"check": True})

    def leave() -> None:
        subprocess.run(["umount", "--lazy", str(workspace)], check=True)
        later.start()

    subprocess.run(mount, check=True)
    try:
        outcome = case.through("score", leave, f"the workspace {workspace} is away")
        later.join()
        case.complete()  # also where the run went on: what it did meanwhile is looked at first
        if outcome != SAID:
            raise NotHitError("the run did not see that its folder was away")
    finally:
        later.cancel()
        if later.is_alive():
            later.join()
        while subprocess.run(["umount", "--lazy", str(workspace)], capture_output=True, check=False).returncode == 0:
            pass  # each of its mounts, of which os.path.ismount sees none on one file system
    return outcome


def _fill(folder: Path) -> None:
    with (folder / "filling").open("wb", buffering=0) as file:
        for size in (MIB, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def _fill_table(folder: Path) -> None:
    (folder / "filling").mkdir()
    with suppress(OSError):
        for number in count():
            (folder / "filling" / str(number)).touch()


def prefect_full(case: Case, stage: Stage | None) -> str:
    """The folder of a temporary server is full where a stage begins, or before the start."""
    with mounted(case.folder / "prefect", 64 * MIB) as home:
        study = replace(case.study, prefect_home=home, api="")
        if stage:
            shutil.copy(case.study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
            outcome = case.through(stage, partial(_fill, home), study=study)
        else:
            _fill(home)
            case.happened()
            with study.start("run", before=as_in_a_terminal) as running:
                outcome = case.outcome(running, str(home))
    case.complete()
    return outcome
