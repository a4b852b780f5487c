"""A case in a process of its own: how it ends, how long it takes, and the most memory that it holds."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from tests.faults.campaign.record import LONGEST_SECONDS, Outcome

MOST_BYTES = 6 << 30
"""What a process may have at most, so that a fault does not fill the machine."""


def measured(row: str, case: Callable[..., str], *arguments: object) -> Outcome:
    """What comes of a function of a module, which gives a verdict, or raises: an error that says what to do refuses.

    Args:
        row: of the record.
        case: is called in the process.
        arguments: of the call; the first one names the case.
    """
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_measure, args=(sender, case.__module__, case.__name__, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(2 * LONGEST_SECONDS):
            return Outcome(row, "HUNG", 2 * LONGEST_SECONDS, detail=f"{arguments[:1]}")
        verdict, seconds, mib, detail = receiver.recv()
        return Outcome(row, verdict, seconds, mib, f"{arguments[:1]}: {detail}")
    except EOFError:
        process.join()
        return Outcome(row, "CRASHED", detail=f"{arguments[:1]}: exit status {process.exitcode}")
    finally:
        process.kill()
        process.join()


def _measure(sender: Connection, module: str, name: str, arguments: tuple[object, ...]) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    from swaymeter.data.errors import SwaymeterError

    case = getattr(import_module(module), name)
    began = time.monotonic()
    try:
        verdict, detail = case(*arguments), ""
    except SwaymeterError as error:
        verdict, detail = "refused", str(error)
    except MemoryError:
        verdict, detail = "TOO MUCH MEMORY", f"more than {MOST_BYTES >> 30} GiB"
    except Exception as error:
        verdict, detail = "CRASHED", repr(error)
    seconds = time.monotonic() - began
    sender.send((verdict, seconds, _most_mib(), detail))


def _most_mib() -> float:
    """The most memory that this process has held; `ru_maxrss` would begin with what the process before it held."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
