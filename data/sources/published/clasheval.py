"""ClashEval (Wu et al. 2024): contexts with the right answer, and the same ones with answers changed by degrees.

Repository: github.com/kevinwu23/StanfordClashEval, file data/dataset/dataset.pqt; also
huggingface.co/datasets/kewu93/ClashEval. Licence: CC BY 4.0 (data/dataset/croissant.json).

A row has question, context_original, context_mod, answer_original, answer_mod, dataset (drugs, news, records, years,
names, locations) and by how much the answer was changed (mod_degree, in files of responses mod_type). Rows of a
question are one question: its original context supports, and each changed one conflicts and is called by its degree. A
row whose context was not changed, though its answer was, is rejected.
"""

from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, text
from swaymeter.data.sources.published.source import PublishedFile, published


def _row(cells: Cells) -> dict[str, Any]:
    answer, other = text(cells, "answer_original"), text(cells, "answer_mod")
    original, changed = text(cells, "context_original"), text(cells, "context_mod")
    degree = none_where_empty(cells.get("mod_degree", cells.get("mod_type")))
    contexts = [context(original, "supporting", [answer])]
    if changed == original and other != answer:
        raise InputError("context_mod: is context_original, though answer_mod is not answer_original")
    if changed != original:
        contexts.append(context(changed, "conflicting", [other], id=None if degree is None else f"changed: {degree}"))
    return {
        "question": text(cells, "question"), "answer": answer, "group": cells.get("dataset"), "contexts": contexts
    }  # fmt: skip


class ClashEval(PublishedFile):
    """ClashEval: how far a wrong context may be from what a model knows before it is not followed."""

    data_set: ClassVar[DataSet] = DataSet(
        title="ClashEval",
        citation="Wu et al. 2024, arXiv:2404.10198",
        licence="CC BY 4.0",
        address="github.com/kevinwu23/StanfordClashEval",
        file="data/dataset/dataset.pqt",
        becomes="rows of a question are one question: its original context supports, each changed one conflicts and "
        "is called by the degree of its change. Groups: the domains",
        forms=(
            Form(
                "contexts",
                ("question", "context_original", "context_mod", "answer_original", "answer_mod"),
                each(_row),
            ),
        ),
        version=2,
    )

    source: Literal["clasheval"] = "clasheval"
    """ClashEval, as its file is published."""


CLASHEVAL = published(ClashEval)
