"""Rules of a whole file of DynamicQA: edits of a partition's facts, and contradictions between rows."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from data.records import Partition, Question
from data.sources import slots

_Fact = tuple[str, str]


def flags_of_edits(partition: Partition, edits: int | None) -> tuple[str, ...]:
    """The rule that a number of edits breaks: static facts have 1, temporal ones 2 or more, disputable ones any."""
    possible = {"static": edits == 1, "temporal": (edits or 0) >= 2, "disputable": (edits or 0) >= 1}
    return () if edits is None or possible[partition] else (slots.EDITS_CONTRADICT_PARTITION,)


def with_flags_across(questions: Sequence[Question]) -> list[Question]:
    """The questions of a file, in their order, with the names of the rules that they break together."""
    counts = Counter(_words(question) for question in questions)
    true: dict[_Fact, set[str]] = defaultdict(set)
    for question in questions:
        true[_fact(question)] |= {form.casefold() for form in question.answers} - {""}
    return [replace(question, flags=(*question.flags, *_broken(question, counts, true))) for question in questions]


def _broken(question: Question, counts: Counter[str], true: dict[_Fact, set[str]]) -> list[str]:
    flags = []
    elsewhere = question.replacement.casefold() in true[_fact(question)]
    if elsewhere and slots.REPLACEMENT_IS_ANSWER not in question.flags and question.partition != "disputable":
        flags.append(slots.REPLACEMENT_IS_OTHER_ANSWER)
    if _words(question) and counts[_words(question)] > 1:
        flags.append(slots.DUPLICATE_QUESTION)
    return flags


def _fact(question: Question) -> _Fact:
    return question.subject_id or question.subject, question.property_id or question.relation


def _words(question: Question) -> str:
    return " ".join(question.question.casefold().split())
