"""Ctrl-C, in processes of their own."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.data.sources.servers.faults import Say, serving

WAITS = """
import os, signal, sys, threading, time
from pathlib import Path
from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.services import Service
from swaymeter.data.sources.http.session import shared_session
from swaymeter.flows.cli import interrupt

def ask(number):
    service = Service("YAGO", sys.argv[1], max_concurrency=2, requests_per_minute=60_000)
    try:
        shared_session(service, contact="tests@example.org", cache=Path(sys.argv[2])).ask({"q": str(number)})
    except ServiceError as error:
        print(error, flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with one that is ignored
interrupt.SECONDS = float(sys.argv[3])
interrupt.end_when_interrupted(lambda: os._exit(130))
steps = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
steps += [threading.Thread(target=time.sleep, args=(60,))] if sys.argv[4] == "computes" else []
for step in steps:
    step.start()
try:
    time.sleep(60)
except KeyboardInterrupt:
    for step in steps:  # a flow waits for the steps that it has begun
        step.join()
"""
SLOW = Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", endless=b" ", pause_s=0.5)


@pytest.mark.parametrize(("step", "seconds", "code"), [("fetches", 30.0, 0), ("computes", 1.0, 130)])
def test_first_interrupt_ends_whatever_threads_do(step: str, seconds: float, code: int, tmp_path: Path) -> None:
    with serving(SLOW) as server:
        arguments = [server.address, str(tmp_path), str(seconds), step]
        with subprocess.Popen([sys.executable, "-c", WAITS, *arguments], stdout=subprocess.PIPE, text=True) as process:
            server.waits_for(2, 60)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=60)
    assert (process.returncode, printed.count("the session is closed")) == (code, 3)
    assert time.monotonic() - began < 5
