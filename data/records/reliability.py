"""Rows of reliability: how far a score varies where nothing but the sample, or the form of the query, is another."""

from typing import Annotated

from swaymeter.data.records.row import Meaning, table
from swaymeter.data.records.statistics import ModelScores


@table(
    "reliability",
    "how far a score of a relation's queries varies between seeds or query forms",
    key=("model", "dtype", "relation", "query_type", "measure", "over"),
)
class Reliability(ModelScores):
    """The variances of a score in a relation, each over a few scores of what is the same."""

    measure: Annotated[str, Meaning("the score that varies: persuasion or susceptibility")]
    over: Annotated[str, Meaning("over what it varies: seeds or forms")]
    compared: Annotated[
        str, Meaning("what has a variance: a query, or an entity with all forms; of persuasion, with each context")
    ]
    scores: Annotated[int, Meaning("scores that each variance is over")]
    n: Annotated[int, Meaning("variances: of queries and contexts that are in every sample, or have every form")]
    of_first: Annotated[int, Meaning("how many there would be if all of the first sample were in every other one")]
    mean_score: Annotated[float | None, Meaning("mean of the scores; NULL where nothing is compared", "nats")]
    variance: Annotated[float | None, Meaning("mean of the variances (over scores - 1)", "squared nats")]
    median: Annotated[float | None, Meaning("their median", "squared nats")]
    percentile_95: Annotated[float | None, Meaning("their 95th percentile", "squared nats")]
    largest: Annotated[float | None, Meaning("the largest", "squared nats")]
    untestable: Annotated[str | None, Meaning("why there is none; NULL where there is one")]
