"""The names of what computes the steps that ask a model; imports nothing, as the command line begins with it."""

from typing import Literal

RunnerName = Literal["threads", "processes", "dask"]
