"""Three measures of the answers that stored replies state, computed without a model.

accuracy: True if the greedy reply is the expected answer. A disputable question has no expected answer without a
context, so it has no closed-book accuracy [DynamicQA, Table 2].
persuaded: the effect of a context on the greedy reply; `scoring.accuracy` has the rules. An empty reply never counts as
equal to another reply, even to another empty reply.
whose_answer: the verdict on a reply; `scoring.followed` has the rules, and `judged_answers` decides undecided replies.

For a verdict, the rule of `scoring.followed` looks in the reply for the answers of one or two sides:

- Closed-book: the original answer against the answers of the question's conflicting and mixed contexts.
- A context that states another answer: the original answer against this answer.
- A context that supports the original answer: only this answer.
- A context that states no answer: only the original answer.
- A mixed context: the original answer against the answers of its conflicting passages.

If a context numbers its passages, marks such as [2] are removed from a reply first.
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
    """The comparison of a reply with the expected answer."""

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)
    """A reply equals an expected answer if their ROUGE-L (F-measure) is above this threshold."""
    cleaning: Literal["none", "released"] = "none"
    """Text that is removed from a reply before the comparison. none: nothing. released: "assistant:", colons and every
    "answer", also within other words, as in the released code of DynamicQA."""

    def clean(self, answer: str) -> str:
        """Return the text of a reply without the parts that `cleaning` removes."""
        from swaymeter.tasks.scoring.accuracy import cleaned_as_released

        return cleaned_as_released(answer) if self.cleaning == "released" else answer


@table("accuracy", "a question alone, or with a context", key=QUESTION_KEY)
class Accuracy(QuestionScore):
    """A row of accuracy."""

    expected: Annotated[str, Meaning("the answer that the context states; the original answer if it states none")]
    answer: Annotated[str, Meaning("the greedy answer")]
    accurate: Annotated[bool, Meaning("ROUGE-L F-measure over the threshold")]


def _accuracy(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.accuracy import answers_match

    parameters: AccuracyParameters = inputs.parameters["accuracy"]
    for question, case, answer, _, origin in _greedy_answers(inputs, questions):
        if question.is_disputable and case is ALONE:
            continue
        expected = case.answers[0] if case.answers and case.condition != "mixed" else question.object
        accurate = answers_match(parameters.clean(answer), expected, threshold=parameters.rouge_threshold)
        yield {**origin, "expected": expected, "answer": answer, "accurate": accurate}


def _greedy_answers(
    inputs: Inputs, questions: Sequence[Question]
) -> Iterator[tuple[Question, QuestionContext, str, str | None, Row]]:
    """Yield each question and context with their greedy reply, the closed-book greedy reply and columns of the score.

    Replies without an answer, such as thoughts that did not end, are left out.
    """
    origins = question_provenance(inputs.scores["answers"], questions)
    stored = rows_by_question(inputs, "answers", questions, "text", greedy=True)
    greedy: dict[QuestionKey, str] = {key: row["text"] for key, rows in stored.items() for row in rows}
    for question in questions:
        for case in question.cases:
            key = question.question_id, case.context_id
            if key in greedy:
                closed_book = greedy.get((question.question_id, ALONE.context_id))
                yield question, case, greedy[key], closed_book, {**origins[key], "engine": "rouge-l"}


@table("persuaded", "a question with a context that states an answer", key=QUESTION_KEY)
class Persuaded(QuestionScore):
    """A row of persuaded answers."""

    answer_without: Annotated[str, Meaning("greedy answer without the context")]
    answer_with: Annotated[str, Meaning("greedy answer with the context")]
    context_answer: Annotated[str, Meaning("the answer that the context states")]
    persuaded: Annotated[
        bool,
        Meaning(
            "the answer with the context is like the context's answer, and the answer without the context is not; "
            "answers are alike if their ROUGE-L (F-measure) is above the threshold"
        ),
    ]
    stubborn: Annotated[
        bool,
        Meaning(
            "the answers with and without the context are alike, and the answer without the context is not like the "
            "context's answer; may be true together with persuaded"
        ),
    ]
    context_correct: Annotated[
        bool, Meaning("the answer with the context is like the context's answer, for any answer without the context")
    ]
    stubborn_released: Annotated[
        bool,
        Meaning(
            "as the released code counts: the answers with and without the context are alike, and the answer with the "
            "context is not like the context's answer; never true together with persuaded"
        ),
    ]


def _persuaded(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.accuracy import compare_answers

    parameters: AccuracyParameters = inputs.parameters["persuaded"]
    for _, case, answer, closed_book, origin in _greedy_answers(inputs, questions):
        if closed_book is None or not case.answers or case.condition == "mixed":  # mixed: contradictory answers
            continue
        expected = case.answers[0]
        compared = compare_answers(
            parameters.clean(closed_book), parameters.clean(answer), expected, threshold=parameters.rouge_threshold
        )
        yield {**origin, "answer_without": closed_book, "answer_with": answer, "context_answer": expected, **compared}


ACCURACY = Measure(
    row=Accuracy,
    version=1,
    about="questions",
    needs=("answers",),
    compute=_accuracy,
    parameters=AccuracyParameters,
    meaning="whether the greedy answer is the expected one",
)
PERSUADED = Measure(
    row=Persuaded,
    version=1,
    about="questions",
    needs=("answers",),
    compute=_persuaded,
    parameters=AccuracyParameters,
    meaning="whether a context changed the greedy answer to the context's answer, or left it unchanged, by ROUGE-L",
)


@table("whose_answer", "an answer")
class WhoseAnswer(QuestionScore):
    """A row of verdicts."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    verdict: Annotated[
        Verdict,
        Meaning(
            "whose answer it states: context (closed-book: the answer of a conflicting context), original, both, "
            "neither, or refusal"
        ),
    ]
    decided_by: Annotated[
        DecidedBy | None,
        Meaning(
            "rule; NULL if the reply is undecided: the verdict is then neither, and a judge or a person may decide it"
        ),
    ]
    reason: Annotated[
        Reason | None,
        Meaning(
            "why it states neither: its thoughts did not end; it gives another value; it states another answer or "
            "none, or neither yes nor no in words; it says a yes or no that is nobody's answer; its stance towards "
            "the answers is unclear; the answer is denied, fits both sides alike, repeats the question, or is part of "
            "another name; there is no answer to look for. NULL for other verdicts"
        ),
    ]
    outcome: Annotated[
        Outcome | None,
        Meaning(
            "effect of a context on the greedy answer: persuaded (only the answer with the context states the "
            "context's answer), agreed (the answer without it does, too), stubborn (the answer with the context does "
            "not, and both answers have the same words or state the original answer), or other; NULL for samples, "
            "closed-book and with a mixed context"
        ),
    ]


def _whose_answer(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    origins = question_provenance(inputs.scores["answers"], questions)
    samples = rows_by_question(inputs, "answers", questions, "text")
    greedy = rows_by_question(inputs, "answers", questions, "text", greedy=True)
    for question in questions:
        closed_book = next((row["text"] for row in greedy[question.question_id, ALONE.context_id]), None)
        for case in question.cases:
            key = question.question_id, case.context_id
            rows = (*samples[key], *greedy[key])
            texts = {row["text"] for row in rows} | ({closed_book} if closed_book is not None else set())
            decisions = {text: decision_on(question, case, text) for text in texts}
            has_outcome = bool(case.passages) and case.condition != "mixed"
            for row in rows:
                decision, effect = decisions[row["text"]], None
                if closed_book is not None and row["sample"] is None and has_outcome:
                    effect = outcome(closed_book, row["text"], decisions[closed_book].verdict, decision.verdict)
                yield {
                    **origins[key],
                    "sample": row["sample"],
                    "engine": "words",
                    "verdict": decision.verdict,
                    "decided_by": "rule" if decision.is_decided else None,
                    "reason": decision.reason,
                    "outcome": effect,
                }


def decision_on(question: Question, case: QuestionContext, text: str) -> Decision:
    """Return the rule's decision on a reply to a question with a context."""
    original, context = sides(question, case)
    text = without_marks(text) if case.is_numbered else text
    if not context and not original:
        return Decision("neither", is_decided=True, reason="no answer to look for")
    if context:
        return decide(text, context=context, original=original, question=question.question)
    # `decide` needs an answer for the side "context". So the original answer is passed as the context's answer, and the
    # verdict "context" becomes "original".
    decision = decide(text, context=original, original=(), question=question.question)
    return decision._replace(verdict="original") if decision.verdict == "context" else decision


def sides(question: Question, case: QuestionContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the forms of the original answer and of the context's answer; an answer belongs to one side only.

    If the context states the original answer, the first side is empty, and the context's side has all forms.
    """
    original = _with_words(question.forms)
    if not case.passages:
        conflicting = (other for other in question.cases if other.condition in {*CONFLICTING, "mixed"})
        return original, _with_words(answer for other in conflicting for answer in other.answers)
    stated = _with_words(case.answers)
    if case.condition in SUPPORTING or is_among(stated, original):
        return (), tuple(dict.fromkeys((*original, *stated)))
    return original, stated


def gives_original(question: Question, case: QuestionContext) -> bool:
    """Return True if a context supports the original answer or states it."""
    return case.condition in SUPPORTING or is_among(_with_words(case.answers), _with_words(question.forms))


def is_among(stated: Sequence[str], original: Sequence[str]) -> bool:
    """Return True if a stated answer has the words of an original answer."""
    original_words = {words(answer) for answer in original}
    return any(words(answer) in original_words for answer in stated)


def _with_words(answers: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct answers that have words; the rule ignores an answer without words, such as a flag's emoji."""
    return tuple(answer for answer in dict.fromkeys(answers) if words(answer))


WHOSE_ANSWER = Measure(
    row=WhoseAnswer,
    version=13,
    about="questions",
    needs=("answers",),
    compute=_whose_answer,
    meaning="whose answer each reply states, and the effect of a context on the greedy reply",
)
