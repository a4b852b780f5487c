"""Persuasion: how far a context moves the next-token distribution of a query; tasks.scoring.persuasion has formulas."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Annotated, TypeVar

from data.records import Query
from data.records.row import Meaning, table
from tasks.measures.measure import Computed, Inputs, Measure
from tasks.measures.rows import PairScore, pair_rows
from tasks.models.language_model import LanguageModel

Item = TypeVar("Item")
Result = TypeVar("Result")


@table("persuasion", "a context before a query")
class Persuasion(PairScore):
    """A row of persuasion."""

    persuasion: Annotated[float, Meaning("KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats")]


def compute_chunks(inputs: Inputs, model: LanguageModel, chunks: Sequence[Sequence[Query]]) -> Computed:
    """Every context of a relation before every query; the next chunk is tokenised while the model reads one."""
    from tasks.scoring.next_token import tokenized_prompts
    from tasks.scoring.persuasion import counted, persuasion

    contexts = [context.text for context in inputs.contexts]

    def tokens(queries: Sequence[Query]) -> list[list[list[int]]]:
        return tokenized_prompts(model, counted(contexts)[0], [query.text for query in queries])

    with contextlib.closing(computed_ahead(tokens, chunks)) as tokens_of_chunks:
        for queries, prompts in zip(chunks, tokens_of_chunks, strict=True):
            result = persuasion(model, contexts, [query.text for query in queries], prompts=prompts)
            yield {"persuasion": list(pair_rows(queries, inputs.contexts, result.engine, persuasion=result.scores))}


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
