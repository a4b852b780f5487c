"""A workspace on a network file system: a GlusterFS server of one folder, and mounts of it, each like another host.

It has locks that hold between hosts, and is reached through FUSE, which kernels have that have no NFS and no 9p. It
takes root, and Debian's packages glusterfs-server and glusterfs-client.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from swaymeter.flows.execution.interrupt import TOLD_TO_END
from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import new_study, prefect_server, until
from tests.faults.campaign.case import SAID, BrokenError, Case, Held, judged
from tests.faults.campaign.outages import two_hosts
from tests.faults.campaign.record import Outcome

COMES_SECONDS = 20.0
"""By then a server listens, and a folder is mounted."""
PING_SECONDS = 10
"""A mount gives up a server that is silent for longer, and asks it again later."""
SERVER = """
volume disk
  type storage/posix
  option directory {folder}
end-volume
volume share
  type features/locks
  subvolumes disk
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port {port}
  option auth.addr.share.allow 127.0.0.1
  subvolumes share
end-volume
"""
CLIENT = """
volume share
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port {port}
  option remote-subvolume share
  option ping-timeout {ping}
end-volume
"""


class Share:
    """A folder that a server of its own shares, and its mounts; all of them end on leaving."""

    def __init__(self, folder: Path) -> None:
        """Nothing has been started. folder: an empty one."""
        self._folder, self._port, self._server = folder, free_port(), None
        self._mounts: dict[Path, subprocess.Popen[bytes]] = {}
        (folder / "disk").mkdir()

    def start(self) -> None:
        """Starts the server, also again."""
        self._server = self._started("glusterfsd", "server", SERVER)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the server."""
        assert self._server
        self._server.send_signal(number)
        if number == signal.SIGKILL:
            self._server.wait()

    def mounted(self, host: str) -> Path:
        """The folder as one more host sees it."""
        place = self._folder / host
        place.mkdir()
        self._mounts[place] = self._started("glusterfs", host, CLIENT, str(place))
        last = time.monotonic() + COMES_SECONDS
        while not os.path.ismount(place):
            assert time.monotonic() < last, (self._folder / f"{host}.log").read_text()
            time.sleep(0.1)
        return place

    def _started(self, program: str, name: str, volume: str, *arguments: str) -> subprocess.Popen[bytes]:
        file, log = self._folder / f"{name}.vol", self._folder / f"{name}.log"
        file.write_text(volume.format(folder=self._folder / "disk", port=self._port, ping=PING_SECONDS))
        log.touch()  # without it a folder is made in its place
        return subprocess.Popen([program, "--no-daemon", "-f", str(file), "-l", str(log), *arguments])

    def __enter__(self) -> "Share":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        for place, process in self._mounts.items():
            subprocess.run(["umount", "--lazy", str(place)], check=False)
            process.kill()
            process.wait()
        self.signal(signal.SIGKILL)


def outcomes(seed: int) -> Iterator[Outcome]:
    """An outcome for each fault of the share; none where it cannot be had."""
    if os.geteuid() or not (shutil.which("glusterfsd") and os.path.exists("/dev/fuse")):
        return
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="swaymeter-network-") as name, prefect_server(Path(name)) as api:
        folder = Path(name)
        (folder / "study").mkdir()
        undisturbed = new_study(folder / "study", api).with_fewer_figures(folder / "few.yaml")
        run = undisturbed.run("run")
        assert run.code == 0, run.said
        for number, (row, happens) in enumerate(CASES.items()):
            of_case = folder / f"case-{number}"
            of_case.mkdir()
            with Share(of_case) as share:
                study = undisturbed.elsewhere(share.mounted("host-a") / "workspace", with_files=False)
                case = Case(study, undisturbed, of_case, generator)
                verdict, detail = judged(case, partial(happens, share=share))
            yield Outcome(row, verdict, case.took, detail)


def silent(case: Case, share: Share, seconds: float) -> str:
    """The server does not answer for so many seconds while chunks are scored."""
    later = threading.Timer(seconds, share.signal, (signal.SIGCONT,))

    def fall_silent() -> None:
        share.signal(signal.SIGSTOP)
        later.start()

    try:
        outcome = case.through("score", fall_silent, *SENTENCES)
    finally:
        if later.is_alive():
            later.join()
    _complete(case)
    return outcome


def _complete(case: Case) -> None:
    last = time.monotonic() + COMES_SECONDS
    while not os.path.exists(case.study.workspace) and time.monotonic() < last:
        time.sleep(0.1)
    case.complete()


def restarted(case: Case, share: Share) -> str:
    """The server is killed while chunks are scored, and starts again after five seconds."""

    def restart() -> None:
        share.signal(signal.SIGKILL)
        later.start()

    later = threading.Timer(5.0, share.start)
    try:
        outcome = case.through("score", restart, *SENTENCES)
    finally:
        if later.is_alive():
            later.join()
    _complete(case)
    return outcome


def two_mounts(case: Case, share: Share) -> str:
    """While a run of one host scores, another host is refused, and one that waits computes nothing."""
    return two_hosts(case, replace(case.study, workspace=share.mounted("host-b") / "workspace"))


def told_to_end(case: Case, share: Share) -> str:
    """A run is told to end by SIGTERM while the server does not answer."""
    held = Held("score", case.folder)
    with case.study.start("run", before=held) as running:
        until(held.reached.exists, running)
        share.signal(signal.SIGSTOP)
        held.may_go.touch()
        time.sleep(1.0)
        case.happened()
        os.kill(running.pid, signal.SIGTERM)
        run = running.ended()
        case.took = time.monotonic() - case.began
    share.signal(signal.SIGCONT)
    if run.code not in (-signal.SIGTERM, TOLD_TO_END) or "Traceback" in run.said:
        raise BrokenError("ENDED OTHERWISE", f"exit status {run.code}: {run.said}")
    if case.took > 2 * PING_SECONDS:
        raise BrokenError("TOO SLOW", f"{case.took:.1f} s")
    _complete(case)
    return "stopped"


def lock_lost(case: Case, share: Share) -> str:
    """The server forgets while a run scores who holds the folder, and another host begins there, too."""
    other = replace(case.study, workspace=share.mounted("host-b") / "workspace")
    held, late = Held("score", case.folder), case.folder / "late"
    late.mkdir()
    held_there = Held("score", late)
    with case.study.start("run", before=held) as first:
        until(held.reached.exists, first)
        case.happened()
        share.signal(signal.SIGKILL)
        share.start()
        until(partial(os.path.exists, other.workspace / "workspace.json"), first)  # Path.exists raises for a time
        with other.start("run", before=held_there) as second:
            until(held_there.reached.exists, second)
            held.may_go.touch()
            held_there.may_go.touch()
            if case.outcome(first, "is held by two runs") != SAID:
                raise BrokenError("WENT ON", "the run that lost the lock did not end")
            outcome = case.outcome(second, "cannot be read")  # a file that the first run has replaced
    _complete(case)
    return outcome


SENTENCES = ("is away: its workspace.json is not there", "Transport endpoint is not connected")
CASES: dict[str, Callable[..., str]] = {
    "network folder silent for 5 s": partial(silent, seconds=5.0),
    "network folder silent for 60 s": partial(silent, seconds=60.0),
    "server of a network folder killed and started again": restarted,
    "SIGTERM while a network folder is silent": told_to_end,
    "two runs on one network folder, of two hosts": two_mounts,
    "a network folder forgets who holds it, two runs at once": lock_lost,
}
