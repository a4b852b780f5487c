"""What stored answers state: the expected answer, the context's or the original one; no language model is needed.

accuracy: whether the greedy answer is the expected one. A disputable question without a context has none, so it has no
accuracy [DynamicQA, Table 2]. persuaded: what a context does to the greedy answer; `scoring.accuracy` has the rules.
An empty answer equals nothing, not even another empty one.

whose_answer: `scoring.followed` has the rules; `judged_answers` decides what they cannot. Marks such as [2] are no part
of an answer where passages are numbered. Without a context, an answer is held against the original one and those that
the question's conflicting contexts state. With a context that supports the original answer, this is the context's, and
there is no other. A context that states no answer has none that could be followed. With a mixed context, the context's
answers are those of its conflicting passages, and the expected one is the original one.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from swaymeter.data.records import ALONE, CONFLICTING, SUPPORTING, Question, QuestionContext
from swaymeter.data.records.row import Meaning, table
from swaymeter.data.wording.words import words
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import (
    QUESTION_KEY,
    QuestionKey,
    QuestionScore,
    question_provenance,
    rows_by_question,
)
from swaymeter.tasks.scoring.citations import without_marks
from swaymeter.tasks.scoring.followed import DecidedBy, Decision, Outcome, Reason, Verdict, decide, outcome


class AccuracyParameters(Parameters):
    """When an answer counts as the expected one."""

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)
    """The ROUGE-L (F-measure) above which an answer counts as an expected one."""
    cleaning: Literal["none", "released"] = "none"
    """What is left out of a model's answer before it is compared: none, nothing; released, as the released code of
    DynamicQA has it, the letters of "answer" wherever they stand, "assistant:" and colons."""

    def compared(self, answer: str) -> str:
        """A model's answer as it is compared."""
        from swaymeter.tasks.scoring.accuracy import cleaned_as_released

        return cleaned_as_released(answer) if self.cleaning == "released" else answer


@table("accuracy", "a question alone, or with a context", key=QUESTION_KEY)
class Accuracy(QuestionScore):
    """A row of accuracy."""

    expected: Annotated[str, Meaning("the answer that the context states; the original one where it states none")]
    answer: Annotated[str, Meaning("the greedy answer")]
    accurate: Annotated[bool, Meaning("ROUGE-L F-measure over the threshold")]


def _accuracy(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.accuracy import answers_match

    parameters: AccuracyParameters = inputs.parameters["accuracy"]
    for question, case, answer, _, origin in _greedy_answers(inputs, questions):
        if question.is_disputable and case is ALONE:
            continue
        expected = case.answers[0] if case.answers and case.condition != "mixed" else question.object
        accurate = answers_match(parameters.compared(answer), expected, threshold=parameters.rouge_threshold)
        yield {**origin, "expected": expected, "answer": answer, "accurate": accurate}


def _greedy_answers(
    inputs: Inputs, questions: Sequence[Question]
) -> Iterator[tuple[Question, QuestionContext, str, str | None, Row]]:
    """Each question in each of its cases with the greedy answer, that without a context, and columns of its score.

    An answer that did not get past its thoughts is left out.
    """
    origins = question_provenance(inputs.scores["answers"], questions)
    stored = rows_by_question(inputs, "answers", questions, "text", greedy=True)
    greedy: dict[QuestionKey, str] = {key: row["text"] for key, rows in stored.items() for row in rows}
    for question in questions:
        for case in question.cases:
            key = question.question_id, case.context_id
            if key in greedy:
                alone = greedy.get((question.question_id, ALONE.context_id))
                yield question, case, greedy[key], alone, {**origins[key], "engine": "rouge-l"}


@table("persuaded", "a question with a context that states an answer", key=QUESTION_KEY)
class Persuaded(QuestionScore):
    """A row of persuaded answers."""

    answer_without: Annotated[str, Meaning("greedy answer without the context")]
    answer_with: Annotated[str, Meaning("greedy answer with the context")]
    context_answer: Annotated[str, Meaning("the answer that the context states")]
    persuaded: Annotated[bool, Meaning(
        "the answer with it is like the context's, and the one without it is not; like: F of ROUGE-L over the threshold"
    )]
    stubborn: Annotated[bool, Meaning(
        "the answers with and without it are alike, and the one without it is not like the context's; may be true "
        "together with persuaded"
    )]
    context_correct: Annotated[bool, Meaning(
        "the answer with it is like the context's, whatever the one without it is"
    )]
    stubborn_released: Annotated[bool, Meaning(
        "the answers with and without it are alike, and the one with it (in stubborn: the one without it) is not like "
        "the context's, as the released code counts; never true together with persuaded"
    )]


def _persuaded(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.accuracy import compare_answers

    parameters: AccuracyParameters = inputs.parameters["persuaded"]
    for _, case, answer, alone, origin in _greedy_answers(inputs, questions):
        if alone is None or not case.answers or case.condition == "mixed":  # whose answers are two sides'
            continue
        pair, expected = (parameters.compared(alone), parameters.compared(answer)), case.answers[0]
        compared = compare_answers(*pair, expected, threshold=parameters.rouge_threshold)
        yield {**origin, "answer_without": alone, "answer_with": answer, "context_answer": expected, **compared}


ACCURACY = Measure(
    row=Accuracy, version=1, about="questions", needs=("answers",), compute=_accuracy, parameters=AccuracyParameters,
    meaning="whether the greedy answer is the expected one",
)  # fmt: skip
PERSUADED = Measure(
    row=Persuaded, version=1, about="questions", needs=("answers",), compute=_persuaded, parameters=AccuracyParameters,
    meaning="whether the context changed the greedy answer to its own, or not at all, by ROUGE-L",
)  # fmt: skip


@table("whose_answer", "an answer")
class WhoseAnswer(QuestionScore):
    """A row of whose answer it is."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    verdict: Annotated[Verdict, Meaning(
        "whose answer it states: context (without a context: that of a conflicting one), original, both, neither, or "
        "refusal"
    )]
    decided_by: Annotated[DecidedBy | None, Meaning(
        "rule; NULL if the reply is undecided, then the verdict is neither, and a judge or a person may decide it"
    )]
    reason: Annotated[Reason | None, Meaning(
        "why it states neither: its thoughts did not end; it gives another value; it states another answer or none, or "
        "neither yes nor no in words; it says a yes or no that is nobody's answer; its stance towards the answers is "
        "unclear; the answer is denied, fits both sides alike, repeats the question, or is part of another name; there "
        "is no answer to look for. NULL for other verdicts"
    )]
    outcome: Annotated[Outcome | None, Meaning(
        "of a greedy answer with a context, other than a mixed one: persuaded (states the context's answer, and did "
        "not without it), agreed (did already), stubborn (does not, and is the answer without it), or other; NULL for "
        "all others"
    )]


def _whose_answer(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    origins = question_provenance(inputs.scores["answers"], questions)
    samples = rows_by_question(inputs, "answers", questions, "text")
    greedy = rows_by_question(inputs, "answers", questions, "text", greedy=True)
    for question in questions:
        alone = next((row["text"] for row in greedy[question.question_id, ALONE.context_id]), None)
        for case in question.cases:
            key = question.question_id, case.context_id
            rows = (*samples[key], *greedy[key])
            texts = {row["text"] for row in rows} | ({alone} if alone is not None else set())
            decisions = {text: decision_on(question, case, text) for text in texts}
            is_one_sided = case.text is not None and case.condition != "mixed"
            for row in rows:
                decision, moved = decisions[row["text"]], None
                if alone is not None and row["sample"] is None and is_one_sided:
                    moved = outcome(alone, row["text"], decisions[alone].verdict, decision.verdict)
                yield {
                    **origins[key], "sample": row["sample"], "engine": "words", "verdict": decision.verdict,
                    "decided_by": "rule" if decision.is_decided else None, "reason": decision.reason, "outcome": moved,
                }  # fmt: skip


def decision_on(question: Question, case: QuestionContext, text: str) -> Decision:
    """Return the rule's decision on a reply to a question with a context.

    Answers without words, such as a flag, are not looked for.
    """
    original, context = sides(question, case)
    text = without_marks(text) if case.is_numbered else text
    if not context and not original:
        return Decision("neither", is_decided=True, reason="no answer to look for")
    first, second = (context, original) if context else (original, ())
    decision = decide(text, context=first, original=second, question=question.question)
    is_original = not context and decision.verdict == "context"  # there is one side to look for
    return decision._replace(verdict="original") if is_original else decision


def sides(question: Question, case: QuestionContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of the original answer and of the context's to look for; one answer belongs to one side alone."""
    original = _with_words(question.forms)
    if case.text is None:
        conflicting = (case for case in question.cases if case.condition in {*CONFLICTING, "mixed"})
        others = [answer for other in conflicting for answer in other.answers]
        return original, _with_words(others)
    stated = _with_words(case.answers)
    if case.condition in SUPPORTING or is_among(stated, original):
        return (), tuple(dict.fromkeys((*original, *stated)))
    return original, stated


def is_among(stated: Sequence[str], original: Sequence[str]) -> bool:
    """Whether one of the stated answers is one of the original ones, by their words."""
    known = {tuple(words(name)) for name in original}
    return any(tuple(words(name)) in known for name in stated)


def _with_words(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if words(name))


WHOSE_ANSWER = Measure(
    row=WhoseAnswer, version=11, about="questions", needs=("answers",), compute=_whose_answer,
    meaning="whose answer each answer states, and what the context did to the greedy one",
)  # fmt: skip
