"""The steps of further seeds: they draw contexts anew, score them, and are compared with the study's own.

The first seed is the study's, and everything else is about it alone. Entities, and so queries, are the study's: a score
can vary only of a query that every sample has. Of each further seed there are contexts, and the scores of
`MEASURES_OF_SEEDS`; these are not loaded into the database, only what the comparison gives.
"""

from collections.abc import Iterable, Mapping

from swaymeter.data.records.tables import RELIABILITY
from swaymeter.flows.graph.graph import Graph, Reference
from swaymeter.flows.graph.step import Output
from swaymeter.flows.stages.build import Built, part_of, prompts_of
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.score import passes_of
from swaymeter.flows.stages.study_graph import RELIABILITY as KIND
from swaymeter.flows.study.plan import Plan, Variant
from swaymeter.flows.study.study import MEASURES_OF_SEEDS


def reliability(
    graph: Graph, plan: Plan, fetched: Fetched, built: Built, scores: Iterable[Reference]
) -> list[Reference]:
    """Adds the steps; gives the tables of variances, none of a study with one seed."""
    study, measures = plan.study, [name for name in MEASURES_OF_SEEDS if name in plan.parameters]
    own = {(score.node.id, score.role): score for score in scores}
    found = []
    for relation in built.queries if study.seeds else ():
        prompts = {study.seed: {"queries": built.queries[relation], "contexts": built.contexts[relation]}}
        for seed in study.further_seeds:
            node = prompts_of(graph, plan, fetched, relation, seed)
            prompts[seed] = {"queries": node.output("queries"), "contexts": node.output("contexts")}
        for variant in plan.variants:
            model = variant.model
            of_seeds = {
                study.seed: {
                    role: score
                    for (identity, role), score in own.items()
                    if (identity.subject, identity.model, identity.dtype) == (relation, model.name, model.dtype)
                }
            }
            for seed in study.further_seeds:
                of_seed = plan.further_seeds[seed]
                same = of_seed.variants[variant.place]
                scored = passes_of(graph, of_seed, same, relation, prompts[seed], part_of(seed))
                of_seeds[seed] = {score.role: score for score in scored}
            found.append(_compared(graph, measures, variant, relation, prompts, of_seeds))
    return found


def _compared(
    graph: Graph,
    measures: list[str],
    variant: Variant,
    relation: str,
    prompts: Mapping[int, Mapping[str, Reference]],
    scores: Mapping[int, Mapping[str, Reference]],
) -> Reference:
    """The step that compares the samples of a relation under a model; prompts, scores: by seed."""
    inputs = {
        f"{role} {seed}": reference
        for seed, of_seed in prompts.items()
        for role, reference in {**of_seed, **{name: scores[seed][name] for name in measures}}.items()
    }
    model = variant.model
    outputs = {"reliability": Output(RELIABILITY, ("reliability", relation, model.name), "reliability")}
    return graph.add(
        KIND, KIND.id(relation, model=model.name, dtype=model.dtype), outputs, inputs=inputs,
        parameters={"model": model.name, "dtype": variant.dtype, "seeds": [*prompts], "measures": measures},
        arguments=(tuple(measures), tuple(prompts)),
    ).output("reliability")  # fmt: skip
