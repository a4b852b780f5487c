"""Waiting for what a process does."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.end_to_end.tiny_study import Command

MOST_SECONDS = 90


def until(reached: Callable[[], bool], command: Command) -> None:
    """Returns when it is so; AssertionError where the process ends before, or a minute and a half has passed."""
    last = time.monotonic() + MOST_SECONDS
    while not reached():
        assert command.poll() is None, command.ended().said
        assert time.monotonic() < last
        time.sleep(0.02)


def task_runs(api: httpx.Client, flow_run: str) -> list[dict[str, Any]]:
    """The task runs of a flow run that has ended, once the server has recorded all: it does so every second."""
    last = time.monotonic() + MOST_SECONDS
    while True:
        asked = {"flow_runs": {"id": {"any_": [flow_run]}}}
        found: list[dict[str, Any]] = api.post("/task_runs/filter", json=asked).json()
        states = {row["name"]: row["state_type"] for row in found}
        if "report · study · page" in states and {*states.values()} <= {"COMPLETED", "FAILED"}:
            return found
        assert time.monotonic() < last, states
        time.sleep(0.2)
