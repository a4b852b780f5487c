"""Sampled replies and a greedy reply to every question, closed-book and with each of its contexts.

If the clusters or coherent persuasion of the replies are missing, too, the same pass computes them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from swaymeter.data import catalog
from swaymeter.data.digests import content_key
from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.clusters import cluster_rows, load_equivalence_model, prefixes
from swaymeter.tasks.measures.coherent_persuasion import persuasion_rows
from swaymeter.tasks.measures.measure import ComputedRows, Inputs, Measure, Row
from swaymeter.tasks.measures.reply_samples import AnswersParameters, SampledReplies, reply_rejection, sample
from swaymeter.tasks.measures.rows import QuestionScore
from swaymeter.tasks.models.capabilities import ReplyState, Samples
from swaymeter.tasks.models.entailment import Entailment
from swaymeter.tasks.models.progress import reporting


@table("answers", "an answer")
class Answer(QuestionScore):
    """A row of answers."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    text: Annotated[str, Meaning("the answer")]
    token_ids: Annotated[tuple[int, ...], Meaning("its tokens, the end token included")]
    token_log_probs: Annotated[tuple[float, ...], Meaning("log-probabilities of the tokens at temperature 1", "nats")]
    state: Annotated[
        ReplyState,
        Meaning(
            "how it ended: complete; truncated at the limit of tokens; empty; tool_call, a call of a tool in place of "
            "a text; withheld, by a server's content filter; unfinished_thoughts, within its thoughts; failed, with "
            "an error of an application; unrecorded, because its row in the file has no reply; not_asked, because the "
            "file has no row for it. No other score counts the last five"
        ),
    ]
    context_cut: Annotated[
        int,
        Meaning(
            "tokens of the context's end that did not fit the model's window and were left out; 0 if all of it was read"
        ),
    ]
    thoughts: Annotated[str, Meaning("the thoughts that the model wrote before its answer; empty without thoughts")]
    thought_ids: Annotated[tuple[int, ...], Meaning("the tokens of its thoughts, their marks included")]
    thinking: Annotated[
        str | None,
        Meaning(
            "how the model was asked to think, such as enable_thinking=false; NULL if its chat template knows of no "
            "thoughts"
        ),
    ]
    error: Annotated[str | None, Meaning("the error of an application; NULL unless the state is failed")]


_REPLY_COLUMNS = ("text", "token_ids", "token_log_probs", "state", "thoughts", "thought_ids", "error")


def compute_chunks(inputs: Inputs, model: Samples, chunks: Sequence[Sequence[Question]]) -> ComputedRows:
    """Yield the replies of each chunk of questions, with clusters and coherent persuasion if the pass outputs them."""
    entailment = load_equivalence_model(inputs) if inputs.outputs & {"clusters", "coherent_persuasion"} else None
    for questions in chunks:
        prompts = sum(len(question.cases) for question in questions)
        share = 0.5 if entailment else 1.0  # share of the progress; the other half is for clustering
        with reporting(share * prompts, reports=prompts):
            sampled = sample(inputs, model, questions)
        rows: dict[str, Sequence[Row]] = {"answers": [row for case in sampled for row in _rows(case)]}
        if entailment:
            with reporting((1 - share) * prompts, reports=prompts):
                rows |= _derived_rows(inputs, sampled, entailment)
        yield rows


def _rows(case: SampledReplies) -> Iterator[Row]:
    for number, answer in (*enumerate(case.answers.samples), (None, case.answers.greedy)):
        yield {
            **case.columns,
            "sample": number,
            "context_cut": case.prompt.context_cut if case.prompt else 0,
            "thinking": case.thinking,
            **{name: getattr(answer, name) for name in _REPLY_COLUMNS},
        }


def _derived_rows(inputs: Inputs, sampled: Sequence[SampledReplies], entailment: Entailment) -> Mapping[str, list[Row]]:
    texts = [[answer.text for answer in case.finished_answers.values()] for case in sampled]
    equivalent = entailment.equivalent_in_bulk(texts, prefixes(inputs, (case.question for case in sampled)))
    stand_in = {"stand_in": entailment.stand_in}
    rows = {
        "clusters": [
            row
            for case, matrix in zip(sampled, equivalent, strict=True)
            for row in cluster_rows(inputs, matrix, list(case.finished_answers), {**case.columns, **stand_in})
        ]
    }
    if "coherent_persuasion" in inputs.outputs:
        distributions = [[answer.mean_distribution for answer in case.finished_answers.values()] for case in sampled]
        scores = persuasion_rows(inputs, sampled, distributions, equivalent)
        rows["coherent_persuasion"] = [{**row, **stand_in} for row in scores]
    return rows


ANSWERS = Measure(
    row=Answer,
    version=7,
    about="questions",
    capability="samples",
    compute_chunks=compute_chunks,
    rejection=reply_rejection,
    parameters=AnswersParameters,
    meaning="sampled answers and the greedy answer, from which all later scores of answers are computed",
    # The step's key already contains the prompts. Without this entry, the keys of stored scores would change.
    depends_on=lambda parameters: {"prompts": content_key(catalog.prompts().content)},
)
