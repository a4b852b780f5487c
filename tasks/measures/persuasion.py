"""Persuasion: how far a context moves the next-token distribution of a query; tasks.scoring.persuasion has formulas."""

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from data.records import Query
from data.records.row import Meaning, table
from tasks.measures.measure import Inputs, Measure, Rows
from tasks.measures.rows import PairScore, of_pair

if TYPE_CHECKING:
    from tasks.models import LanguageModel


@table("persuasion", "a context before a query")
@dataclass(frozen=True, slots=True, kw_only=True)
class Persuasion(PairScore):
    """A row of persuasion."""

    persuasion: Annotated[float, Meaning("KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats")]


def compute_chunks(
    inputs: Inputs, model: "LanguageModel", chunks: Sequence[Sequence[Query]]
) -> Generator[Rows, None, None]:
    """Every context of a relation before every query; the next chunk is tokenised while the model reads one."""
    from tasks.scoring.next_token import Prefetch, tokenized_prompts
    from tasks.scoring.persuasion import counted, persuasion

    contexts = [context.text for context in inputs.contexts]

    def tokens(queries: Sequence[Query]) -> list[list[list[int]]]:
        return tokenized_prompts(model, counted(contexts)[0], [query.text for query in queries])

    with contextlib.closing(Prefetch(tokens, chunks)) as ahead:
        for queries in chunks:
            result = persuasion(model, contexts, [query.text for query in queries], prompts=ahead.take(queries))
            rows = [
                {**of_pair(query, context), "persuasion": float(score), "engine": result.engine}
                for query, scores in zip(queries, result.scores, strict=True)
                for context, score in zip(inputs.contexts, scores, strict=True)
            ]
            yield {"persuasion": rows}


MEASURE = Measure(
    row=Persuasion,
    version=1,
    unit="nats",
    meaning="how far a context moves the next-token distribution of a query",
    about="contexts",
    compute_chunks=compute_chunks,
    capability="next_token_logits",
)
