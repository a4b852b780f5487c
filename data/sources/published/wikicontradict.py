"""WikiContradict (Hou et al. 2024): pairs of passages of Wikipedia that contradict each other.

Published as huggingface.co/datasets/ibm-research/Wikipedia_contradict_benchmark, file
WikiContradict_dataset_v1_rag_qa.csv. Licence: MIT (its card); passages are of Wikipedia, CC BY-SA.

A row has question_ID, question, context1 and answer1, context2 and answer2, contradictType (Explicit or Implicit),
WikipediaArticleTitle and others. Neither answer is the right one. The first stands where a right answer does, so that
its passage supports and the other conflicts: compare the two, and leave what is said of right answers aside. In about a
quarter of the rows (samepassage) both are one passage that contradicts itself, mostly word by word the same: it is
asked once, as one of the kind unknown.
"""

from typing import Any, ClassVar, Literal

from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, others, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published


def _row(cells: Cells) -> dict[str, Any]:
    first, second = texts(cells, "answer1"), texts(cells, "answer2")
    title = none_where_empty(cells.get("WikipediaArticleTitle"))
    passages = text(cells, "context1"), text(cells, "context2")
    contexts = [
        context(passages[0], "supporting", first, title=title), context(passages[1], "conflicting", second, title=title)
    ]  # fmt: skip
    if passages[0] == passages[1]:
        contexts = [context(passages[0], "unknown", id="both passages", title=title)]
    return {
        "id": text(cells, "question_ID"), "group": cells.get("contradictType"), "question": text(cells, "question"),
        "answer": first[0], "aliases": first[1:],
        "contexts": contexts, **others(cells, "samepassage", "url"),
    }  # fmt: skip


class WikiContradict(PublishedFile):
    """WikiContradict: which of two passages of Wikipedia that contradict each other answers follow."""

    data_set: ClassVar[DataSet] = DataSet(
        title="WikiContradict",
        citation="Hou et al. 2024, arXiv:2406.13805",
        licence="MIT; passages: Wikipedia, CC BY-SA",
        address="huggingface.co/datasets/ibm-research/Wikipedia_contradict_benchmark",
        file="WikiContradict_dataset_v1_rag_qa.csv",
        becomes="the first passage supports and the second conflicts, though neither answer is the right one; "
        "one that is both contradicts itself, and is unknown. Groups: explicit and implicit contradictions",
        forms=(
            Form("passages", ("question_ID", "question", "context1", "context2", "answer1", "answer2"), each(_row)),
        ),
        version=2,
    )

    source: Literal["wikicontradict"] = "wikicontradict"
    """WikiContradict, as its file is published."""


WIKI_CONTRADICT = published(WikiContradict)
