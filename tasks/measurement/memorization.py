"""The family of memorization: what a model says greedily to a query after each context, and whose answer that is."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from data.records import Query
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut_by_form, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.rows import of_pair, of_query
from tasks.measurement.work import Given, Work
from tasks.models.language_model import LanguageModel
from tasks.scoring.memorization import conflict, count, follows, greedy_answers


def measure_memorization(
    work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress
) -> Spent:
    """Makes the wanted files of greedy answers and memorization ratios of a relation."""
    contexts, length = given.contexts, work.parameters("greedy_answers")["max_new_tokens"]

    def rows(queries: Sequence[Query]) -> Rows:
        answered = greedy_answers(
            model,
            [context.text for context in contexts],
            [query.text for query in queries],
            max_new_tokens=length,
        )
        origin = provenance(model, dataset_version=given.dataset_version, engine=answered.engine)
        answers: list[dict[str, Any]] = []
        ratios: list[dict[str, Any]] = []
        for query, texts in zip(queries, answered.texts, strict=True):
            followed = [
                (
                    conflict(context.kind, context.entity == query.entity, context.object, query.answer),
                    follows(text, query.query_type, query.answer, context.kind, context.object),
                )
                for context, text in zip(contexts, texts, strict=True)
            ]
            answers += [
                {**of_pair(query, context), "conflict": conflicting, "text": text, "follows": whose, **origin}
                for context, text, (conflicting, whose) in zip(contexts, texts, followed, strict=True)
            ]
            ratios.append({**of_query(query), **asdict(count(followed)), **origin})
        return {"greedy_answers": answers, "memorization_ratio": ratios}

    return compute_in_chunks(
        workspace,
        work.wanted,
        cut_by_form(given.queries, len(contexts)),
        rows,
        prompts=lambda queries: len(queries) * len(contexts),
        counter=model,
        about=versions(),
        progress=progress,
    )
