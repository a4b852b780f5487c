"""What a run writes to goes away, fills up or is not read: it finishes its work, and ends with the code of the work."""

import fcntl
import os
import random
import shutil
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.end_to_end.tiny_study import new_study, prefect_server
from tests.faults.campaign.case import WENT_ON, Case, as_in_a_terminal, compare, judged
from tests.faults.campaign.record import Outcome

SECONDS_TO_BEGIN = 0.5
"""Before a command is told that its terminal goes away: until it has begun, that ends it, as it ends any program."""
PIPE_BYTES = 4096
NO_CHARACTERS = "an encoding lacks characters"


@dataclass(frozen=True)
class Streams:
    """What is called first of all in a command: something is going to happen to its streams.

    what: a key of FAULTS. bytes, seconds: how many are read, or pass, before. done: is there once the work is done.
    """

    what: str
    bytes: int
    seconds: float
    done: Path

    @property
    def encoding(self) -> str:
        """Of its output."""
        return "ascii" if self.what == NO_CHARACTERS else "utf-8"

    def __call__(self) -> None:
        """Gives the command these streams."""
        as_in_a_terminal()
        FAULTS[self.what](self)
        for name, number in (("stdout", 1), ("stderr", 2)):  # as Python begins with what it finds
            with suppress(OSError):
                setattr(sys, name, None)
                setattr(sys, name, open(number, "w", encoding=self.encoding, closefd=False))  # noqa: SIM115


def _reader_ends(streams: Streams) -> None:
    reader = _piped()
    _later(lambda: (os.read(reader, streams.bytes), os.close(reader)))


def _reader_waits(streams: Streams) -> None:
    reader = _piped()
    os.write(1, b"." * fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, PIPE_BYTES))

    def read() -> None:
        while not streams.done.exists():
            time.sleep(0.05)
        while os.read(reader, PIPE_BYTES):
            pass

    _later(read)


def _terminal_goes(streams: Streams) -> None:
    said, (leader, terminal) = os.dup(2), os.openpty()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(terminal, number)
    os.close(terminal)

    def show() -> None:
        last = time.monotonic() + SECONDS_TO_BEGIN + streams.seconds
        os.set_blocking(leader, False)
        while time.monotonic() < last:
            with suppress(BlockingIOError):
                os.write(said, os.read(leader, PIPE_BYTES))
            time.sleep(0.02)
        os.close(leader)

    _later(show)


def _closing(*numbers: int) -> Callable[[Streams], object]:
    return lambda streams: [os.close(number) for number in numbers]


def _filling(*numbers: int) -> Callable[[Streams], object]:
    return lambda streams: [os.dup2(os.open("/dev/full", os.O_WRONLY), number) for number in numbers]


def _piped() -> int:
    """Makes standard output a pipe; gives where it is read."""
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    os.close(writer)
    return reader


def _later(do: Callable[[], object]) -> None:
    threading.Thread(target=do, daemon=True).start()


FAULTS: dict[str, Callable[[Streams], object]] = {
    "the reader of a pipe ends": _reader_ends,
    "a pager reads nothing before the end": _reader_waits,
    "the terminal goes away": _terminal_goes,
    "standard output is closed": _closing(1),
    "standard error is closed": _closing(2),
    "all standard streams are closed": _closing(0, 1, 2),
    "a full disk takes no output": _filling(1),
    "a full disk takes neither output nor errors": _filling(1, 2),
    NO_CHARACTERS: lambda streams: None,
}


def outcomes(faults: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each fault; every kind comes as often as the others."""
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-streams-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        (folder / "study").mkdir()
        undisturbed = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
        run = undisturbed.run("run", before=as_in_a_terminal)
        assert run.code == 0, run.said
        for number in range(faults):
            what = [*FAULTS][number % len(FAULTS)]
            study = undisturbed.elsewhere(folder / f"workspace-{number}", with_files=False)
            case = Case(study, undisturbed, folder, generator)
            verdict, detail = judged(case, partial(outlasted, what=what))
            yield Outcome(what, verdict, case.took, f"seed {seed}, fault {number}: {detail}")
            shutil.rmtree(study.workspace, ignore_errors=True)


def outlasted(case: Case, what: str) -> str:
    """Runs a study to whose streams something happens, and sees that it was done all the same."""
    done = case.study.workspace / "report" / "manifest.json"
    streams = Streams(what, case.generator.randint(1, 2_000), case.generator.uniform(0.0, 5.0), done)
    case.happened()
    with case.study.start("run", before=streams) as running:
        case.outcome(running)
    compare(case.study, case.undisturbed)
    return WENT_ON
