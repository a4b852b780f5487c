"""Persuasion: how far a context moves the next-token distribution of a query; tasks.scoring.persuasion has formulas."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from data.records import Query
from data.records.row import Meaning, table
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.rows import PairScore, of_pair


@table("persuasion", "a context before a query")
@dataclass(frozen=True, slots=True, kw_only=True)
class Persuasion(PairScore):
    """A row of persuasion."""

    persuasion: Annotated[float, Meaning("KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats")]


def compute(inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> Computed:
    """Every context of a relation before every query; the next chunk is tokenised while the model reads one."""
    from tasks.scoring.next_token import computed_ahead, tokenized_prompts
    from tasks.scoring.persuasion import counted, persuasion

    contexts = [context.text for context in inputs.contexts]

    def tokens(queries: Sequence[Query]) -> list[list[list[int]]]:
        return tokenized_prompts(model, counted(contexts)[0], [query.text for query in queries])

    with contextlib.closing(computed_ahead(tokens, chunks)) as tokens_of_chunks:
        for queries, prompts in zip(chunks, tokens_of_chunks, strict=True):
            result = persuasion(model, contexts, [query.text for query in queries], prompts=prompts)
            rows = [
                {**of_pair(query, context), "persuasion": float(score), "engine": result.engine}
                for query, scores in zip(queries, result.scores, strict=True)
                for context, score in zip(inputs.contexts, scores, strict=True)
            ]
            yield Rows({"persuasion": rows})


MEASURE = Measure(
    name="persuasion",
    version=1,
    unit="nats",
    meaning="how far a context moves the next-token distribution of a query",
    row=Persuasion,
    about="contexts",
    compute=compute,
    capability="next_token_logits",
)
