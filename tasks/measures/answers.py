"""Answers: sampled answers and a greedy one to every question, without a context and with each of its two.

One pass samples the answers and, where they are asked for with them, clusters them and scores coherent persuasion: this
needs the next-token distributions along the answers, which are too large to be stored.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from data import catalog
from data.records import Question
from data.records.row import Meaning, table
from data.storage.keys import content_key
from tasks.measures.clusters import Judge, cluster_rows
from tasks.measures.coherent_persuasion import persuasion_rows
from tasks.measures.measure import Inputs, Measure, Row, Rows
from tasks.measures.rows import QuestionScore
from tasks.measures.sampled import AnswersParameters, Sampled, sample

if TYPE_CHECKING:
    from tasks.models import LanguageModel


@table("answers", "an answer")
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(QuestionScore):
    """A row of answers."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    text: Annotated[str, Meaning("the answer")]
    token_ids: Annotated[tuple[int, ...], Meaning("its tokens, the end-of-sequence step included")]
    token_log_probs: Annotated[tuple[float, ...], Meaning("log-probabilities of the tokens at temperature 1", "nats")]
    finished: Annotated[bool, Meaning("whether it ended before the limit of tokens")]
    context_cut: Annotated[
        int,
        Meaning(
            "tokens of the context's end that did not fit the model's window and were left out; 0 where all of it was "
            "read"
        ),
    ]


def compute_chunks(
    inputs: Inputs, model: "LanguageModel", chunks: Sequence[Sequence[Question]]
) -> Generator[Rows, None, None]:
    """Samples answers to every question under every condition; clusters and scores them where asked to."""
    judge = Judge(inputs) if inputs.outputs & {"clusters", "coherent_persuasion"} else None
    for questions in chunks:
        sampled = sample(inputs, model, questions)
        answers = [row for case in sampled for row in _rows(case)]
        yield {"answers": answers, **(_judged(inputs, sampled, judge) if judge else {})}


def _rows(case: Sampled) -> Iterator[Row]:
    for number, answer in (*enumerate(case.answers.samples), (None, case.answers.greedy)):
        yield {
            **case.columns,
            "sample": number,
            "text": answer.text,
            "token_ids": list(answer.token_ids),
            "token_log_probs": list(answer.token_log_probs),
            "finished": answer.finished,
            "context_cut": case.prompt.context_cut,
        }


def _judged(inputs: Inputs, sampled: Sequence[Sampled], judge: Judge) -> Rows:
    """The clusters of sampled answers and, where it is asked for, coherent persuasion."""
    texts = [[answer.text for answer in case.answers.samples] for case in sampled]
    equivalent, stand_in = judge.equivalent(texts, [case.question for case in sampled]), {"stand_in": judge.stand_in}
    clusters = [
        {**case.columns, **row, **stand_in}
        for case, matrix in zip(sampled, equivalent, strict=True)
        for row in cluster_rows(matrix)
    ]
    if "coherent_persuasion" not in inputs.outputs:
        return {"clusters": clusters}
    along = [[answer.mean_distribution for answer in case.answers.samples] for case in sampled]
    scores = [{**row, **stand_in} for row in persuasion_rows(inputs, sampled, along, equivalent)]
    return {"clusters": clusters, "coherent_persuasion": scores}


MEASURE = Measure(
    row=Answer,
    version=3,
    unit="",
    meaning="sampled answers and the greedy one, which every later score of answers is computed from",
    about="questions",
    compute_chunks=compute_chunks,
    capability="samples",
    parameters=AnswersParameters,
    depends_on=lambda parameters: {"prompts": content_key(asdict(catalog.prompts()))},
)
