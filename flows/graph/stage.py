"""The stages of a study, in order. The module is separate, because the command line must not import pyarrow."""

from typing import Literal

Stage = Literal["fetch", "build", "score", "aggregate", "report"]
STAGES: tuple[Stage, ...] = ("fetch", "build", "score", "aggregate", "report")
