"""The step that compares the scores of a relation and a model between the samples of several seeds."""

from typing import Any

from swaymeter.flows.graph.step import Run, Step

TEXTS = {"queries": ("query_id", {"text": "query"}), "contexts": ("context_id", {"text": "context"})}
"""The id of each kind of prompt, and what its text is called among the scores."""


def compute_reliability(step: Step, run: Run) -> None:
    """Writes the variances over seeds and over query forms; arguments: measures, and seeds, the study's first."""
    from swaymeter.tasks.statistics.reliability import reliability  # here, as pandas takes long to import

    measures, seeds = step.arguments
    table = step.table("reliability")
    rows = []
    for measure in measures:
        stored = step.table(f"{measure} {seeds[0]}").read().select(["model", "dtype", "relation"]).slice(0, 1)
        samples = [_sample(step, measure, seed) for seed in seeds]
        rows += [{**stored.to_pylist()[0], **row} for row in reliability(measure, samples)]
    table.write(table.table.of(rows))


def _sample(step: Step, measure: str, seed: int) -> Any:
    """The scores of a seed with the texts of their queries and contexts."""
    scores = step.table(f"{measure} {seed}").read()
    columns = [name for name in ("query_id", "context_id", measure) if name in scores.column_names]
    frame = scores.select(columns).to_pandas()
    for role, (identity, text) in TEXTS.items():
        if identity in columns:
            kept = [identity, "text", *(("query_type", "form", "entity") if role == "queries" else ())]
            prompts = step.table(f"{role} {seed}").read().select(kept).to_pandas()
            # Texts as categories: merging repeats their numbers, and not the texts.
            prompts = prompts.astype({name: "category" for name in kept if name not in (identity, "form")})
            frame = frame.merge(prompts.rename(columns=text), on=identity, validate="many_to_one")
    return frame
