"""Verdicts of a judge on stored replies: on undecided replies, and on random replies that the rule decided.

A reply is undecided if its column `decided_by` in whose_answer is NULL. The judge's verdict on an undecided reply
replaces the rule's verdict. A decided reply keeps the rule's verdict; the judge's verdict serves only the agreement of
judge and rule. `scoring.judging` has the kinds of judges. Verdicts are stored, so that a judge reads equal replies to a
question once.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationInfo, field_validator, model_validator

from swaymeter.data.catalog import judge_prompt
from swaymeter.data.digests import content_key, digest_of_named_file
from swaymeter.data.errors import ModelError
from swaymeter.data.options import ModelName, beside_the_study
from swaymeter.data.randomness import generator
from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.tasks.measures.measure import Chunk, ComputedRows, Inputs, Measure, Parameters, Row, cut_questions
from swaymeter.tasks.measures.rows import QuestionScore, question_provenance, rows_by_question
from swaymeter.tasks.measures.whose_answer import sides
from swaymeter.tasks.models.endpoints.endpoint import KEY_FROM, SERVED, Endpoint
from swaymeter.tasks.models.entailment import load_entailment
from swaymeter.tasks.models.files.identity import identify_judge
from swaymeter.tasks.models.loading import load_language_model
from swaymeter.tasks.models.pretrained import BALANCED
from swaymeter.tasks.scoring.citations import without_marks
from swaymeter.tasks.scoring.followed import Verdict
from swaymeter.tasks.scoring.judging import (
    Case,
    JudgeFunction,
    JudgeVerdict,
    NoVerdictReason,
    ask_entailment_model,
    ask_function,
    ask_language_model,
    ask_server,
)

# NAME@URL, a model at a server, and FILE.py:FUNCTION, a Python function.
_NAME_AT_URL = re.compile(r"(?P<name>.+?)@(?P<address>https?://[^\s/?#@]+(?:/[^\s?#]*)?(?:\?[^\s#]*)?)")
_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<function>[A-Za-z_]\w*)")


class JudgedAnswersParameters(Parameters):
    """The judge, and the replies that it reads."""

    not_in_key = frozenset({"timeout_s"})
    judge: ModelName = Field(min_length=1)
    """The judge of undecided replies: a language model or an entailment model (an alias, a hub id or a folder);
    NAME@URL for a model at a server, such as large@http://127.0.0.1:8000/v1; FILE.py:FUNCTION for a Python function."""
    dtype: Literal["float32", "bfloat16", "float16", "8bit", "4bit"] = "float32"
    """The dtype of a language model on this machine."""
    key_from: str = Field(default="", pattern=KEY_FROM)
    """The environment variable that holds the key of the judge's server, or `HEADER: VARIABLE`."""
    timeout_s: float | None = Field(default=None, gt=0, le=36_000)
    """Seconds without data after which a request to the judge's server fails; null: 600."""
    samples: bool = False
    """True if the judge reads undecided sampled replies as well as greedy ones."""
    agreement: int = Field(default=50, ge=0)
    """Number of greedy replies of each variant that the judge reads although the rule decided them, to measure the
    agreement of judge and rule. The relations of a study have equal shares of this number."""

    @property
    def endpoint(self) -> Endpoint | None:
        """The endpoint of a served judge; None for any other judge."""
        served = _NAME_AT_URL.fullmatch(self.judge)
        if not served:
            return None
        return Endpoint(served["name"], served["address"], key_from=self.key_from, timeout_s=self.timeout_s or 600)

    @property
    def function(self) -> tuple[Path, str] | None:
        """The file and the name of a Python function; None for any other judge."""
        function = _FUNCTION.fullmatch(self.judge)
        return (Path(function["file"]), function["function"]) if function else None

    @field_validator("judge")
    @classmethod
    def _check_judge(cls, judge: str, info: ValidationInfo) -> str:
        if "://" in judge and not _NAME_AT_URL.fullmatch(judge):
            raise ValueError(
                "must be NAME@URL for a judge at a server, and the URL may not have a #; an example is "
                "large@http://127.0.0.1:8000/v1"
            )
        function = _FUNCTION.fullmatch(judge)
        return f"{beside_the_study(function['file'], info)}:{function['function']}" if function else judge

    @model_validator(mode="after")
    def _refuse_unused_parameters(self) -> "JudgedAnswersParameters":
        for name in ("key_from", "timeout_s"):
            if getattr(self, name) and not self.endpoint:
                raise ValueError(f"{name} is for a judge at a server; write judge as NAME@URL, or leave {name} out")
        if (self.endpoint or self.function) and "dtype" in self.model_fields_set and self.dtype != "float32":
            raise ValueError("dtype is for a judge that is a language model on this machine; leave dtype out")
        return self


class Judge(NamedTuple):
    """A loaded judge.

    Attributes:
        name: its name.
        revision: its revision; "served" at a server, the SHA-256 of the file for a function.
        ask: the function that returns the judge's verdicts on cases.
        model: the judge's language model, whose forward passes are counted; None for other judges.
        batch_size: number of cases whose verdicts are stored together; None for all cases.
    """

    name: str
    revision: str
    ask: JudgeFunction
    model: Any = None
    batch_size: int | None = None


@table("judged_answers", "an answer that a judge was asked about")
class JudgedAnswer(QuestionScore):
    """A row of judged answers."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    judge: Annotated[str, Meaning("the judge: a model, or a file with its function")]
    judge_revision: Annotated[str, Meaning("its revision; served at a server, the SHA-256 of a function's file")]
    verdict: Annotated[
        Verdict | None,
        Meaning(
            "the judge's verdict: context (closed-book: the answer of a conflicting context), original, both, neither, "
            "or refusal; NULL if the judge gives none"
        ),
    ]
    log_probability: Annotated[
        float | None,
        Meaning(
            "log-probability of the verdict's letter after the judge's prompt; NULL unless the judge is a language "
            "model on this machine",
            "nats",
        ),
    ]
    unjudged: Annotated[
        NoVerdictReason | None,
        Meaning(
            "why there is no verdict: the prompt does not fit the judge's window, the judge replies with something "
            "else than an offered verdict, or with nothing; NULL if there is a verdict"
        ),
    ]
    rule: Annotated[Verdict | None, Meaning("the verdict of the rule; NULL if the answer is undecided")]


def _judged_answers(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> ComputedRows:
    judge = load_judge(inputs)
    parameters: JudgedAnswersParameters = inputs.parameters["judged_answers"]
    prompt_digest = content_key(asdict(judge_prompt()))
    identity = {"name": judge.name, "revision": judge.revision, "dtype": parameters.dtype, "prompt": prompt_digest}
    # A server's replies are already in the cache of responses.
    stored = None if parameters.endpoint else StoredResults(inputs.verdicts, identity)
    # `agreement` is already this relation's share of the study's number (`_with_judge_share` in flows/stages/score.py).
    agreement_keys = _draw_agreement_keys(inputs, parameters.agreement)
    for questions in chunks:
        yield {"judged_answers": [*_rows(inputs, judge, stored, questions, agreement_keys)]}


def _rows(
    inputs: Inputs,
    judge: Judge,
    stored: StoredResults | None,
    questions: Sequence[Question],
    agreement_keys: Collection[tuple[str, str]],
) -> Iterator[Row]:
    """Yield the judge's verdicts on undecided replies, and on the decided greedy replies in `agreement_keys`."""
    origins = question_provenance(inputs.scores["answers"], questions)
    judge_cases: list[Case] = []
    rows: list[dict[str, Any]] = []
    pairs = [(question, case) for question in questions for case in question.cases]
    reads_samples = inputs.parameters["judged_answers"].samples
    for greedy in (True, False) if reads_samples else (True,):
        texts = rows_by_question(inputs, "answers", questions, "text", greedy=greedy)
        columns = ("verdict", "decided_by")
        verdicts = rows_by_question(inputs, "whose_answer", questions, *columns, greedy=greedy)
        for question, case in pairs:
            key = question.question_id, case.context_id
            original, context = sides(question, case)
            rule_rows = {row["sample"]: row for row in verdicts[key]}
            for row in texts[key]:
                rule_row = rule_rows[row["sample"]]
                is_decided = rule_row["decided_by"] is not None
                if is_decided and not (greedy and key in agreement_keys):
                    continue
                text = without_marks(row["text"]) if case.is_numbered else row["text"]
                judge_cases.append(Case(question.question, context, original, text))
                rule_verdict = rule_row["verdict"] if is_decided else None
                rows.append({**origins[key], "sample": row["sample"], "rule": rule_verdict})
    common = {
        "stand_in": None,
        "judge": judge.name,
        "judge_revision": judge.revision,
        "engine": f"judged by {judge.name}",
    }
    for row, verdict in zip(rows, _verdicts(judge, stored, judge_cases), strict=True):
        yield {**row, **common, **verdict._asdict()}


def _draw_agreement_keys(inputs: Inputs, size: int) -> set[tuple[str, str]]:
    """Draw at most `size` greedy replies that the rule decided; return the ids of their questions and contexts."""
    columns = ["question_id", "context_id", "sample", "decided_by"]
    # A judge reads no reply if both the original answer and the context's answer are missing.
    has_answer = {
        (question.question_id, case.context_id): any(sides(question, case))
        for question in inputs.questions
        for case in question.cases
    }
    decided = sorted(
        (row["question_id"], row["context_id"])
        for row in inputs.scores["whose_answer"].select(columns).to_pylist()
        if row["sample"] is None and row["decided_by"] and has_answer.get((row["question_id"], row["context_id"]))
    )
    draw = generator(inputs.seed, "agreement with the judge", inputs.relation)
    indices = draw.choice(len(decided), size=min(size, len(decided)), replace=False) if decided else ()
    return {decided[index] for index in indices}


def _verdicts(judge: Judge, stored: StoredResults | None, cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts on cases, and store new verdicts; None for `stored` stores nothing."""
    if stored is None:
        return judge.ask(cases)
    new = [case for case in dict.fromkeys(cases) if stored.get(case) is None]
    size = judge.batch_size or len(new) or 1
    for batch in (new[start : start + size] for start in range(0, len(new), size)):
        stored.add({case: verdict._asdict() for case, verdict in zip(batch, judge.ask(batch), strict=True)})
    return [JudgeVerdict(**(stored.get(case) or {})) for case in cases]


def load_judge(inputs: Inputs) -> Judge:
    """Load the judge of a pass.

    Raises:
        ModelError: the judge cannot be loaded.
        ServiceError: the judge's server cannot be reached.
    """
    parameters: JudgedAnswersParameters = inputs.parameters["judged_answers"]
    name = parameters.judge
    if parameters.endpoint:
        served = inputs.load_served(parameters.endpoint)
        return Judge(served.name, served.revision, partial(ask_server, served), served)
    if parameters.function:
        file, function = parameters.function
        name = f"{file.name}:{function}"
        ask = partial(ask_function, load_function(file, function), name)
        return Judge(name, judge_revision(parameters), ask, batch_size=1)
    kind, identity = identify_judge(name)
    if kind == "entailment":  # only a language model can be spread over all GPUs (BALANCED)
        model: Any = load_entailment(name, device="auto" if inputs.device == BALANCED else inputs.device)
        return Judge(name, identity.revision, partial(ask_entailment_model, model))
    model = load_language_model(name, dtype=parameters.dtype, device=inputs.device)
    return Judge(name, model.revision, partial(ask_language_model, model, batch_size=inputs.batch_size), model)


def load_function(file: Path, name: str) -> Callable[..., Any]:
    """Load a function from a Python file.

    Raises:
        ModelError: the file cannot be run, or lacks the function.
    """
    spec = spec_from_file_location(f"swaymeter_judge_{content_key({'file': str(file)})[:16]}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ModelError(
            f"judge {file}:{name}: the file cannot be run: {type(error).__name__}: {error}; correct the file"
        ) from error
    function: Any = getattr(module, name, None)
    if not callable(function):
        raise ModelError(f"judge {file}:{name}: the file has no function {name}; name a function of the file")
    return function  # type: ignore[no-any-return]


def judge_revision(parameters: JudgedAnswersParameters) -> str:
    """Return the revision of a judge without loading it.

    Raises:
        ModelError: the model cannot be found.
        MissingFile: the file of a function cannot be read.
    """
    if parameters.endpoint:
        return SERVED
    if parameters.function:
        return digest_of_named_file(parameters.function[0], "measures.judged_answers.judge")
    return identify_judge(parameters.judge)[1].revision


def _depends_on(parameters: JudgedAnswersParameters) -> Mapping[str, str]:
    return {"judge": judge_revision(parameters), "prompt": content_key(asdict(judge_prompt()))}


JUDGED_ANSWERS = Measure(
    row=JudgedAnswer,
    version=2,
    unit="nats",
    about="questions",
    needs=("answers", "whose_answer"),
    compute_chunks=_judged_answers,
    parameters=JudgedAnswersParameters,
    depends_on=_depends_on,
    other_model=lambda inputs, model: load_judge(inputs).model,
    chunks=cut_questions,
    meaning="verdicts of a judge on undecided answers, and on a sample of those that the rule decided",
)
