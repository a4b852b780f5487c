"""Memorization ratio: how often a model keeps its answer, counted over stored greedy answers; no model is needed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from data.records.row import Meaning, table
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QueryScore
from tasks.measures.stored import of_queries


@table("memorization_ratio", "a query", key=("model", "dtype", "relation", "query_id"))
@dataclass(frozen=True, slots=True, kw_only=True)
class MemorizationRatio(QueryScore):
    """A row of memorization ratios."""

    original: Annotated[int, Meaning("answers after substitutions that give the original answer")]
    substitute: Annotated[int, Meaning("answers after substitutions that give the context's")]
    memorization_ratio: Annotated[
        float | None, Meaning("original / (original + substitute) over substitutions; NULL where both are 0")
    ]
    negation_original: Annotated[int, Meaning("answers after negations that give the original answer")]
    negation_substitute: Annotated[int, Meaning("answers after negations that give any other")]
    all_original: Annotated[int, Meaning("answers after any context that give the original answer")]
    all_substitute: Annotated[int, Meaning("answers after any context that give the context's")]
    memorization_ratio_all: Annotated[
        float | None, Meaning("the ratio over all contexts, as the released code has it; NULL where both are 0")
    ]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The counts and ratios of every query over its own answers."""
    from tasks.scoring.memorization import count

    for queries in chunks:
        stored = of_queries(inputs.scores["greedy_answers"], queries)
        origins = inherited(stored, "query_id")
        followed: dict[str, list[Any]] = {query.query_id: [] for query in queries}
        for row in stored.select(["query_id", "conflict", "follows"]).to_pylist():
            followed[row["query_id"]].append((row["conflict"], row["follows"]))
        rows = [
            {"query_id": query_id, **asdict(count(answers)), **origins[(query_id,)]}
            for query_id, answers in followed.items()
        ]
        yield Rows({"memorization_ratio": rows})


MEASURE = Measure(
    name="memorization_ratio",
    version=1,
    unit="",
    meaning="how often a model holds on to a query's answer although contexts conflict with it",
    row=MemorizationRatio,
    about="contexts",
    compute=compute,
    needs=("greedy_answers",),
)
