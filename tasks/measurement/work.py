"""A piece of work: one model, one relation, one family of measures, with its files."""

from collections.abc import Mapping
from dataclasses import dataclass

from data.workspace import Stored


@dataclass(frozen=True)
class Work:
    """What a Prefect task run computes: the files that are read, and those that are wanted, by table and measure."""

    relation: str
    model: str
    dtype: str
    device: str
    family: str
    seed: int
    inputs: Mapping[str, Stored]
    wanted: Mapping[str, Stored]
