"""The stages of a study, in order. The module is not part of graph.py, whose import of pyarrow would slow commands."""

from typing import Literal

Stage = Literal["fetch", "build", "score", "aggregate", "report"]
STAGES: tuple[Stage, ...] = ("fetch", "build", "score", "aggregate", "report")
