"""Citations of stored replies: cited passages, source passages, and statements that passages disagree.

A reply has a row if its context has at least two passages, or if the context numbers its passages. The source passages
state the answer that the reply states. The verdict of `whose_answer`, and the rule on each passage, find this answer:

- The sources of the right answer are all passages that state the right answer.
- The sources of a wrong answer are the other passages that state this wrong answer. If all conflicting passages state
  the same answer, all of them are sources.
- A reply that states both answers has the sources of both.

`scoring.citations` has the rules that find citations and statements of a conflict. No model is needed.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import Question, QuestionContext
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QuestionScore, question_provenance, rows_by_question
from swaymeter.tasks.measures.whose_answer import decision_on, gives_original, is_among
from swaymeter.tasks.scoring.followed import TAKES_CONTEXT, Verdict


@table("cited_passages", "an answer with a context of several passages, or of numbered ones")
class CitedPassages(QuestionScore):
    """A row of cited passages."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    cited: Annotated[tuple[int, ...], Meaning("the numbers of passages that the answer cites, from 1 on; may be empty")]
    cited_exist: Annotated[bool | None, Meaning("whether every cited number is of a passage; NULL if none is cited")]
    citation_right: Annotated[
        bool | None,
        Meaning(
            "whether a cited passage states the answer that the reply states; NULL if none is cited, or the reply "
            "states no answer"
        ),
    ]
    came_from: Annotated[tuple[int, ...], Meaning("the passages whose stated answers the reply states; may be empty")]
    names_conflict: Annotated[
        bool,
        Meaning(
            "whether the reply says that right and wrong passages disagree, and names both answers; false if the "
            "context is not mixed"
        ),
    ]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Yield the citations of every stored reply with a context of several passages, or of numbered passages."""
    origins = question_provenance(inputs.scores["whose_answer"], questions)
    texts = [rows_by_question(inputs, "answers", questions, "text", greedy=greedy) for greedy in (False, True)]
    verdicts = [
        rows_by_question(inputs, "whose_answer", questions, "verdict", greedy=greedy) for greedy in (False, True)
    ]
    for question in questions:
        for case in question.contexts:
            if len(case.passages) < 2 and not case.is_numbered:
                continue
            key = question.question_id, case.context_id
            verdict_by_sample = {row["sample"]: row["verdict"] for by_question in verdicts for row in by_question[key]}
            replies = [row for by_question in texts for row in by_question[key]]
            citations_by_text: dict[str, Row] = {}  # many samples have equal texts
            for row in replies:
                text = row["text"]
                if text not in citations_by_text:
                    citations_by_text[text] = citations(question, case, text, verdict_by_sample[row["sample"]])
                yield {**origins[key], "sample": row["sample"], **citations_by_text[text]}


def citations(question: Question, case: QuestionContext, text: str, verdict: Verdict) -> Row:
    """Return the columns of a reply's citations.

    Args:
        question: the question.
        case: its context.
        text: the reply.
        verdict: the verdict on the reply, of `whose_answer`.
    """
    from swaymeter.tasks.scoring.citations import cited_numbers, names_conflict

    numbers = cited_numbers(text, len(case.passages))
    right = _right_passages(question, case)
    came_from = _source_passages(question, case, text, verdict, right)
    states_no_answer = verdict in ("neither", "refusal") and not came_from
    is_conflict_named = case.condition == "mixed" and names_conflict(
        text,
        verdict,
        lambda part: decision_on(question, case, part).verdict,
        question=question.question,
        cites=numbers,
        right=right,
        wrong=set(came_from) - right,
    )
    return {
        "cited": numbers,
        "cited_exist": all(1 <= number <= len(case.passages) for number in numbers) if numbers else None,
        "citation_right": None if not numbers or states_no_answer else not set(numbers).isdisjoint(came_from),
        "came_from": came_from,
        "names_conflict": is_conflict_named,
    }


def _right_passages(question: Question, case: QuestionContext) -> set[int]:
    return {
        number
        for number, passage in enumerate(case.passages, 1)
        if passage.kind == "supporting" or is_among(passage.answers, question.forms)
    }


def _source_passages(
    question: Question, case: QuestionContext, text: str, verdict: Verdict, right: Collection[int]
) -> tuple[int, ...]:
    """Return the numbers, sorted, of the passages whose answers a reply states."""
    if verdict == "refusal":
        return ()
    if verdict == "context" and gives_original(question, case):
        verdict = "original"  # the context states only the right answer
    if verdict == "original":
        return tuple(sorted(right))
    sources = set(right) if verdict == "both" else set()
    # The passages that state a wrong answer, each as a context of its own.
    wrong_contexts = {
        number: QuestionContext("one", passage.kind or "unknown", (passage,), passage.answers)
        for number, passage in enumerate(case.passages, 1)
        if number not in right and passage.answers
    }
    conflicting = {number: context for number, context in wrong_contexts.items() if context.condition == "conflicting"}
    if verdict in TAKES_CONTEXT and len({frozenset(context.answers) for context in conflicting.values()}) == 1:
        sources |= conflicting.keys()
    for number, context in wrong_contexts.items():
        if decision_on(question, context, text).verdict in TAKES_CONTEXT:
            sources.add(number)
    return tuple(sorted(sources))


CITED_PASSAGES = Measure(
    row=CitedPassages,
    version=2,
    about="questions",
    needs=("answers", "whose_answer"),
    compute=compute,
    meaning="which passages each answer cites, from which it comes, and whether it names their conflict",
)
