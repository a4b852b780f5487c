"""The measures on sampled answers to questions."""

from data.parameters import AccuracyParameters, AnswersParameters
from data.records.tables import Column
from data.registry import CONDITION, QUESTION, Measure, scores


def _error(score: str) -> Column:
    """The column of a score's standard error."""
    return Column(
        f"{score}_standard_error",
        "DOUBLE",
        f"standard error of {score}, from halves of the answers; NULL where none were drawn",
        "nats",
        nullable=True,
    )


ANSWER_MEASURES = (
    Measure(
        "answers",
        2,
        "answers",
        "",
        "sampled answers and the greedy one, with the words that every later score rests on",
        scores(
            "answers",
            "an answer",
            QUESTION,
            CONDITION,
            Column("sample", "BIGINT", "number of the sample from 0; NULL for the greedy answer", nullable=True),
            Column("text", "VARCHAR", "the answer"),
            Column("token_ids", "BIGINT[]", "its tokens, the end-of-sequence step included"),
            Column("token_log_probs", "DOUBLE[]", "log-probabilities of the tokens at temperature 1", "nats"),
            Column("finished", "BOOLEAN", "whether it ended before the limit of tokens"),
            Column("answer_group", "BIGINT", "its group of equivalent answers; NULL for the greedy one", nullable=True),
            Column(
                "context_cut",
                "BIGINT",
                "tokens of the context's end that did not fit the model's window and were left out; 0 where all of it "
                "was read",
            ),
        ),
        inputs="questions",
        parameters=AnswersParameters,
    ),
    Measure(
        "semantic_entropy",
        2,
        "answers",
        "nats",
        "how many meanings the sampled answers spread over",
        scores(
            "semantic_entropy",
            "a question under a condition",
            QUESTION,
            CONDITION,
            Column("groups", "BIGINT", "number of groups of equivalent answers"),
            Column("group_sizes", "BIGINT[]", "the groups' sizes in order of opening"),
            Column("semantic_entropy", "DOUBLE", "-1/V sum_v log sum_{k in v} p(a_k|x)", "nats"),
            Column(
                "semantic_entropy_length_normalised", "DOUBLE", "the same with mean token log-probabilities", "nats"
            ),
            Column("semantic_entropy_rao", "DOUBLE", "entropy of renormalised group probabilities", "nats"),
            Column("cluster_assignment_entropy", "DOUBLE", "entropy of the group sizes", "nats"),
            _error("semantic_entropy"),
            _error("semantic_entropy_length_normalised"),
            _error("semantic_entropy_rao"),
            _error("cluster_assignment_entropy"),
        ),
        inputs="questions",
        needs=("answers",),
    ),
    Measure(
        "coherent_persuasion",
        2,
        "answers",
        "nats",
        "how far a context moves the distributions of groups of answers",
        scores(
            "coherent_persuasion",
            "a question under a condition with a context",
            QUESTION,
            CONDITION,
            Column("groups_without", "BIGINT", "groups of answers without the context"),
            Column("groups_with", "BIGINT", "groups of answers with the context"),
            Column("group_sizes_without", "BIGINT[]", "their sizes without the context, in order of opening"),
            Column("group_sizes_with", "BIGINT[]", "their sizes with the context, in order of opening"),
            Column(
                "coherent_persuasion", "DOUBLE", "mean KL(p_h || p_g) over pairs of groups with and without", "nats"
            ),
            _error("coherent_persuasion"),
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
        scores(
            "accuracy",
            "a question under a condition",
            QUESTION,
            CONDITION,
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
        scores(
            "persuaded",
            "a question under a condition with a context",
            QUESTION,
            CONDITION,
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
