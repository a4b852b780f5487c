"""The registry of measures: name, version, unit, columns, and what each needs.

A family is the set of measures that one pass over a relation yields together; it is what a Prefect task run computes.
Study files, `status`, the database and the page read this registry; `tasks.measurement` says how a family is computed.
"""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from data.errors import UnknownName
from data.tables import PROVENANCE, Column, Table


class NoParameters(BaseModel):
    """A measure without parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswersParameters(BaseModel):
    """How answers are sampled and when two of them count as equivalent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(default=10, ge=1, le=1000)
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    temperature: float = Field(default=0.5, gt=0, le=10)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    entailment: str = "microsoft/deberta-large-mnli"
    threshold: float = Field(default=0.8, gt=0, le=1)


class AccuracyParameters(BaseModel):
    """When an answer counts as the expected one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)


@dataclass(frozen=True)
class Measure:
    """A measure that a study can name."""

    name: str
    version: int
    family: str
    unit: str
    meaning: str
    table: Table
    inputs: str
    needs: tuple[str, ...] = ()
    parameters: type[BaseModel] = NoParameters


def _scores(name: str, row: str, *columns: Column) -> Table:
    return Table(name, row, (*columns, *PROVENANCE))


_RELATION = Column("relation", "VARCHAR", "the relation's name")
_QUESTION = Column("question_id", "VARCHAR", "the question")
_CONDITION = Column("condition", "VARCHAR", "none, original or counter_memory: the context before the question")

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "persuasion",
            1,
            "persuasion",
            "nats",
            "how far a context moves the next-token distribution of a query",
            _scores(
                "persuasion",
                "a context before a query",
                _RELATION,
                Column("query_id", "VARCHAR", "the query"),
                Column("context_id", "VARCHAR", "the context"),
                Column("relevant", "BOOLEAN", "whether the context mentions the query's entity"),
                Column("persuasion", "DOUBLE", "KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats"),
            ),
            inputs="contexts",
        ),
        Measure(
            "susceptibility",
            1,
            "persuasion",
            "nats",
            "how far contexts move a query on average",
            _scores(
                "susceptibility",
                "a query",
                _RELATION,
                Column("query_id", "VARCHAR", "the query"),
                Column("contexts", "BIGINT", "how many contexts the mean is over"),
                Column("susceptibility", "DOUBLE", "sum over contexts of p(c) times persuasion: I(C;A|q)", "nats"),
            ),
            inputs="contexts",
        ),
        Measure(
            "answers",
            1,
            "answers",
            "",
            "sampled answers and the greedy one, with the words that every later score rests on",
            _scores(
                "answers",
                "an answer",
                _RELATION,
                _QUESTION,
                _CONDITION,
                Column("sample", "BIGINT", "number of the sample from 0; NULL for the greedy answer", nullable=True),
                Column("text", "VARCHAR", "the answer"),
                Column("token_ids", "BIGINT[]", "its tokens, the end-of-sequence step included"),
                Column("token_log_probs", "DOUBLE[]", "log-probabilities of the tokens at temperature 1", "nats"),
                Column("finished", "BOOLEAN", "whether it ended before the limit of tokens"),
                Column(
                    "answer_group", "BIGINT", "its group of equivalent answers; NULL for the greedy one", nullable=True
                ),
            ),
            inputs="questions",
            parameters=AnswersParameters,
        ),
        Measure(
            "semantic_entropy",
            1,
            "answers",
            "nats",
            "how many meanings the sampled answers spread over",
            _scores(
                "semantic_entropy",
                "a question under a condition",
                _RELATION,
                _QUESTION,
                _CONDITION,
                Column("groups", "BIGINT", "number of groups of equivalent answers"),
                Column("semantic_entropy", "DOUBLE", "-1/V sum_v log sum_{k in v} p(a_k|x)", "nats"),
                Column(
                    "semantic_entropy_length_normalised", "DOUBLE", "the same with mean token log-probabilities", "nats"
                ),
                Column("semantic_entropy_rao", "DOUBLE", "entropy of renormalised group probabilities", "nats"),
                Column("cluster_assignment_entropy", "DOUBLE", "entropy of the group sizes", "nats"),
            ),
            inputs="questions",
            needs=("answers",),
        ),
        Measure(
            "coherent_persuasion",
            1,
            "answers",
            "nats",
            "how far a context moves the distributions of groups of answers",
            _scores(
                "coherent_persuasion",
                "a question under a condition with a context",
                _RELATION,
                _QUESTION,
                _CONDITION,
                Column("groups_without", "BIGINT", "groups of answers without the context"),
                Column("groups_with", "BIGINT", "groups of answers with the context"),
                Column(
                    "coherent_persuasion", "DOUBLE", "mean KL(p_h || p_g) over pairs of groups with and without", "nats"
                ),
            ),
            inputs="questions",
            needs=("answers",),
        ),
        Measure(
            "accuracy",
            1,
            "correctness",
            "",
            "whether the greedy answer is the expected one",
            _scores(
                "accuracy",
                "a question under a condition",
                _RELATION,
                _QUESTION,
                _CONDITION,
                Column("expected", "VARCHAR", "the answer that the condition states"),
                Column("answer", "VARCHAR", "the greedy answer"),
                Column("accurate", "BOOLEAN", "ROUGE-L F-measure over the threshold"),
            ),
            inputs="questions",
            needs=("answers",),
            parameters=AccuracyParameters,
        ),
        Measure(
            "persuaded",
            1,
            "correctness",
            "",
            "whether the context changed the greedy answer to its own, or not at all",
            _scores(
                "persuaded",
                "a question under a condition with a context",
                _RELATION,
                _QUESTION,
                _CONDITION,
                Column("answer_without", "VARCHAR", "greedy answer without the context"),
                Column("answer_with", "VARCHAR", "greedy answer with the context"),
                Column("context_answer", "VARCHAR", "the answer that the context states"),
                Column("persuaded", "BOOLEAN", "without it another answer, with it the context's"),
                Column("stubborn", "BOOLEAN", "with and without it the same answer, not the context's"),
                Column("context_correct", "BOOLEAN", "with it the context's answer, whatever it was without"),
                Column("stubborn_released", "BOOLEAN", "with it not the context's answer, and the one from without"),
            ),
            inputs="questions",
            needs=("answers",),
            parameters=AccuracyParameters,
        ),
    )
}

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(measure.family for measure in MEASURES.values()))


def measure(name: str) -> Measure:
    """The registered measure of a name; UnknownName with the nearest one otherwise."""
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)
    return MEASURES[name]
