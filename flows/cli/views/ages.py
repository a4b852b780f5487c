"""Ages of stored answers of servers in an audit: the option --max-age, and lines about old answers."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd

from swaymeter.data.errors import UsageError
from swaymeter.flows.api import Study
from swaymeter.flows.cli.console import warn
from swaymeter.flows.cli.terminal import TerminalProgress
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import Selection
from swaymeter.reports.estimates import plural
from swaymeter.reports.frames import records

UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
MAX_AGE_IN_CI = timedelta(hours=24)
"""Limit of the age of stored answers in a CI pipeline."""
MIN_AGE_IN_OUTPUT = timedelta(minutes=5)
"""Age above which the stored answers of a server have a line in the output."""


def max_age_of(text: str | None) -> timedelta | None:
    """Return the age up to which stored answers of a server are used; None for any age.

    Args:
        text: The option --max-age, such as 24h, 30m, 7d or off. None: 24h in a CI pipeline, else any age.

    Raises:
        UsageError: The text is no age.
    """
    if text is None:
        return MAX_AGE_IN_CI if os.environ.get("CI") else None
    if text == "off":
        return None
    age = re.fullmatch(r"(\d{1,5})([mhd])", text, re.ASCII)
    if age is None:
        raise UsageError(f"--max-age {text!r} is not an age; write an age such as 24h, 30m or 7d, or the word off")
    return int(age[1]) * UNITS[age[2]]


def execute(
    study: Study, progress: TerminalProgress, max_age: timedelta | None, *, force: bool, offline: bool, wait: bool
) -> tuple[Graph, str]:
    """Run an audit; models with stored answers older than `max_age` are asked again.

    An offline run uses stored answers of any age.
    """
    stale = _stale_models(study, max_age) if max_age is not None and not (force or offline) else []
    if stale and len(stale) < len(study.study.models):
        stale_part = replace(study, selection=Selection(models=tuple(stale)))
        graph, message = stale_part.execute(progress, stages=["score"], force=True, wait=wait, on_wait=warn)
        if message:
            return graph, message
        stale = []  # `stale_part` has scored these models again
    return study.execute(progress, force=force or bool(stale), offline=offline, wait=wait, on_wait=warn)


def _stale_models(study: Study, max_age: timedelta) -> list[str]:
    """Return the names of served models and functions that have a stored answer older than `max_age`."""
    names = dict[str, None]()
    for node in study.graph:
        check = node.checks.get("answers") if node.id.stage == "score" else None
        if check is None or check.state != "done":
            continue
        model = study.plan.variant(node.id).model
        if not (model.endpoint or model.function):
            continue
        finished = datetime.fromisoformat(str((check.about or {})["finished_at"]))
        if datetime.now(UTC) - finished > max_age:
            names[model.name] = None
    return [*names]


def lines_of(servers: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each row of `served_models` whose oldest answer is older than MIN_AGE_IN_OUTPUT."""
    for row in records(servers):
        oldest = datetime.fromisoformat(str(row["oldest_answer"]))
        if (age := datetime.now(UTC) - oldest) > MIN_AGE_IN_OUTPUT:
            yield (
                f"the oldest answers of {row['model']} are {_duration(age)} old ({oldest:%Y-%m-%d %H:%M} UTC): --force "
                "asks the server again, and --max-age 24h asks it again if answers are older"
            )


def _duration(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    number, unit = (minutes, "minute") if minutes < 120 else (minutes // 60, "hour")
    return plural(number, unit) if number < 48 or unit == "minute" else plural(age.days, "day")
