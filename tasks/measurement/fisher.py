"""The family of Fisher susceptibility: every query of a relation alone; no context is asked."""

from collections.abc import Sequence

from data.records import Query
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut_by_form, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.rows import of_query
from tasks.measurement.work import Given, Work
from tasks.models.language_model import LanguageModel
from tasks.scoring.fisher import fisher_susceptibility

ENGINE = "autograd"


def measure_fisher(work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress) -> Spent:
    """Makes the wanted file of Fisher susceptibility of a relation, in nats per squared embedding unit."""
    parameters = work.parameters("fisher_susceptibility")
    top_k, draws = parameters["top_k"], parameters["draws"]
    origin = provenance(model, dataset_version=given.dataset_version, engine=ENGINE)

    def rows(queries: Sequence[Query]) -> Rows:
        texts = [query.text for query in queries]
        if draws:
            scored = fisher_susceptibility(model, texts, top_k=None, draws=draws, exact=top_k, seed=work.seed)
        else:
            scored = fisher_susceptibility(model, texts, top_k=top_k)
        return {
            "fisher_susceptibility": [
                {
                    **of_query(query),
                    "top_k": top_k,
                    "fisher_top_k": float(exact),
                    "draws": draws,
                    "fisher": float(trace) if draws else None,
                    "fisher_standard_error": float(error) if draws else None,
                    **origin,
                }
                for query, exact, trace, error in zip(
                    queries, scored.top_k_trace, scored.trace, scored.standard_error, strict=True
                )
            ]
        }

    return compute_in_chunks(
        workspace,
        work.wanted,
        cut_by_form(given.queries, top_k + draws),  # a query is read once and differentiated so many times
        rows,
        prompts=len,
        counter=model,
        about=versions(),
        progress=progress,
    )
