"""Runs with next to nothing to do, each with a temporary server of Prefect, on a machine that others keep busy.

A server that stands still where its database is locked for a minute would show here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.end_to_end.tiny_study import new_study
from tests.faults.campaign.record import Outcome
from tests.faults.campaign.studies import as_in_a_terminal, server

STALLED_SECONDS = 60.0
"""The timeout of a lock of the server's database: what takes longer stood still."""


def outcomes(count: int) -> Iterator[Outcome]:
    """An outcome for each run, which draws the page alone."""
    with tempfile.TemporaryDirectory(prefix="swaymeter-short-") as name:
        folder = Path(name)
        with server(folder) as api:
            (folder / "study").mkdir()
            study = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
            run = study.run("run")
            assert run.code == 0, run.said
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
        try:
            for _ in range(count):
                shutil.rmtree(study.workspace / "report")
                began = time.monotonic()
                with replace(study, api="").start("run", before=as_in_a_terminal) as running:
                    run = running.ended()
                seconds = time.monotonic() - began
                verdict = "STALLED" if seconds > STALLED_SECONDS else "ended" if run.code == 0 else "CRASHED"
                yield Outcome("short runs on a busy machine", verdict, seconds, 0.0, run.said)
        finally:
            for other in others:
                other.kill()
                other.wait()
