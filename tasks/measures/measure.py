"""What a measure declares, and what its `compute` receives and yields."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from data.options import Options
from data.records import CONDITIONS, Context, Query, Question
from data.records.row import table_of
from data.records.score import Score
from data.records.table import Table
from tasks.models.capabilities import Capability

if TYPE_CHECKING:
    import pyarrow as pa

About = Literal["contexts", "queries", "questions"]
"""The prompts of a relation: every context before every query, every query alone, or questions with their contexts."""

INPUTS: Mapping[About, tuple[str, ...]] = {
    "contexts": ("queries", "contexts"),
    "queries": ("queries",),
    "questions": ("questions",),
}
"""The tables of prompts that a measure about them reads."""

Chunk = Sequence[Any]
"""Queries or questions that are computed, and stored, together."""

Row = Mapping[str, Any]


class Parameters(Options):
    """The parameters of a measure in a study file; an unknown key is refused."""


@dataclass(frozen=True)
class Amounts:
    """How many queries, contexts and questions a relation has."""

    queries: int = 0
    contexts: int = 0
    questions: int = 0


@dataclass(frozen=True)
class Inputs:
    """What a pass over one relation with one model reads.

    Attributes:
        relation: its name.
        seed: of the study.
        dataset_version: the digest of the prompts.
        queries: of the relation; empty for a pass about questions, as are the contexts.
        contexts: of the relation.
        questions: of the relation; empty for a pass about queries.
        scores: the stored rows of the measures that are needed, by name.
        parameters: of the measures in `outputs` and of those that they need, by name.
        outputs: the measures that the pass has to yield.
        device: where models are loaded, as a study names it.
        batch_size: prompts that are answered at once; None for as many as are worth it.
    """

    relation: str
    seed: int
    dataset_version: str
    queries: Sequence[Query] = ()
    contexts: Sequence[Context] = ()
    questions: Sequence[Question] = ()
    scores: Mapping[str, "pa.Table"] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    outputs: frozenset[str] = frozenset()
    device: str = "auto"
    batch_size: int | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of one chunk.

    Attributes:
        by_measure: a row lacks the relation, and of the provenance columns of `Score` those that the pass's model
            says: all but the engine. A row that is derived from stored ones has all of them, inherited from these.
        forward_passes: calls of other models than the pass's own.
    """

    by_measure: Mapping[str, Sequence[Row]]
    forward_passes: int = 0


Computed = Generator[Rows, None, None]
Compute = Callable[[Inputs, Any, Sequence[Chunk]], Computed]
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
        depends_on: (parameters) -> what else its numbers depend on, by name: revisions of other models, wordings.
        chunks: (inputs, model) -> what is computed and stored together; by default see `tasks.measures.chunks`.
        prompts: (amounts, parameters) -> how many prompts a model reads or answers for them; by default all of those
            that it is about.
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
    depends_on: Callable[[Any], Mapping[str, str]] = lambda parameters: {}
    chunks: Callable[[Inputs, Any], Sequence[Chunk]] | None = None
    prompts: Callable[[Amounts, Any], int] | None = None

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)

    def count_prompts(self, amounts: Amounts, parameters: Any) -> int:
        """How many prompts a model reads or answers; 0 for a derived measure."""
        if self.prompts is not None:
            return self.prompts(amounts, parameters)
        if self.capability is None:
            return 0
        return {
            "contexts": amounts.queries * amounts.contexts,
            "queries": amounts.queries,
            "questions": amounts.questions * len(CONDITIONS),
        }[self.about]
