"""FaithEval (Ming et al. 2024): contexts that contradict what is known, contradict themselves, or lack the answer.

Repository: github.com/SalesforceAIResearch/FaithEval; the data are three data sets of the Hugging Face hub,
Salesforce/FaithEval-counterfactual-v1.0, -inconsistent-v1.0 and -unanswerable-v1.0, each a Parquet file of the split
`test`. Licence: Apache 2.0 (LICENSE.txt of the repository); texts are of SQuAD, NewsQA, TriviaQA and others, under
their own terms.

    counterfactual   question, context, choices {label, text}, answerKey: the choice that the context states, which
                     contradicts what is known. It counts as right here, so that following the context is
                     follow.supporting, and what the model says without it is correct.none (low) and prior_bias. The
                     choices stand behind the question, without letters.
    inconsistent     question, context with two parts that begin with "Document:", answers: those of the two parts, of
                     which the first counts as right. A part that states one of them alone is a context of its own,
                     supporting or conflicting; both together are one of the kind unknown, as FaithEval asks.
    unanswerable     question, context without the answer, answers: words such as "unknown" and "no answer". The
                     context is irrelevant; what FaithEval counts is refuse.irrelevant.
"""

from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.records import OwnKind
from swaymeter.data.sources.own.rows import stands_in
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published

DOCUMENT = "Document:"
NO_ANSWERS = frozenset({"unanswerable", "unknown", "no answer", "no information", "not", "unclear"})
"""What the answers of an unanswerable question are."""


def _counterfactual(cells: Cells) -> dict[str, Any]:
    choices = cells.get("choices")
    if not isinstance(choices, dict) or not isinstance(choices.get("text"), list):
        raise InputError("choices: is not an object with the lists label and text")
    by_label = dict(zip(map(str, choices.get("label") or ()), map(str, choices["text"]), strict=False))
    key = text(cells, "answerKey")
    if key not in by_label:
        raise InputError(f"answerKey: {key} is not one of the labels {', '.join(by_label) or '(none)'}")
    listed = "; ".join(by_label.values())
    return {
        "id": f"counterfactual {text(cells, 'id')}", "group": "counterfactual", "answer": by_label[key],
        "question": f"{text(cells, 'question')} (Choose one: {listed})",
        "contexts": [context(text(cells, "context"), "supporting", [by_label[key]])],
    }  # fmt: skip


def _of_passages(cells: Cells) -> dict[str, Any]:
    answers, passage = texts(cells, "answers"), text(cells, "context")
    group = "unanswerable" if NO_ANSWERS.issuperset(answer.lower() for answer in answers) else "inconsistent"
    row = {"id": f"{group} {text(cells, 'qid')}", "group": group, "question": text(cells, "question")}
    if group == "unanswerable":
        return {**row, "answer": "unanswerable", "contexts": [context(passage, "irrelevant")]}
    contexts = [context(passage, "unknown", id="both documents")]
    for document in filter(None, map(str.strip, passage.split(DOCUMENT))):
        stated = [answer for answer in answers if stands_in(answer, document)]
        if len(stated) == 1 and document != passage:
            kind: OwnKind = "supporting" if stated == answers[:1] else "conflicting"
            contexts.append(context(document, kind, stated))
    return {**row, "answer": answers[0], "contexts": contexts}


class FaithEval(PublishedFile):
    """FaithEval: whether answers keep to a context that is wrong, contradicts itself or lacks the answer."""

    data_set: ClassVar[DataSet] = DataSet(
        title="FaithEval",
        citation="Ming et al. 2024, arXiv:2410.03727",
        licence="Apache 2.0 (its repository); texts under the terms of SQuAD, NewsQA, TriviaQA and others",
        address="huggingface.co/datasets/Salesforce/FaithEval-counterfactual-v1.0, …-inconsistent-v1.0, "
        "…-unanswerable-v1.0",
        file="data/test-00000-of-00001.parquet",
        becomes="counterfactual: a supporting context, whose answer counts as right; inconsistent: both documents as "
        "unknown, and each as supporting or conflicting by the answer that stands in it; unanswerable: an irrelevant "
        "context. Groups: these three",
        forms=(
            Form("counterfactual", ("id", "question", "context", "choices", "answerKey"), each(_counterfactual)),
            Form("inconsistent or unanswerable", ("qid", "question", "context", "answers"), each(_of_passages)),
        ),
    )

    source: Literal["faitheval"] = "faitheval"
    """FaithEval, as its files are published."""


FAITHEVAL = published(FaithEval)
