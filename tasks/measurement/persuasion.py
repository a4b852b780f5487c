"""The family of persuasion: every context of a relation before every query of it."""

import contextlib
from collections.abc import Sequence

from data.records import Query
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut_by_form, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.rows import of_pair, of_query
from tasks.measurement.work import Given, Work
from tasks.models.language_model import LanguageModel
from tasks.scoring.next_token import MadeAhead, tokenized_prompts
from tasks.scoring.persuasion import counted, persuasion


def measure_persuasion(
    work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress
) -> Spent:
    """Makes the wanted files of persuasion and susceptibility of a relation, scores in nats."""
    contexts = given.contexts
    texts = [context.text for context in contexts]
    chunks = cut_by_form(given.queries, len(contexts))

    def tokens(queries: Sequence[Query]) -> list[list[list[int]]]:
        return tokenized_prompts(model, counted(texts)[0], [query.text for query in queries])

    ahead = MadeAhead(tokens, chunks)

    def rows(queries: Sequence[Query]) -> Rows:
        scored = persuasion(model, texts, [query.text for query in queries], prompts=ahead.take(queries))
        origin = provenance(model, dataset_version=given.dataset_version, engine=scored.engine)
        return {
            "persuasion": [
                {**of_pair(query, context), "persuasion": float(score), **origin}
                for query, scores in zip(queries, scored.scores, strict=True)
                for context, score in zip(contexts, scores, strict=True)
            ],
            "susceptibility": [
                {**of_query(query), "contexts": len(contexts), "susceptibility": float(score), **origin}
                for query, score in zip(queries, scored.susceptibility, strict=True)
            ],
        }

    with contextlib.closing(ahead):
        return compute_in_chunks(
            workspace,
            work.wanted,
            chunks,
            rows,
            prompts=lambda queries: len(queries) * len(contexts),
            counter=model,
            about=versions(),
            progress=progress,
        )
