"""CUB (Hagström et al. 2025), the context utilisation benchmark: CounterFact, Natural Questions and DRUID.

Published as huggingface.co/datasets/copenlu/cub-counterfact, cub-nq and cub-druid, a JSONL file for each model and
split, such as qwen2_5_7b_test.jsonl; the questions and contexts are the same in all. Licence: MIT (the cards of
cub-counterfact and of DRUID); texts of Natural Questions are of Wikipedia.

A row is a question with one context: context_type is gold, edited (which conflicts) or irrelevant, target_true the
right answer, target_new the one that the context promotes, and empty for an irrelevant one. Rows of a question are one.

    CounterFact   template and template_w_context, a sentence to be completed without and with the fact before it, with
                  the slots <subject>, <subject-w-space>, <target> and others that are named as columns
    NQ            question and context
    DRUID         claim, claimant and evidence; target_true is True, Half True or False, target_new True, False or None

The columns of CounterFact and DRUID are as independent readers of the files use them, those of NQ as the paper's
appendix B has its slots.
"""

import re
from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.records import OwnKind
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, others, text
from swaymeter.data.sources.published.source import PublishedFile, published

KINDS: dict[str, OwnKind] = {
    "gold": "supporting", "edited": "conflicting", "conflicting": "conflicting", "irrelevant": "irrelevant",
}  # fmt: skip
_SLOT = re.compile(r"<([a-z][a-z_-]*)>")


def _row(cells: Cells, part: str, question: str, passage: str) -> dict[str, Any]:
    """The own row of a question with one context."""
    kind = KINDS.get(of := text(cells, "context_type"))
    if kind is None:
        raise InputError(f"context_type: {of!r} is none of {', '.join(KINDS)}")
    answer = text(cells, "target_true")
    stated = {"supporting": "target_true", "conflicting": "target_new"}.get(kind)
    name = none_where_empty(cells.get("id"))
    answers = [text(cells, stated)] if stated else []
    one = context(passage, kind, answers, id=None if name is None else str(name))
    return {"group": part, "question": question, "answer": answer, "contexts": [one]}


def _counterfact(cells: Cells) -> dict[str, Any]:
    asked, given = text(cells, "template"), text(cells, "template_w_context")
    if "<|" in given:
        raise InputError("template_w_context: is a chat; use a file without instruct_template in its name")
    asked, given = _filled(asked, cells), _filled(given, cells)
    fact = given.removesuffix(asked) if given.endswith(asked) else given.rpartition("\n")[0]
    if not (fact := fact.strip().removeprefix("Fact:").strip()):
        raise InputError("template_w_context: has no fact before the sentence of `template`")
    question = f"Which name or word completes this sentence? {asked} …"
    return {**_row(cells, "CounterFact", question, fact), **others(cells, "subject")}


def _filled(template: str, cells: Cells) -> str:
    """The template with its slots filled; InputError where one is no column."""
    values = {**cells, "subject-w-space": f"{cells.get('subject') or ''} ", "target": cells.get("target_new")}

    def value(slot: re.Match[str]) -> str:
        found = none_where_empty(values.get(slot[1]))
        if found is None:
            raise InputError(f"the slot {slot[0]} of a template has no value")
        return str(found)

    return re.sub(" +", " ", _SLOT.sub(value, template)).strip()


def _nq(cells: Cells) -> dict[str, Any]:
    return _row(cells, "NQ", text(cells, "question"), text(cells, "context"))


def _druid(cells: Cells) -> dict[str, Any]:
    claimant = none_where_empty(cells.get("claimant"))
    said_by = f" of {claimant}" if claimant else ""
    question = f"Is this claim{said_by} True, Half True or False, or is it not known (None)? {text(cells, 'claim')}"
    return _row(cells, "DRUID", question, text(cells, "evidence"))


_BESIDE = ("context_type", "target_true")


class Cub(PublishedFile):
    """CUB: whether models use gold and conflicting contexts and ignore irrelevant ones, in three data sets."""

    data_set: ClassVar[DataSet] = DataSet(
        title="CUB",
        citation="Hagström et al. 2025, arXiv:2505.16518",
        licence="MIT (cub-counterfact, DRUID); texts of Natural Questions: Wikipedia, CC BY-SA 3.0",
        address="huggingface.co/datasets/copenlu/cub-counterfact, …/cub-nq, …/cub-druid",
        file="a JSONL file, such as qwen2_5_7b_test.jsonl",
        becomes="rows of a question are one question: gold contexts support, edited ones conflict with target_new. "
        "Groups: CounterFact, NQ, DRUID",
        forms=(
            Form("CounterFact", ("template", "template_w_context", "target_new", *_BESIDE), each(_counterfact)),
            Form("NQ", ("question", "context", "target_new", *_BESIDE), each(_nq)),
            Form("DRUID", ("claim", "evidence", "target_new", *_BESIDE), each(_druid)),
        ),
    )

    source: Literal["cub"] = "cub"
    """CUB, as its files are published."""


CUB = published(Cub)
