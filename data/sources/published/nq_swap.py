"""NQ-Swap (Longpre et al. 2021): passages of Natural Questions, and the same with another entity for the answer.

The method is that of github.com/apple/ml-knowledge-conflicts, whose code makes such data; the file that is read is
huggingface.co/datasets/pminervini/NQ-Swap, data/dev-00000-of-00001.parquet. Licence: MIT (its card); passages are of
Wikipedia, CC BY-SA 3.0.

A row has question, org_context and org_answer, sub_context and sub_answer, the answers as lists: the original passage
supports, the one with the substituted entity conflicts. Rows of a question, whose passage had several entities put into
it, are one question. Beside the file there are others, of the original and the substituted passages alone.
"""

from typing import Any, ClassVar, Literal

from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published


def _row(cells: Cells) -> dict[str, Any]:
    answers = texts(cells, "org_answer")
    return {
        "question": text(cells, "question"), "answer": answers[0], "aliases": answers[1:],
        "contexts": [
            context(text(cells, "org_context"), "supporting", answers),
            context(text(cells, "sub_context"), "conflicting", texts(cells, "sub_answer")),
        ],
    }  # fmt: skip


class NqSwap(PublishedFile):
    """NQ-Swap: whether answers follow a passage in which the answer's entity was substituted."""

    data_set: ClassVar[DataSet] = DataSet(
        title="NQ-Swap",
        citation="Longpre et al. 2021, arXiv:2109.05052",
        licence="MIT; passages: Wikipedia, CC BY-SA 3.0",
        address="huggingface.co/datasets/pminervini/NQ-Swap",
        file="data/dev-00000-of-00001.parquet",
        becomes="rows of a question are one question: its original passage supports, each one with a substituted "
        "entity conflicts",
        forms=(Form("passages", ("question", "org_context", "org_answer", "sub_context", "sub_answer"), each(_row)),),
    )

    source: Literal["nq-swap"] = "nq-swap"
    """NQ-Swap, as its file is published."""


NQ_SWAP = published(NqSwap)
