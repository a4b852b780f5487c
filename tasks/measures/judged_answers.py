"""Judged answers: a second opinion, of another language model, on whose answer each stored answer states.

`scoring.judging` has the prompt's form and the rule of the verdict. The answers that are looked for are those of
whose_answer, whose verdict stands beside the judge's. The judge is computed on this machine, or asked at a server.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from swaymeter.data.catalog import judge_prompt
from swaymeter.data.digests import content_key
from swaymeter.data.options import ModelName
from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row, cut_questions
from swaymeter.tasks.measures.rows import QuestionScore, of_cases, of_questions
from swaymeter.tasks.measures.whose_answer import sides
from swaymeter.tasks.models.backends import identify_language_model, load_language_model
from swaymeter.tasks.models.endpoints.endpoint import SERVED, Endpoint
from swaymeter.tasks.scoring.followed import Verdict
from swaymeter.tasks.scoring.judging import Case, Judgement, Unjudged, judged, judged_in_words
from swaymeter.tasks.scoring.wording.kinds import AnswerKind, kind_of

_SERVED = re.compile(r"(?P<name>.+?)@(?P<address>https?://[^\s/?#@]+(?:/[^\s?#]*)?)")


class JudgedAnswersParameters(Parameters):
    """Who judges, and what."""

    judge: ModelName = Field(min_length=1)
    """The judge: an alias of the catalog, a hub id or a folder; at a server NAME@ADDRESS, such as
    large@http://127.0.0.1:8000/v1."""
    dtype: Literal["float32", "bfloat16", "float16", "8bit", "4bit"] = "float32"
    """The dtype that a judge on this machine computes in."""
    key_from: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    """The environment variable that holds the key of the judge's server. The key itself stands in no file."""
    samples: bool = False
    """Whether sampled answers are judged, too, and not the greedy ones alone."""

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the judge is served; None where it is computed here."""
        served = _SERVED.fullmatch(self.judge)
        return Endpoint(served["name"], served["address"], key_from=self.key_from) if served else None

    @field_validator("judge")
    @classmethod
    def _has_an_address(cls, judge: str) -> str:
        if "://" in judge and not _SERVED.fullmatch(judge):
            raise ValueError("is no NAME@ADDRESS; write it as large@http://127.0.0.1:8000/v1, without ? and #")
        return judge

    @model_validator(mode="after")
    def _here_or_there(self) -> "JudgedAnswersParameters":
        if self.key_from and not self.endpoint:
            raise ValueError("key_from is for a judge at a server; write judge as NAME@ADDRESS, or leave key_from out")
        if self.endpoint and "dtype" in self.model_fields_set and self.dtype != "float32":
            raise ValueError("dtype is for a judge on this machine, and a server has its own; leave it out")
        return self


@table("judged_answers", "an answer")
class JudgedAnswer(QuestionScore):
    """A row of judged answers."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    judge: Annotated[str, Meaning("the model that judges")]
    judge_revision: Annotated[str, Meaning("its revision; served for one at a server")]
    verdict: Annotated[Verdict | None, Meaning(
        "whose answer it states by the judge: context (without a context: that of a conflicting one), original, both, "
        "neither, or refusal; NULL where the judge gives no verdict"
    )]
    log_probability: Annotated[float | None, Meaning(
        "log-probability of the verdict's letter after the judge's prompt; NULL of a judge at a server", "nats"
    )]
    unjudged: Annotated[Unjudged | None, Meaning(
        "why there is no verdict: there is no answer to look for, the prompt does not fit the judge's window, it "
        "replies with something else than an offered letter, or with nothing; NULL where there is one"
    )]
    rule: Annotated[Verdict, Meaning("whose answer it states by its words: the verdict of whose_answer")]
    agree: Annotated[bool | None, Meaning("whether both verdicts are the same; NULL where the judge gives none")]
    answer_kind: Annotated[AnswerKind, Meaning("what is looked for: yes or no, number or date, name or words")]


def _judged_answers(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    parameters: JudgedAnswersParameters = inputs.parameters["judged_answers"]
    cases: list[Case] = []
    rows: list[dict[str, Any]] = []
    origins = of_cases(inputs.scores["answers"], questions)
    answers = {greedy: of_questions(inputs, "answers", questions, "text", greedy=greedy) for greedy in (True, False)}
    stated = {
        greedy: of_questions(inputs, "whose_answer", questions, "verdict", greedy=greedy) for greedy in (True, False)
    }
    for question in questions:
        for case in question.cases:
            key = question.question_id, case.context_id
            original, context = sides(question, case)
            kind = kind_of([names[0] for names in (original, context) if names])
            for greedy in (True, False) if parameters.samples else (True,):
                rules = {row["sample"]: row["verdict"] for row in stated[greedy][key]}
                for row in answers[greedy][key]:
                    about = {"sample": row["sample"], "rule": rules[row["sample"]], "answer_kind": kind}
                    cases.append(Case(question.question, context, original, row["text"]))
                    rows.append({**origins[key], "stand_in": None, **about})
    judge = _judge(inputs)
    common = {"judge": judge.name, "judge_revision": judge.revision, "engine": f"judged by {judge.name}"}
    for row, judgement in zip(rows, _verdicts(inputs, judge, cases), strict=True):
        verdict = judgement.verdict
        agree = None if verdict is None else verdict == row["rule"]
        said = {"verdict": verdict, "log_probability": judgement.log_probability, "unjudged": judgement.reason}
        yield {**row, **common, **said, "agree": agree}


def _verdicts(inputs: Inputs, judge: Any, cases: Sequence[Case]) -> list[Judgement]:
    if inputs.parameters["judged_answers"].endpoint:
        return judged_in_words(judge, cases)
    return judged(judge, cases, batch_size=inputs.batch_size)


def _judge(inputs: Inputs, model: Any = None) -> Any:
    """The judge: of this machine, or the server's."""
    parameters: JudgedAnswersParameters = inputs.parameters["judged_answers"]
    if parameters.endpoint:
        return inputs.load_served(parameters.endpoint)
    return load_language_model(parameters.judge, dtype=parameters.dtype, device=inputs.device)


def _depends_on(parameters: JudgedAnswersParameters) -> dict[str, str]:
    revision = SERVED if parameters.endpoint else identify_language_model(parameters.judge).revision
    return {"judge": revision, "prompt": content_key(asdict(judge_prompt()))}


JUDGED_ANSWERS = Measure(
    row=JudgedAnswer, version=1, unit="nats", about="questions", needs=("answers", "whose_answer"),
    compute=_judged_answers, parameters=JudgedAnswersParameters, depends_on=_depends_on, other_model=_judge,
    chunks=cut_questions,
    meaning="whose answer each answer states in the judgement of another model, beside the rule's verdict",
)  # fmt: skip
