"""The family of entity-independent scores: means of stored persuasion scores over entities; no model is asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data.errors import ScoreError
from data.records import Context, Query
from data.storage.workspace import Workspace
from tasks.measurement.chunks import NoModel, Progress, Rows, Spent, compute_in_chunks, versions
from tasks.measurement.provenance import inherited
from tasks.measurement.work import Given, Work
from tasks.scoring.entity_independent import entity_independent_persuasion, entity_independent_susceptibility


def measure_entity_independent(work: Work, given: Given, workspace: Workspace, progress: Progress) -> Spent:
    """Makes the wanted files of entity-independent persuasion and susceptibility of a relation, scores in nats."""
    stored, contexts = given.scores["persuasion"], given.contexts
    queries_of: dict[tuple[str, int], list[Query]] = {}
    for query in given.queries:
        queries_of.setdefault((query.query_type, query.form), []).append(query)

    def rows(forms: Sequence[tuple[str, int]]) -> Rows:
        persuasion: list[dict[str, Any]] = []
        susceptibility: list[dict[str, Any]] = []
        for query_type, form in forms:
            queries = queries_of[query_type, form]
            known = stored.filter(pc.is_in(stored["query_id"], pa.array([query.query_id for query in queries])))
            scores = _matrix(known, queries, contexts)
            where = {"relation": work.relation, "query_type": query_type, "form": form, "entities": len(queries)}
            origin = inherited(known)
            persuasion += [
                {**where, "context_id": context.context_id, "entity_independent_persuasion": float(score), **origin}
                for context, score in zip(contexts, entity_independent_persuasion(scores), strict=True)
            ]
            gamma = entity_independent_susceptibility(scores)
            susceptibility.append(
                {**where, "contexts": len(contexts), "entity_independent_susceptibility": gamma, **origin}
            )
        return {"entity_independent_persuasion": persuasion, "entity_independent_susceptibility": susceptibility}

    return compute_in_chunks(
        workspace,
        work.wanted,
        [sorted(queries_of)],
        rows,
        prompts=lambda _: 0,
        counter=NoModel(),
        about=versions(),
        progress=progress,
    )


def _matrix(stored: pa.Table, queries: Sequence[Query], contexts: Sequence[Context]) -> NDArray[np.float64]:
    """Persuasion, (n_queries, n_contexts) in nats; ScoreError where one of a query and a context is not stored."""
    row = {query.query_id: number for number, query in enumerate(queries)}
    column = {context.context_id: number for number, context in enumerate(contexts)}
    scores = np.full((len(queries), len(contexts)), np.nan)
    for query, context, score in zip(
        *(stored[name].to_pylist() for name in ("query_id", "context_id", "persuasion")), strict=True
    ):
        scores[row[query], column[context]] = score
    missing = np.argwhere(np.isnan(scores))
    if len(missing):
        query, context = queries[missing[0][0]], contexts[missing[0][1]]
        raise ScoreError(
            f"relation {query.relation}: {len(missing)} scores of persuasion are not stored, the first of the query "
            f"{query.text!r} after the context {context.text!r}; score persuasion again with --force"
        )
    return scores
