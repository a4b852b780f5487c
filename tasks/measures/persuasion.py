"""Persuasion: how far a context moves the next-token distribution of a query; the formulas: `scoring.persuasion`."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Annotated, TypeVar

from swaymeter.data.records import Context, Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Computed, Inputs, Measure, Row
from swaymeter.tasks.measures.rows import PairScore, pair_rows
from swaymeter.tasks.models.capabilities import NextTokenLogits

Asked = tuple[Sequence[Query], Sequence[Context], list[list[list[int]]]]
"""Queries, the contexts before them, and the [context][query] tokens of both."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@table("persuasion", "a context before a query")
class Persuasion(PairScore):
    """A row of persuasion."""

    persuasion: Annotated[float, Meaning("KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats")]


def compute_chunks(inputs: Inputs, model: NextTokenLogits, chunks: Sequence[Sequence[Query]]) -> Computed:
    """The contexts of a relation before its queries; the next chunk is tokenised while the model reads one."""
    from swaymeter.tasks.models.next_token.prompts import tokenized_prompts
    from swaymeter.tasks.scoring.persuasion import counted, persuasion

    def tokens(queries: Sequence[Query]) -> list[Asked]:
        asked = []
        for some, contexts in inputs.asked(queries):
            distinct, *_ = counted([context.text for context in contexts])
            texts = [query.text for query in some]
            asked.append((some, contexts, tokenized_prompts(model, distinct, texts, start_token=inputs.start_token)))
        return asked

    with contextlib.closing(computed_ahead(tokens, chunks)) as asked_of_chunks:
        for asked in asked_of_chunks:
            rows: list[Row] = []
            for some, contexts, prompts in asked:
                texts = [context.text for context in contexts], [query.text for query in some]
                result = persuasion(model, *texts, prompts=prompts)
                rows += pair_rows(some, contexts, result.engine, persuasion=result.scores)
            yield {"persuasion": rows}


def computed_ahead(make: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """The result for each item, in order: the next one is computed while the current one is used.

    One thread computes all of them, since a tokenizer must not be shared. An error is raised in place of its result.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as thread:
        current: Future[Result] | None = None
        for item in items:
            following = thread.submit(make, item)
            if current is not None:
                yield current.result()
            current = following
        if current is not None:
            yield current.result()


MEASURE = Measure(
    row=Persuasion,
    version=1,
    unit="nats",
    meaning="how far a context moves the next-token distribution of a query",
    about="contexts",
    compute_chunks=compute_chunks,
    capability="next_token_logits",
)
