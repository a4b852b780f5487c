"""The family of precision: a sample of queries scored in the model's own number format and in a reference.

Which queries of a relation are sampled hangs on the study's seed and the queries' ids, never on their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.records import Query
from data.storage.keys import drawn_first
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut_by_form, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.rows import of_query
from tasks.measurement.work import Given, Work
from tasks.models.backends import load_language_model
from tasks.models.language_model import LanguageModel
from tasks.scoring.persuasion import persuasion


@dataclass(frozen=True)
class _Both:
    """The model in two number formats, whose calls are counted together."""

    model: LanguageModel
    reference: LanguageModel

    @property
    def forward_passes(self) -> int:
        return self.model.forward_passes + self.reference.forward_passes


def measure_precision(
    work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress
) -> Spent:
    """Makes the wanted file of the differences that the number format makes in a relation, in nats."""
    parameters, texts = work.parameters("precision"), [context.text for context in given.contexts]
    reference = load_language_model(work.model, dtype=parameters["reference"], device=work.device)
    ids = [query.query_id for query in given.queries]
    sampled = set(drawn_first(ids, parameters["queries"], work.seed, "precision", work.relation))

    def rows(queries: Sequence[Query]) -> Rows:
        own, other = (persuasion(one, texts, [query.text for query in queries]) for one in (model, reference))
        differences = np.abs(own.scores - other.scores)
        origin = provenance(model, dataset_version=given.dataset_version, engine=own.engine)
        return {
            "precision": [
                {
                    **of_query(query),
                    "contexts": len(texts),
                    "reference": reference.dtype,
                    "susceptibility": float(own.susceptibility[number]),
                    "susceptibility_reference": float(other.susceptibility[number]),
                    "largest_difference": float(differences[number].max()),
                    "mean_difference": float(differences[number].mean()),
                    **origin,
                }
                for number, query in enumerate(queries)
            ]
        }

    return compute_in_chunks(
        workspace,
        work.wanted,
        cut_by_form([query for query in given.queries if query.query_id in sampled], len(texts)),
        rows,
        prompts=lambda queries: 2 * len(queries) * len(texts),
        counter=_Both(model, reference),
        about=versions(),
        progress=progress,
    )
