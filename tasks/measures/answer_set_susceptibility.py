"""Answer-set susceptibility: the mean of stored answer-set persuasion over contexts; no model is needed."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

from swaymeter.data.records import Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.answer_set_persuasion import complete_answers
from swaymeter.tasks.measures.chunks import cut_by_form
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUERY_KEY, QueryScore
from swaymeter.tasks.measures.stored import inherited, matrix
from swaymeter.tasks.measures.susceptibility import weighted_mean


@table("answer_set_susceptibility", "a query", key=QUERY_KEY)
class AnswerSetSusceptibility(QueryScore):
    """A row of answer-set susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    answers: Annotated[int, Meaning("how many different answers the set has")]
    answer_set_susceptibility: Annotated[
        float, Meaning("sum over contexts of p(c) times answer-set persuasion", "nats")
    ]
    mass: Annotated[float, Meaning("probability of the whole set of complete answers, mean over the contexts")]


def compute(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    """The mean of every query's answer-set persuasion, and of the probability of its answers."""
    stored = inputs.scores["answer_set_persuasion"]
    origins = inherited(stored, "query_id")
    answers = {kind: len(complete_answers(inputs, kind)) for kind in {query.query_type for query in queries}}
    for chunk in cut_by_form(queries, inputs.contexts_a_query):
        for _, grouped in groupby(chunk, key=lambda query: query.query_type):
            for some, contexts in inputs.asked(list(grouped)):
                columns = ("answer_set_persuasion", "mass")
                scores, masses = (matrix(stored, some, contexts, column) for column in columns)
                for query, score, mass in zip(some, weighted_mean(scores, contexts), masses, strict=True):
                    yield {
                        **origins[query.query_id],
                        "contexts": len(contexts),
                        "answers": answers[query.query_type],
                        "answer_set_susceptibility": float(score),
                        "mass": float(mass.mean()),
                    }


MEASURE = Measure(
    row=AnswerSetSusceptibility,
    version=1,
    unit="nats",
    meaning="how far contexts move a query's distribution over the relation's complete answers on average",
    about="contexts",
    compute=compute,
    needs=("answer_set_persuasion",),
)
