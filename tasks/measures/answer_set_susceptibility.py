"""Answer-set susceptibility: the mean of stored answer-set persuasion over contexts; no model is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from data.records.row import Meaning, table
from tasks.measures.answer_set_persuasion import complete_answers
from tasks.measures.chunks import cut_by_form
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QueryScore
from tasks.measures.stored import matrix, of_queries
from tasks.measures.susceptibility import weighted_mean


@table("answer_set_susceptibility", "a query", key=("model", "dtype", "relation", "query_id"))
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSetSusceptibility(QueryScore):
    """A row of answer-set susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    answers: Annotated[int, Meaning("how many different answers the set has")]
    answer_set_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times answer-set persuasion", "nats")
    ]
    mass: Annotated[float, Meaning("probability of the whole set of complete answers, mean over the contexts")]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """The mean of every query's answer-set persuasion, and of the probability of its answers."""
    for queries in chunks:
        yield Rows({"answer_set_susceptibility": list(_rows(inputs, queries))})


def _rows(inputs: Inputs, queries: Chunk) -> Iterator[dict[str, Any]]:
    for some in cut_by_form(queries, len(inputs.contexts)):
        for query_type, grouped in groupby(some, key=lambda query: query.query_type):
            of_type, answers = list(grouped), len(complete_answers(inputs, query_type))
            stored = of_queries(inputs.scores["answer_set_persuasion"], of_type)
            scores, masses = (
                matrix(stored, of_type, inputs.contexts, column) for column in ("answer_set_persuasion", "mass")
            )
            origins = inherited(stored, "query_id")
            for query, score, mass in zip(of_type, weighted_mean(scores, inputs.contexts), masses, strict=True):
                yield {
                    "query_id": query.query_id,
                    "contexts": len(inputs.contexts),
                    "answers": answers,
                    "answer_set_susceptibility": float(score),
                    "mass": float(mass.mean()),
                    **origins[(query.query_id,)],
                }


MEASURE = Measure(
    name="answer_set_susceptibility",
    version=1,
    unit="nats",
    meaning="how far contexts move a query's distribution over the relation's complete answers on average",
    row=AnswerSetSusceptibility,
    about="contexts",
    compute=compute,
    needs=("answer_set_persuasion",),
)
