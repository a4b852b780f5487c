"""Whose answer a stored answer states, and what a context did to the greedy one; no language model is needed.

swaymeter.tasks.scoring.followed has the rules. Where the study names an entailment model, an answer that states neither
by its words states a side's if, behind the question, it entails that side's answer behind the question. Without a
context, an answer is held against the original one and those that the question's conflicting contexts state. With a
context that supports the original answer, this is the context's, and there is no other. A context that states no answer
has none that could be followed.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from swaymeter.data.errors import UsageError
from swaymeter.data.records import ALONE, CONFLICTING, SUPPORTING, Case, Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import QuestionScore
from swaymeter.tasks.measures.stored import of_cases, of_questions
from swaymeter.tasks.models.entailment import EntailmentModel, identify_entailment, load_entailment
from swaymeter.tasks.models.loading import BALANCED
from swaymeter.tasks.scoring.followed import Outcome, Reason, Verdict, outcome, verdict_and_reason
from swaymeter.tasks.scoring.wording.words import words


class WhoseAnswerParameters(Parameters):
    """How it is decided whose answer a reply states."""

    entailment: str | None = None
    """An entailment model that judges what states neither answer by its words; null: words alone decide."""


@table("whose_answer", "an answer")
@dataclass(frozen=True, slots=True, kw_only=True)
class WhoseAnswer(QuestionScore):
    """A row of whose answer it is."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    verdict: Annotated[
        Verdict,
        Meaning(
            "whose answer it states: context (without a context: that of a conflicting one), original, both, neither, "
            "or refusal"
        ),
    ]
    reason: Annotated[
        Reason | None,
        Meaning(
            "why it states neither: its thoughts did not end; it states another answer or none, or neither yes nor no "
            "in words; it says a yes or no that is nobody's answer; what it names is denied, fits both answers alike, "
            "repeats the question, or is part of another name; there is no answer to look for. NULL for other verdicts"
        ),
    ]
    outcome: Annotated[
        Outcome | None,
        Meaning(
            "of a greedy answer with a context: persuaded (states the context's answer, and did not without it), "
            "agreed (did already), stubborn (does not, and is the answer without it), or other; NULL for all others"
        ),
    ]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Judges every stored answer; thoughts that did not end are none."""
    origins = of_cases(inputs.scores["answers"])
    samples = of_questions(inputs, "answers", questions, "text")
    greedy = of_questions(inputs, "answers", questions, "text", greedy=True)
    for question in questions:
        alone = next((row["text"] for row in greedy[question.question_id, ALONE.context_id]), None)
        for case in question.cases:
            key = question.question_id, case.context_id
            rows = (*samples[key], *greedy[key])
            texts = {row["text"] for row in rows}
            stated = _stated(inputs, question, case, texts if alone is None else {alone, *texts})
            for row in rows:
                text, moved = row["text"], None
                if alone is not None and row["sample"] is None and case.text is not None:
                    moved = outcome(alone, text, stated[alone].verdict, stated[text].verdict)
                yield {
                    **origins[key],
                    "engine": stated[text].engine,
                    "sample": row["sample"],
                    "verdict": stated[text].verdict,
                    "reason": stated[text].reason,
                    "outcome": moved,
                }


class _Stated(NamedTuple):
    """Whose answer a text states, why none, and what decided it."""

    verdict: Verdict
    reason: Reason | None
    engine: str


def _stated(inputs: Inputs, question: Question, case: Case, texts: Collection[str]) -> dict[str, _Stated]:
    """Whose answer each text states in a case: by its words, else by what it entails where a model is named."""
    stated = {text: _Stated(*verdict(question, case, text), "words") for text in texts}
    judge = _judge(inputs)
    undecided = sorted(text for text, found in stated.items() if found.verdict == "neither" and text.strip())
    if judge is None or not undecided:
        return stated
    pairs = [
        (text, side, (f"{question.question} {text.strip()}", f"{question.question} {answer}"))
        for text in undecided
        for side, answers in zip(_SIDES, _sides(question, case), strict=True)
        for answer in answers
    ]
    entailed = judge.entailing(list(dict.fromkeys(pair for *_, pair in pairs)))
    for text in undecided:
        sides = sorted({side for of_text, side, pair in pairs if of_text == text and pair in entailed})
        if sides:
            stated[text] = _Stated(sides[0] if len(sides) == 1 else "both", None, f"entailment by {judge.name}")
    return stated


_SIDES: tuple[Verdict, ...] = ("original", "context")


def _judge(inputs: Inputs) -> EntailmentModel | None:
    name = inputs.parameters["whose_answer"].entailment
    if name is None:
        return None
    judge = load_entailment(name, device="auto" if inputs.device == BALANCED else inputs.device)
    if not isinstance(judge, EntailmentModel):
        raise UsageError(
            f"measures.whose_answer.entailment: {name} compares meanings and judges no entailment; name a model "
            "trained for natural language inference, or leave the key out"
        )
    return judge


def verdict(question: Question, case: Case, text: str) -> tuple[Verdict, Reason | None]:
    """Whose answer a text states in a case, and why neither; no text states an answer without words, such as a flag."""
    original, context = _sides(question, case)
    if not context and not original:
        return "neither", "no answer to look for"
    if context and original:
        return verdict_and_reason(text, context=context, original=original, question=question.question)
    stated, reason = verdict_and_reason(text, context=context or original, original=(), question=question.question)
    is_original = not context and stated == "context"  # there is one side to look for
    return "original" if is_original else stated, reason


def _sides(question: Question, case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of the original answer and of the context's to look for; one answer belongs to one side alone."""
    original = _with_words(question.forms)
    if case.text is None:
        others = [answer for other in question.cases if other.condition in CONFLICTING for answer in other.answers]
        return original, _with_words(others)
    stated = _with_words(case.answers)
    if case.condition in SUPPORTING or _is_among(stated, original):
        return (), tuple(dict.fromkeys((*original, *stated)))
    return original, stated


def _is_among(stated: Sequence[str], original: Sequence[str]) -> bool:
    known = {tuple(words(name)) for name in original}
    return any(tuple(words(name)) in known for name in stated)


def _with_words(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if words(name))


MEASURE = Measure(
    row=WhoseAnswer,
    version=7,
    meaning="whose answer each answer states, and what the context did to the greedy one",
    about="questions",
    compute=compute,
    needs=("answers",),
    parameters=WhoseAnswerParameters,
    depends_on=lambda parameters: (
        {"entailment": identify_entailment(parameters.entailment)} if parameters.entailment else {}
    ),
)
