"""The family of answer sets: every context before every query, answers being the relation's complete ones.

The answers of a relation are the different objects that its queries and contexts name; those of a closed query are Yes
and No.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from data.records import Context, Query, QueryType
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut_by_form, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.rows import of_pair, of_query
from tasks.measurement.work import Given, Work
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_set import answer_set_persuasion


def measure_answer_set(
    work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress
) -> Spent:
    """Makes the wanted files of answer-set persuasion and susceptibility of a relation, scores in nats."""
    contexts, terminators = given.contexts, work.parameters("answer_set_persuasion")["terminators"]

    def rows(queries: Sequence[Query]) -> Rows:
        persuasion: list[dict[str, Any]] = []
        susceptibility: list[dict[str, Any]] = []
        for query_type, grouped in groupby(queries, key=lambda query: query.query_type):
            of_type, answers = list(grouped), complete_answers(query_type, given.queries, contexts)
            scored = answer_set_persuasion(
                model,
                [context.text for context in contexts],
                [query.text for query in of_type],
                [[answer] for answer in answers],
                terminators=terminators,
            )
            origin = provenance(model, dataset_version=given.dataset_version, engine=scored.engine)
            persuasion += [
                {**of_pair(query, context), "answer_set_persuasion": float(score), "mass": float(mass), **origin}
                for query, scores, masses in zip(of_type, scored.scores, scored.mass, strict=True)
                for context, score, mass in zip(contexts, scores, masses, strict=True)
            ]
            susceptibility += [
                {
                    **of_query(query),
                    "contexts": len(contexts),
                    "answers": len(answers),
                    "answer_set_susceptibility": float(score),
                    "mass": float(masses.mean()),
                    **origin,
                }
                for query, score, masses in zip(of_type, scored.susceptibility, scored.mass, strict=True)
            ]
        return {"answer_set_persuasion": persuasion, "answer_set_susceptibility": susceptibility}

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


def complete_answers(query_type: QueryType, queries: Sequence[Query], contexts: Sequence[Context]) -> list[str]:
    """The answers that queries of a type can have in a relation of these queries and contexts, sorted."""
    if query_type == "closed":
        return ["No", "Yes"]
    return sorted({query.answer for query in queries} | {context.object for context in contexts})
