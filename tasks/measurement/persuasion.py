"""The family of persuasion: every context of a relation before every query of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from data.records import Context, Query, is_relevant, of_row
from data.workspace import Stored, Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut, versions
from tasks.measurement.provenance import ENGINE, provenance
from tasks.models.language_model import LanguageModel
from tasks.scoring.persuasion import persuasion

QUERIES_A_CHUNK = 8

Row = Mapping[str, Any]


def measure_persuasion(
    model: LanguageModel,
    workspace: Workspace,
    wanted: Mapping[str, Stored],
    inputs: Mapping[str, Sequence[Row]],
    *,
    dataset_version: str,
    progress: Progress,
) -> Spent:
    """Makes the wanted files of persuasion and susceptibility of a relation, scores in nats."""
    contexts = inputs["contexts"]
    origin = provenance(model, dataset_version=dataset_version)

    def rows(queries: Sequence[Row]) -> Rows:
        scored = persuasion(model, [context["text"] for context in contexts], [query["text"] for query in queries])
        return {
            "persuasion": [
                {
                    "relation": query["relation"],
                    "query_id": query["query_id"],
                    "context_id": context["context_id"],
                    "relevant": is_relevant(of_row(Context, context), of_row(Query, query)),
                    "persuasion": float(score),
                    **origin,
                }
                for query, scores in zip(queries, scored.scores, strict=True)
                for context, score in zip(contexts, scores, strict=True)
            ],
            "susceptibility": [
                {
                    "relation": query["relation"],
                    "query_id": query["query_id"],
                    "contexts": len(contexts),
                    "susceptibility": float(score),
                    **origin,
                }
                for query, score in zip(queries, scored.susceptibility, strict=True)
            ],
        }

    return compute_in_chunks(
        workspace,
        wanted,
        cut(inputs["queries"], QUERIES_A_CHUNK),
        rows,
        prompts=lambda queries: len(queries) * len(contexts),
        counter=model,
        about={"device": model.device, "engine": ENGINE, **versions()},
        progress=progress,
    )
