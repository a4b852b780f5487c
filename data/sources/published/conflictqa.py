"""ConflictQA (Xie et al. 2023): evidence for what a language model remembers, and evidence against it.

Repository: github.com/OSU-NLP-Group/LLM-Knowledge-Conflict, folder conflictQA, and
huggingface.co/datasets/osunlp/ConflictQA, an object on each line of files such as conflictQA-popQA-chatgpt.json and
conflictQA-strategyQA-gpt4.json. Licence: Apache 2.0 (its card).

A row has question, popularity, ground_truth (a list of forms; of StrategyQA True or False), and for two answers, which
are sentences, two passages each: memory_answer with parametric_memory and parametric_memory_aligned_evidence, and
counter_answer with counter_memory and counter_memory_aligned_evidence.

Which of both is right, the file does not say. Of PopQA it is the one in which a form of the ground truth stands; of
StrategyQA, of whose sentences one denies what the other says, the one that has the negations of its question, mostly
none, says yes, and one with others says no. A row in which that holds for both sentences or none is rejected. Passages
of the right answer support, those of the other conflict; the answer of PopQA that conflicts is what its sentence has in
place of the words of the right one, where these are few, and the sentence.
"""

import re
from collections import Counter
from itertools import takewhile
from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.own.rows import stands_in
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, others, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published

SIDES = {
    "memory_answer": ("parametric_memory", "parametric_memory_aligned_evidence"),
    "counter_answer": ("counter_memory", "counter_memory_aligned_evidence"),
}
"""The two answers, and the passages of each."""
MOST_WORDS = 8
"""Words of an answer that is told by them."""
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|unlikely|impossible)\b|n['’]t\b", re.IGNORECASE
)
_ARE_NOT = {"cannot": "not", "n't": "not", "n’t": "not"}


def _row(cells: Cells) -> dict[str, Any]:
    truth = texts(cells, "ground_truth")
    polar = {"true": "yes", "false": "no"}.get(truth[0].lower()) if len(truth) == 1 else None
    sentences = {side: text(cells, side) for side in SIDES}
    right = _yes_or_no(sentences, polar, text(cells, "question")) if polar else _stating(sentences, truth)
    wrong = next(side for side in SIDES if side != right)
    if polar:
        answers, false = [polar], ["no" if polar == "yes" else "yes"]
    else:
        answers, false = truth, _told_apart(sentences[wrong], sentences[right])
    contexts = [context(passage, "supporting", answers) for passage in _passages(cells, right)]
    contexts += [context(passage, "conflicting", false) for passage in _passages(cells, wrong)]
    return {
        "group": "StrategyQA" if polar else "PopQA", "question": text(cells, "question"),
        "answer": answers[0], "aliases": answers[1:], "contexts": contexts,
        "the model was right": "yes" if right == "memory_answer" else "no", **others(cells, "popularity"),
    }  # fmt: skip


def _passages(cells: Cells, side: str) -> list[str]:
    found = (none_where_empty(cells.get(column)) for column in SIDES[side])
    return [str(passage).strip() for passage in found if passage is not None]


def _stating(sentences: dict[str, str], truth: list[str]) -> str:
    """The side whose sentence states the truth."""
    stating = [side for side, sentence in sentences.items() if any(stands_in(form, sentence) for form in truth)]
    if len(stating) != 1:
        which = "both" if stating else "none"
        raise InputError(f"ground_truth: stands in {which} of memory_answer and counter_answer")
    return stating[0]


def _yes_or_no(sentences: dict[str, str], polar: str, question: str) -> str:
    """The side whose sentence says yes or no, as the truth is."""
    asked = _negations(re.sub(r"n['’]t\b", "", question))  # "Isn't it old?" asks whether it is old
    denying = [side for side, sentence in sentences.items() if _negations(sentence) != asked]
    if len(denying) != 1:
        which = "both say" if denying else "none of them says"
        raise InputError(f"memory_answer, counter_answer: {which} no to the question, by the negations")
    return denying[0] if polar == "no" else next(side for side in SIDES if side not in denying)


def _negations(sentence: str) -> Counter[str]:
    """How often a sentence has each negation."""
    return Counter(_ARE_NOT.get(found, found) for found in map(str.lower, _NEGATIONS.findall(sentence)))


def _told_apart(sentence: str, other: str) -> list[str]:
    """The words that a sentence has in place of the other's, where these are few; and the sentence."""
    own, others_ = sentence.rstrip(".").split(), other.rstrip(".").split()
    before = len([*takewhile(lambda pair: pair[0] == pair[1], zip(own, others_, strict=False))])
    own, others_ = own[before:], others_[before:]
    after = len([*takewhile(lambda pair: pair[0] == pair[1], zip(own[::-1], others_[::-1], strict=False))])
    words = own[: len(own) - after]
    is_told = before > 0 and 0 < len(words) <= MOST_WORDS
    return [" ".join(words), sentence] if is_told else [sentence]


class ConflictQa(PublishedFile):
    """ConflictQA: whether answers follow evidence for and against what a language model remembered."""

    data_set: ClassVar[DataSet] = DataSet(
        title="ConflictQA",
        citation="Xie et al. 2023, arXiv:2305.13300",
        licence="Apache 2.0",
        address="huggingface.co/datasets/osunlp/ConflictQA",
        file="conflictQA-popQA-chatgpt.json or another of its files",
        becomes="two passages for the right answer, which support, and two for the other one, which conflict. Groups: "
        "PopQA, StrategyQA (yes or no)",
        forms=(Form("evidence", ("question", "ground_truth", *SIDES, *sum(SIDES.values(), ())), each(_row)),),
        version=2,
    )

    source: Literal["conflictqa"] = "conflictqa"
    """ConflictQA, as its files are published."""


CONFLICT_QA = published(ConflictQa)
