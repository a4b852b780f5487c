"""The flows by the names of their commands."""

from typing import Any

from prefect import Flow

from flows.aggregate import aggregate
from flows.build import build
from flows.fetch import fetch
from flows.progress import watch
from flows.report import report
from flows.score import score
from flows.study_flow import study

__all__ = ["FLOWS", "watch"]

FLOWS: dict[str, Flow[..., Any]] = {
    "run": study,
    "fetch": fetch,
    "build": build,
    "score": score,
    "aggregate": aggregate,
    "report": report,
}
