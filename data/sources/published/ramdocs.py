"""RAMDocs (Wang et al. 2025): several documents for a question, with right answers, misinformation and noise.

Repository: github.com/HanNight/RAMDocs and huggingface.co/datasets/HanNight/RAMDocs; file RAMDocs_test.jsonl.
Licence: MIT (the card of the data set).

A row has question, documents (each with text, type and answer), disambig_entity, gold_answers and wrong_answers. Names
in the questions are ambiguous: each of the gold answers is right for one entity, so all count as right. Documents of
the type correct support, those of misinfo conflict with their answer, those of noise are irrelevant.
"""

from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.records import OwnKind
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, others, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published

KINDS: dict[str, OwnKind] = {"correct": "supporting", "misinfo": "conflicting", "noise": "irrelevant"}


def _row(cells: Cells) -> dict[str, Any]:
    answers = texts(cells, "gold_answers")
    documents = cells.get("documents")
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        raise InputError("documents: is not a list of objects")
    return {
        "question": text(cells, "question"), "answer": answers[0], "aliases": answers[1:],
        "contexts": [_context(document) for document in documents], **others(cells, "disambig_entity"),
    }  # fmt: skip


def _context(document: Cells) -> dict[str, Any]:
    kind = KINDS.get(of := text(document, "type"))
    if kind is None:
        raise InputError(f"documents: the type {of!r} is none of {', '.join(KINDS)}")
    answer = none_where_empty(document.get("answer"))
    return context(text(document, "text"), kind, [str(answer)] if answer is not None and kind != "irrelevant" else [])


class RamDocs(PublishedFile):
    """RAMDocs: which of several documents answers follow: right ones, misinformation, noise."""

    data_set: ClassVar[DataSet] = DataSet(
        title="RAMDocs",
        citation="Wang et al. 2025, arXiv:2504.13079",
        licence="MIT",
        address="huggingface.co/datasets/HanNight/RAMDocs",
        file="RAMDocs_test.jsonl",
        becomes="a context for each document: correct supports, misinfo conflicts, noise is irrelevant; every gold "
        "answer counts as right",
        forms=(Form("documents", ("question", "documents", "gold_answers"), each(_row)),),
    )

    source: Literal["ramdocs"] = "ramdocs"
    """RAMDocs, as its file is published."""


RAMDOCS = published(RamDocs)
