"""Stage `aggregate`: comparison of seeds, which shows how far scores depend on the drawn contexts."""

from collections.abc import Iterable, Mapping
from typing import Any

from swaymeter.data.records import tables
from swaymeter.flows.config.study import MEASURES_OF_SEEDS
from swaymeter.flows.graph.graph import Graph, Output, RunSettings, Step, StepInput, StepKind
from swaymeter.flows.stages.build import BuiltPrompts, add_prompts, seed_part
from swaymeter.flows.stages.fetch import FetchedInputs
from swaymeter.flows.stages.plan import Plan, PlannedVariant
from swaymeter.flows.stages.score import add_passes
from swaymeter.tasks.measures import MEASURES

TEXTS = {"queries": ("query_id", {"text": "query"}), "contexts": ("context_id", {"text": "context"})}
"""For queries and contexts: the column of ids, and the name that the column `text` gets in a frame of scores."""


def compute_reliability(step: Step, settings: RunSettings) -> None:
    """Write the variances of scores over seeds and over query forms.

    The arguments of the step are the measures and the seeds. The first seed is the study's seed.
    """
    from swaymeter.tasks.statistics.reliability import reliability  # imports pandas, which takes long

    measures, seeds = step.arguments
    table = step.table("reliability")
    rows = []
    for measure in measures:
        # All rows have the same model, dtype and relation.
        first_row = step.table(f"{measure} {seeds[0]}").read().select(["model", "dtype", "relation"]).slice(0, 1)
        frames = [_scores_with_texts(step, measure, seed) for seed in seeds]
        rows += [{**first_row.to_pylist()[0], **row} for row in reliability(measure, frames)]
    table.write(table.table.of(rows))


def _scores_with_texts(step: Step, measure: str, seed: int) -> Any:
    scores = step.table(f"{measure} {seed}").read()
    columns = [name for name in ("query_id", "context_id", measure) if name in scores.column_names]
    frame = scores.select(columns).to_pandas()
    for role, (id_column, new_names) in TEXTS.items():
        if id_column in columns:
            prompt_columns = [id_column, "text", *(("query_type", "form", "entity") if role == "queries" else ())]
            prompts = step.table(f"{role} {seed}").read().select(prompt_columns).to_pandas()
            # As categories, a text that many rows have is in memory once.
            prompts = prompts.astype({name: "category" for name in prompt_columns if name not in (id_column, "form")})
            frame = frame.merge(prompts.rename(columns=new_names), on=id_column, validate="many_to_one")
    return frame


# ---- the steps of a study --------------------------------------------------------------------------------------------

COMPARE_SEEDS = StepKind("aggregate", "reliability", makes=("reliability",), function=compute_reliability)


def add_comparisons_of_seeds(
    graph: Graph, plan: Plan, fetched: FetchedInputs, built: BuiltPrompts, scores: Iterable[StepInput]
) -> list[StepInput]:
    """Add the steps that compare seeds, and return the tables of variances; empty for a study with one seed.

    Each further seed draws other contexts, which the measures in `MEASURES_OF_SEEDS` score. All seeds have the same
    entities and queries, because only scores of the same query can be compared. Apart from the comparison, the
    database has only scores of the study's seed.
    """
    study, measures = plan.study, [name for name in MEASURES_OF_SEEDS if name in plan.parameters]
    study_seed_scores = {(score.node.id, score.role): score for score in scores}
    comparisons = []
    for relation in built.queries if study.seeds else ():
        prompts = {study.seed: {"queries": built.queries[relation], "contexts": built.contexts[relation]}}
        for seed in study.further_seeds:
            node = add_prompts(graph, plan, fetched, relation, seed)
            prompts[seed] = {"queries": node.output("queries"), "contexts": node.output("contexts")}
        for variant in plan.variants:
            if not any(MEASURES[name].about != "questions" for each in variant.passes for name in each.measures):
                continue  # only the first variant of a model scores queries; further variants score only questions
            scores_by_seed = {
                study.seed: {
                    role: score
                    for (identity, role), score in study_seed_scores.items()
                    if identity.subject == relation and variant.is_of(identity)
                }
            }
            for seed in study.further_seeds:
                seed_plan = plan.further_seeds[seed]
                same_variant = next(other for other in seed_plan.variants if other.key == variant.key)
                scored = add_passes(graph, seed_plan, same_variant, relation, prompts[seed], seed_part(seed))
                scores_by_seed[seed] = {score.role: score for score in scored}
            comparisons.append(_add_comparison(graph, measures, variant, relation, prompts, scores_by_seed))
    return comparisons


def _add_comparison(
    graph: Graph,
    measures: list[str],
    variant: PlannedVariant,
    relation: str,
    prompts: Mapping[int, Mapping[str, StepInput]],
    scores: Mapping[int, Mapping[str, StepInput]],
) -> StepInput:
    """Add the step that compares scores of a relation and a variant; `prompts` and `scores` are by seed and role."""
    inputs = {
        f"{role} {seed}": step_input
        for seed, seed_prompts in prompts.items()
        for role, step_input in {**seed_prompts, **{name: scores[seed][name] for name in measures}}.items()
    }
    model = variant.model
    outputs = {"reliability": Output(tables.RELIABILITY, ("reliability", relation, model.name), "reliability")}
    return graph.add(
        COMPARE_SEEDS,
        COMPARE_SEEDS.id(relation, model=model.name, dtype=model.dtype, setup=variant.setup),
        outputs,
        inputs=inputs,
        parameters={"model": model.name, "dtype": variant.dtype, "seeds": [*prompts], "measures": measures},
        arguments=(tuple(measures), tuple(prompts)),
    ).output("reliability")
