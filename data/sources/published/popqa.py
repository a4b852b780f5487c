"""PopQA (Mallen et al. 2023): questions about entities of Wikidata, from the unknown to the well known.

Repository: github.com/AlexTMallen/adaptive-retrieval, file data/popQA.tsv; also
huggingface.co/datasets/akariasai/PopQA, test.tsv. Licence: MIT (LICENSE of the repository).

A row has id, subj, prop, obj, question, possible_answers (a list in JSON), s_pop and o_pop, the page views a month of
subject and object, and others. PopQA has no passages. Two sentences are written from its rows: one that states the
answer, and one that states in its place the object of another row of the same property, which the question's id draws.
Where no other row has another answer, there is the first alone.
"""

import random
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, RowOf, context, others, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published

_AS_WORDS = {"capital of": "{subj} is the capital of {obj}."}
"""How a property is said that is no noun of the subject."""


def _rows(every: Sequence[Cells]) -> RowOf:
    objects: dict[str, dict[str, None]] = {}
    for cells in every:
        objects.setdefault(str(cells.get("prop")), {})[str(cells.get("obj"))] = None

    def row(cells: Cells) -> dict[str, Any]:
        subject, of, answer = (text(cells, column) for column in ("subj", "prop", "obj"))
        answers = list(dict.fromkeys((answer, *texts(cells, "possible_answers"))))
        right = {form.casefold() for form in answers}
        wrong = [one for one in objects[str(cells.get("prop"))] if one.casefold() not in right]
        contexts = [context(_sentence(subject, of, answer), "supporting", answers)]
        if wrong:
            other = random.Random(f"popqa {text(cells, 'id')}").choice(wrong)
            contexts.append(context(_sentence(subject, of, other), "conflicting", [other]))
        return {
            "id": text(cells, "id"), "group": of, "question": text(cells, "question"), "answer": answer,
            "aliases": answers[1:], "contexts": contexts, **others(cells, "s_pop", "o_pop"),
        }  # fmt: skip

    return row


def _sentence(subject: str, of: str, answer: str) -> str:
    return _AS_WORDS.get(of, "The {prop} of {subj} is {obj}.").format(prop=of, subj=subject, obj=answer)


class PopQa(PublishedFile):
    """PopQA: what models know of rare and of well-known entities, and whether one sentence changes it."""

    data_set: ClassVar[DataSet] = DataSet(
        title="PopQA",
        citation="Mallen et al. 2023, arXiv:2212.10511",
        licence="MIT",
        address="github.com/AlexTMallen/adaptive-retrieval",
        file="data/popQA.tsv",
        becomes="PopQA has no passages: a sentence with the answer supports, one with the object of another row of the "
        "property conflicts. Groups: the properties",
        forms=(Form("triples", ("id", "subj", "prop", "obj", "question", "possible_answers"), _rows),),
    )

    source: Literal["popqa"] = "popqa"
    """PopQA, as its file is published."""


POP_QA = published(PopQa)
