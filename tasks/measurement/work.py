"""A piece of work: one model, one relation, one family of measures, with its files and what is read from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from data.errors import MissingFile
from data.records import Context, Query, Question, of_row
from data.storage.keys import content_key
from data.storage.workspace import Stored


@dataclass(frozen=True)
class Work:
    """What a Prefect task run computes, and the files of it.

    inputs: the prompts that are read, by table; needs: the scores of other families that are read, by measure; wanted:
    the scores that are made, by measure; batch_size: prompts that are answered at once, where a study says how many.
    """

    relation: str
    model: str
    dtype: str
    device: str
    family: str
    seed: int
    inputs: Mapping[str, Stored]
    wanted: Mapping[str, Stored]
    needs: Mapping[str, Stored] = field(default_factory=dict)
    batch_size: int | None = None

    def parameters(self, measure: str) -> Mapping[str, Any]:
        """The parameters of a measure that is wanted."""
        found: Mapping[str, Any] = self.wanted[measure].made_from["parameters"]
        return found


@dataclass(frozen=True)
class Given:
    """What a piece of work rests on: its prompts, the scores that it needs, and the digest of the prompts."""

    dataset_version: str
    queries: Sequence[Query]
    contexts: Sequence[Context]
    questions: Sequence[Question]
    scores: Mapping[str, pa.Table]


def read(work: Work) -> Given:
    """What the work rests on; DamagedFile where a file of it is not there or cannot be read."""
    for name, stored in work.needs.items():
        if not stored.exists():
            raise MissingFile(f"the scores of {name} that {work.family} needs are not there; score them first")
    rows = {name: stored.read_as_written().to_pylist() for name, stored in work.inputs.items()}
    return Given(
        content_key({name: stored.digest() for name, stored in work.inputs.items()})[:12],
        [of_row(Query, row) for row in rows.get("queries", ())],
        [of_row(Context, row) for row in rows.get("contexts", ())],
        [of_row(Question, row) for row in rows.get("questions", ())],
        {name: stored.read() for name, stored in work.needs.items()},
    )
