"""What a measure declares, and what its `compute` receives and yields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from data.records import Context, Query, Question
from data.records.row import table_of
from data.records.score import Score
from data.records.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

About = Literal["contexts", "queries", "questions"]
"""The prompts of a relation: every context before every query, every query alone, or questions with their contexts."""

Capability = Literal["next_token_logits", "samples", "answer_scores", "gradients"]
"""What a measure needs of a model; see tasks.models."""

Chunk = Sequence[Any]
"""Queries or questions that are computed, and stored, together."""


class Parameters(BaseModel):
    """The parameters of a measure in a study file; an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Inputs:
    """What a pass over one relation with one model reads.

    parameters: of each measure in `outputs`, by its name. scores: the stored rows of the measures that are needed, by
    name. outputs: the measures that this pass has to yield.
    """

    relation: str
    seed: int
    dataset_version: str
    queries: Sequence[Query]
    contexts: Sequence[Context]
    questions: Sequence[Question]
    scores: Mapping[str, "pa.Table"]
    parameters: Mapping[str, Any]
    outputs: frozenset[str]
    batch_size: int | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of one chunk, by measure, without the columns of `Score`, which are added when they are stored.

    engine: which engine computed them. stand_in: which model stood in for which. Both None for rows that are derived
    from stored scores: they inherit what those say.
    """

    by_measure: Mapping[str, Sequence[Mapping[str, Any]]]
    engine: str | None = None
    stand_in: str | None = None


Compute = Callable[[Inputs, Any, Sequence[Chunk]], Iterator[Rows]]
"""(inputs, model, chunks) -> the rows of each chunk, in order. The model is None for a derived measure."""


@dataclass(frozen=True)
class Measure:
    """A measure that a study can name.

    Attributes:
        name: of the measure, its table and its key in study files.
        version: raised when the same inputs give other numbers.
        unit: of its scores; "" for counts and truth values.
        meaning: what it measures, in one clause.
        row: its row type, a dataclass below `Score` that is decorated with @table.
        about: the prompts that it is about.
        compute: yields the rows of each chunk.
        capability: what it needs of a model; None for a measure that is derived from stored scores.
        needs: the measures whose stored rows it is computed from.
        pass_of: the measure whose pass yields this one, too, where both are missing; its `compute` is used.
        parameters: the model of its parameters.
        prompts_per_item: (inputs) -> how many prompts one query or question takes; sizes chunks and estimates time.
    """

    name: str
    version: int
    unit: str
    meaning: str
    row: type[Score]
    about: About
    compute: Compute
    capability: Capability | None = None
    needs: tuple[str, ...] = ()
    pass_of: str | None = None
    parameters: type[Parameters] = Parameters
    prompts_per_item: Callable[[Inputs], int] = lambda inputs: 1

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)
