"""Citations of passages, and statements that passages disagree, each by a table of replies."""

import pytest

from swaymeter.tasks.scoring.citations import cited_numbers, names_conflict
from swaymeter.tasks.scoring.followed import Verdict, whose_answer

CITED: list[tuple[str, tuple[int, ...]]] = [
    ("It opens at nine [2].", (2,)),
    ("It opens at nine [1, 3].", (1, 3)),
    ("It opens at nine [1][3].", (1, 3)),
    ("It opens at nine [1-3].", (1, 2, 3)),
    ("It opens at nine [ 1 ; 2 ].", (1, 2)),
    ("It opens at nine【2】.", (2,)),
    ("It opens at nine 【2†source】.", (2,)),
    ("It opens at nine ［2］.", (2,)),
    ("It opens at nine[^3].", (3,)),
    ("[2] It opens at nine.", (2,)),
    ("It opens at nine [7].", (7,)),
    ("It opens at nine [0].", (0,)),
    ("It has been so since [1998].", ()),
    ("It opens at nine [sic].", ()),
    ("It opens at nine (2).", (2,)),
    ("It opens at nine (1, 3), says the guide.", (1, 3)),
    ("It opens at nine (1) and at ten (2).", (1, 2)),
    ("(1) nine (2) ten", ()),
    ("It has (2) doors.", ()),
    ("It has two (2) doors.", ()),
    ("It opens at nine (9).", ()),
    ("It has 2 (2).", ()),
    ("By Section 5 (2), it is nine.", ()),
    ("By Section 5(2), it is nine.", ()),
    ("It has been so for years (1998).", ()),
    ("f(2).", ()),
    ("Passage 2 says nine.", (2,)),
    ("According to passage #2, nine.", (2,)),
    ("According to passage [2], nine.", (2,)),
    ("Nine (Document 3).", (3,)),
    ("Nine (doc. 3).", (3,)),
    ("Nine [Passage 1, 3].", (1, 3)),
    ("Passages 1 and 3 say nine.", (1, 3)),
    ("Documents 1, 2, and 3 say nine.", (1, 2, 3)),
    ("Passages 1-3 say nine.", (1, 2, 3)),
    ("Passage 1 and 3 doors.", (1,)),
    ("Nine.\nSource: 2", (2,)),
    ("Nine. Sources: 1, 3.", (1, 3)),
    ("Source: 3 people who were there.", ()),
    ("According to the text 2 people were there.", ()),
    ("According to Text 2 it is nine.", (2,)),
    ("Passage two says nine.", (2,)),
    ("Passage one says nine.", (1,)),
    ("It is a source one can trust.", ()),
    ("The second passage says nine.", (2,)),
    ("The 1st passage says nine, the third says ten.", (1, 3)),
    ("The third says ten.", ()),
    ("It was his first document.", ()),
    ("The first source says nine.", (1,)),
    ("It opens at nine.", ()),
    ("", ()),
]


@pytest.mark.parametrize(("reply", "expected"), CITED, ids=[reply[:40] for reply, _ in CITED])
def test_replies_cite_passages(reply: str, expected: tuple[int, ...]) -> None:
    # With ten passages, "(9)" could be a passage; it repeats the numeral "nine".
    passages = 3 if "(9)" not in reply else 10
    assert cited_numbers(reply, passages) == expected


QUESTION = "When does the old library open?"
CONFLICT: list[tuple[str, bool]] = [
    ("Passage 1 says nine, but passage 2 says ten.", True),
    ("Passage 1 says nine, while passage 2 says ten.", True),
    ("While passage 1 says nine, passage 2 says ten.", True),
    ("Although one text says nine, it opens at ten.", True),
    ("It opens at ten, though one source says nine.", True),
    ("It opens at nine [1]. However, passage 2 says ten.", True),
    ("According to one it is nine, whereas according to the other it is ten.", True),
    ("One source says nine. On the other hand, one says ten.", True),
    ("Some sources say nine, others say ten.", True),
    ("The guide says nine, another says ten.", True),
    ("The sources disagree: nine or ten.", True),
    ("There is a discrepancy: nine or ten.", True),
    ("There is conflicting information: nine or ten.", True),
    ("The passages differ: nine or ten.", True),
    ("The passages give different times: nine and ten.", True),
    ("The passages conflict: nine or ten.", True),
    ("Nine or ten, depending on the source.", True),
    ("Passage 2 contradicts passage 1 (nine): it opens at ten.", True),
    ("It opens at nine [1] or ten [2].", True),
    ("Passage [1] states nine; passage [2] states ten.", True),
    ("It opens at nine and ten.", False),
    ("It opens at nine and ten [1].", False),
    ("It opens at nine on weekdays, but at ten on Sundays.", False),
    ("It opens at nine or ten; times differ by season.", False),
    ("The passages do not contradict each other: it opens at nine, then again at ten.", False),
    ("The passages don't really differ: nine and ten.", False),
    ("In the United States it opens at nine, but here at ten.", False),
    ("It opens at nine.", False),
    ("The sources disagree, but it opens at nine.", False),
    ("It opens at nine, not ten.", False),
    ("I do not know.", False),
]


def verdict_on(part: str) -> Verdict:
    return whose_answer(part, context=["ten"], original=["nine"], question=QUESTION)


def is_conflict_named(reply: str, question: str = QUESTION) -> bool:
    cites = cited_numbers(reply, 2)
    return names_conflict(reply, verdict_on(reply), verdict_on, question=question, cites=cites, right=[1], wrong=[2])


@pytest.mark.parametrize(("reply", "expected"), CONFLICT, ids=[reply[:50] for reply, _ in CONFLICT])
def test_replies_name_conflicts(reply: str, expected: bool) -> None:
    assert is_conflict_named(reply) == expected


def test_a_word_of_the_question_names_no_conflict() -> None:
    reply = "The passages say that the conflict began at nine and at ten."
    assert is_conflict_named(reply)
    assert not is_conflict_named(reply, "When did the conflict begin?")
