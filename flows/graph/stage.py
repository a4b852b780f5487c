"""The stages of a study, in order. The command line imports this module alone of the graph: steps import pyarrow."""

from typing import Literal

Stage = Literal["fetch", "build", "score", "aggregate", "report"]
STAGES: tuple[Stage, ...] = ("fetch", "build", "score", "aggregate", "report")
