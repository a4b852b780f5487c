"""Queries and questions are cut into chunks that are computed, and stored, together."""

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from swaymeter.data.records import Query
from swaymeter.tasks.measures.measure import Chunk, Inputs, Measure

LEAST_QUERIES = 32
LEAST_PROMPTS = 8192
"""What a chunk of queries holds at least, if there is as much: enough to keep a machine busy, little enough to lose."""

QUESTIONS_A_CHUNK = {"cpu": 32, "cuda": 128}
"""Enough to keep a model busy; the distributions along their answers take some hundred megabytes, or thousands."""

Item = TypeVar("Item")


def chunks_of(measure: Measure, inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """What a measure computes and stores together; one chunk for a measure that is derived from stored scores."""
    if measure.chunks is not None:
        return measure.chunks(inputs, model)
    if measure.capability is None:
        return [inputs.questions if measure.about == "questions" else by_form(inputs.queries)]
    if measure.about == "questions":
        return cut_questions(inputs, model)
    return cut_by_form(inputs.queries, inputs.contexts_a_query if measure.about == "contexts" else 1)


def cut_questions(inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """The questions in chunks, larger ones on a GPU; model: None where no language model is needed."""
    return cut(inputs.questions, QUESTIONS_A_CHUNK[model.device.partition(":")[0] if model else "cpu"])


def cut_by_form(queries: Sequence[Query], each: int) -> list[Sequence[Query]]:
    """The queries in chunks, those of a form together; each: what one query takes, in prompts or what costs as much."""
    return cut(by_form(queries), max(LEAST_QUERIES, math.ceil(LEAST_PROMPTS / max(each, 1))))


def by_form(queries: Sequence[Query]) -> list[Query]:
    """The queries of a form together: they have a common prefix, which an engine then reads once, and like lengths."""
    return sorted(queries, key=lambda query: (query.query_type, query.form))


def cut(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """The items in chunks of `size`, the last one perhaps smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]
