"""Answers: sampled answers and a greedy one to every question, without a context and with each of its two.

One pass samples the answers and, where they are asked for with them, groups them and scores coherent persuasion: this
needs the next-token distributions along the answers, which are too large to be stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from data import catalog
from data.records import CONDITIONS, Condition, Question
from data.records.row import Meaning, table
from data.storage.keys import content_key
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Parameters, Row, Rows
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import QuestionKey

if TYPE_CHECKING:
    from tasks.scoring.answer_prompts import AnswerPrompt
    from tasks.scoring.generation import SampledAnswers


class AnswersParameters(Parameters):
    """How answers are sampled."""

    samples: int = Field(default=10, ge=1, le=1000)
    """Sampled answers of each prompt."""
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    """The most tokens of an answer."""
    temperature: float = Field(default=0.5, gt=0, le=10)
    """The temperature of sampling."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """The probability mass that is sampled from."""
    top_k: int = Field(default=0, ge=0)
    """The likeliest tokens that are sampled from; 0 for all."""


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


@dataclass(frozen=True)
class Sampled:
    """The answers to a question under a condition.

    Attributes:
        question: the question.
        condition: which of its contexts stands before it.
        prompt: what the model read.
        answers: the samples and the greedy answer, with the distributions along them.
        engine: which engine sampled them.
    """

    question: Question
    condition: Condition
    prompt: "AnswerPrompt"
    answers: "SampledAnswers"
    engine: str

    @property
    def key(self) -> QuestionKey:
        """What identifies the question under the condition."""
        return self.question.question_id, self.condition

    @property
    def columns(self) -> Row:
        """The columns that name the question, the condition and the engine."""
        return {"question_id": self.question.question_id, "condition": self.condition, "engine": self.engine}


def compute(inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> Computed:
    """Samples answers to every question under every condition; clusters and scores them where asked to."""
    from tasks.measures.clusters import Judge, cluster_rows
    from tasks.measures.coherent_persuasion import persuasion_rows

    judge = Judge(inputs) if inputs.outputs & {"clusters", "coherent_persuasion"} else None
    for questions in chunks:
        sampled = sample(inputs, model, questions)
        rows: dict[str, Sequence[Row]] = {
            "answers": [row for sample_of_case in sampled for row in _rows(sample_of_case)]
        }
        if judge:
            texts = [[answer.text for answer in sample_of_case.answers.samples] for sample_of_case in sampled]
            equivalent = judge.equivalent(texts, [sample_of_case.question for sample_of_case in sampled])
            stand_in = {"stand_in": judge.stand_in}
            rows["clusters"] = [
                {**sample_of_case.columns, **row, **stand_in}
                for sample_of_case, matrix in zip(sampled, equivalent, strict=True)
                for row in cluster_rows(matrix)
            ]
            if "coherent_persuasion" in inputs.outputs:
                along = [
                    [answer.mean_distribution for answer in sample_of_case.answers.samples]
                    for sample_of_case in sampled
                ]
                scores = persuasion_rows(inputs, sampled, along, equivalent)
                rows["coherent_persuasion"] = [{**row, **stand_in} for row in scores]
        yield Rows(rows)


def sample(inputs: Inputs, model: Any, questions: Sequence[Question]) -> list[Sampled]:
    """The answers to every question under every condition; the same ones whenever it is called with the same inputs."""
    from tasks.scoring.answer_prompts import answer_prompt
    from tasks.scoring.generation import engine, sample_answers

    parameters: AnswersParameters = inputs.parameters["answers"]
    cases = [(question, condition) for question in questions for condition in CONDITIONS]
    prompts = [
        answer_prompt(model, question.question, question.context(condition), reserved_tokens=parameters.max_new_tokens)
        for question, condition in cases
    ]
    tokens = [prompt.tokens for prompt in prompts]
    answers = sample_answers(
        model,
        tokens,
        [(question.question_id, condition) for question, condition in cases],
        seed=inputs.seed,
        batch_size=inputs.batch_size,
        **parameters.model_dump(),
    )
    engine_name = engine(model, tokens)
    return [
        Sampled(question, condition, prompt, of_prompt, engine_name)
        for (question, condition), prompt, of_prompt in zip(cases, prompts, answers, strict=True)
    ]


def _rows(sampled: Sampled) -> Iterator[Row]:
    for number, answer in (*enumerate(sampled.answers.samples), (None, sampled.answers.greedy)):
        yield {
            **sampled.columns,
            "sample": number,
            "text": answer.text,
            "token_ids": list(answer.token_ids),
            "token_log_probs": list(answer.token_log_probs),
            "finished": answer.finished,
            "context_cut": sampled.prompt.context_cut,
        }


MEASURE = Measure(
    name="answers",
    version=3,
    unit="",
    meaning="sampled answers and the greedy one, which every later score of answers is computed from",
    row=Answer,
    about="questions",
    compute=compute,
    capability="samples",
    parameters=AnswersParameters,
    depends_on=lambda parameters: {"prompts": content_key(asdict(catalog.prompts()))},
)
