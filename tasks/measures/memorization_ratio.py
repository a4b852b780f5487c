"""Memorization ratio: how often a model keeps its answer, counted over stored greedy answers; no model is needed."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore
from swaymeter.tasks.measures.stored import inherited


@table("memorization_ratio", "a query", key=QUERY_KEY)
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


def compute(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """The counts and ratios of every query over its own answers."""
    from swaymeter.tasks.scoring.memorization import count

    stored = inputs.scores["greedy_answers"]
    origins = inherited(stored, "query_id")
    followed: dict[str, list[Any]] = {query.query_id: [] for query in queries}
    for row in stored.select(["query_id", "conflict", "follows"]).to_pylist():
        followed[row["query_id"]].append((row["conflict"], row["follows"]))
    for query_id, answers in followed.items():
        yield {**origins[query_id], **count(answers)}


MEASURE = Measure(
    row=MemorizationRatio,
    version=1,
    meaning="how often a model holds on to a query's answer although contexts conflict with it",
    about="contexts",
    compute=compute,
    needs=("greedy_answers",),
)
