"""Which passages stored answers cite, from which they come, and whether they say that passages disagree; no model.

One row for each answer with a context of two passages or more, or whose form numbers them. From which passages an
answer comes follows from its verdict (`whose_answer`): where it states the right answer, from every passage that states
it; where it states another one, from every other passage whose own answers it states by its words, or from all
conflicting ones where these state one answer. `scoring.citations` has the rules of citations and of named conflicts.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import SUPPORTING, Question, QuestionContext
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QuestionScore, question_provenance, rows_by_question
from swaymeter.tasks.measures.whose_answer import decision_on, is_among
from swaymeter.tasks.scoring.followed import TAKES_CONTEXT, Verdict


@table("cited_passages", "an answer with a context of several passages, or of numbered ones")
class CitedPassages(QuestionScore):
    """A row of cited passages."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    cited: Annotated[tuple[int, ...], Meaning("the numbers of passages that the answer cites, from 1 on; may be empty")]
    cited_exist: Annotated[bool | None, Meaning("whether each cited number is a passage's; NULL where none is cited")]
    citation_right: Annotated[
        bool | None,
        Meaning(
            "whether a cited passage states the answer that the reply states; NULL where none is cited, or the reply "
            "states no answer"
        ),
    ]
    came_from: Annotated[tuple[int, ...], Meaning("the passages whose stated answers the reply states; may be empty")]
    names_conflict: Annotated[
        bool,
        Meaning(
            "whether it says that right and wrong passages disagree, with the answers of both; false with a context "
            "that is not mixed"
        ),
    ]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """The citations of every stored answer with a context of several, or of numbered, passages."""
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
            of_case = {row["sample"]: row["verdict"] for of_kind in verdicts for row in of_kind[key]}
            known: dict[str, Row] = {}  # samples are often alike
            for row in (row for of_kind in texts for row in of_kind[key]):
                text = row["text"]
                if text not in known:
                    known[text] = citations(question, case, text, of_case[row["sample"]])
                yield {**origins[key], "sample": row["sample"], **known[text]}


def citations(question: Question, case: QuestionContext, text: str, stated: Verdict) -> Row:
    """The columns of an answer's citations; stated: whose answer it states."""
    from swaymeter.tasks.scoring.citations import cited, names_conflict

    numbers = cited(text, len(case.passages))
    right = _right(question, case)
    came_from = _came_from(question, case, text, stated, right)
    states_none = stated in ("neither", "refusal") and not came_from
    return {
        "cited": numbers,
        "cited_exist": all(1 <= number <= len(case.passages) for number in numbers) if numbers else None,
        "citation_right": None if not numbers or states_none else not set(numbers).isdisjoint(came_from),
        "came_from": came_from,
        "names_conflict": case.condition == "mixed"
        and names_conflict(
            text, stated, lambda part: decision_on(question, case, part).verdict,
            question=question.question, cites=numbers, right=right, wrong=set(came_from) - right,
        ),
    }  # fmt: skip


def _right(question: Question, case: QuestionContext) -> set[int]:
    """The passages that state the right answer, by their numbers."""
    return {
        number
        for number, passage in enumerate(case.passages, 1)
        if passage.kind == "supporting" or is_among(passage.answers, question.forms)
    }


def _came_from(
    question: Question, case: QuestionContext, text: str, stated: Verdict, right: Collection[int]
) -> tuple[int, ...]:
    """The passages whose answers a reply states, in their order."""
    if stated == "refusal":
        return ()
    if stated == "context" and (case.condition in SUPPORTING or is_among(case.answers, question.forms)):
        stated = "original"  # there is one side, and the right answer is on it
    found = set(right) if stated in ("original", "both") else set()
    if stated == "original":
        return tuple(sorted(found))
    others = {
        number: QuestionContext("one", passage.kind or "unknown", (passage,), passage.answers)
        for number, passage in enumerate(case.passages, 1)
        if number not in right and passage.answers
    }
    conflicting = {number: one for number, one in others.items() if one.condition == "conflicting"}
    if stated in TAKES_CONTEXT and len({frozenset(one.answers) for one in conflicting.values()}) == 1:
        found |= conflicting.keys()
    found |= {number for number, one in others.items() if decision_on(question, one, text).verdict in TAKES_CONTEXT}
    return tuple(sorted(found))


CITED_PASSAGES = Measure(
    row=CitedPassages, version=2, about="questions", needs=("answers", "whose_answer"), compute=compute,
    meaning="which passages each answer cites, from which it comes, and whether it names their conflict",
)  # fmt: skip
