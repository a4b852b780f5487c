"""What was found, in sentences of numbers a model. A null is a finding.

Three are said of every model: susceptibility, relevance, answers. Memorization, answer sets and Fisher susceptibility
have one each where they were measured; a model in a reduced number format has one on what that costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from reports.figures.agreement import correlation
from reports.figures.answer_set import masses
from reports.figures.effects import drawable, significant
from reports.figures.fisher import UNIT as FISHER_UNIT
from reports.figures.fisher import measured
from reports.figures.instances import instances, partitions
from reports.figures.precision import SCORES, cost
from reports.frames import Model, by_model, finite, is_null, is_true, numbers
from reports.style import QUERY_HUES

_NEXT_TOKEN = (
    "susceptibility_of_queries",
    "persuasion_by_kind",
    "memorization_of_queries",
    "answer_set_of_queries",
    "fisher_of_queries",
)
_SCORED = (*_NEXT_TOKEN, "answers_of_questions")


@dataclass(frozen=True)
class Found:
    """A model and the sentences on it."""

    model: str
    sentences: tuple[str, ...]


def findings(frames: Mapping[str, pd.DataFrame]) -> list[Found]:
    """Sentences per model and dtype; one that says so where susceptibility, persuasion or answers were not measured."""
    named = (*_SCORED, "followed", "agreement", "precision_of_queries", "statistics")
    of = {name: dict(by_model(frames[name])) for name in named}
    models = sorted({model for name in _SCORED for model in of[name]})
    always, where_measured = (_familiarity, _relevance, _answers), (_memorization, _answer_sets, _fisher, _precision)
    return [
        Found(
            str(model),
            (*(say(of, model) for say in always), *(said for say in where_measured if (said := say(of, model)))),
        )
        for model in models
    ]


_Of = dict[str, dict[Model, pd.DataFrame]]


def _familiarity(of: _Of, model: Model) -> str:
    rows = of["susceptibility_of_queries"].get(model)
    kept = finite(rows, "susceptibility").rows if rows is not None else None
    if kept is None or kept.empty:
        return "Susceptibility was not measured."
    said = []
    for kind in QUERY_HUES:
        part = kept[kept["query_type"] == kind]
        if part.empty:
            continue
        real = part[~is_true(part["invented"])]
        invented = part[is_true(part["invented"])]
        said.append(
            f"{kind} queries {_mean(invented, 'susceptibility')} for invented entities against "
            f"{_mean(real, 'susceptibility')} for real ones ({_tests(of, model, 'familiarity', kind)})"
        )
    return f"Mean susceptibility over {_count(kept['relation'].nunique(), 'relation')}: {'; '.join(said)}."


def _relevance(of: _Of, model: Model) -> str:
    rows = of["persuasion_by_kind"].get(model)
    kept = finite(rows, "persuasion").rows if rows is not None else None
    if kept is None or kept.empty:
        return "Persuasion was not measured."
    said = []
    for kind in QUERY_HUES:
        part = kept[kept["query_type"] == kind]
        if part.empty:
            continue
        about = is_true(part["relevant"])
        said.append(
            f"{kind} queries by {_mean(part[about], 'persuasion')} against {_mean(part[~about], 'persuasion')} "
            f"({_tests(of, model, 'relevance', kind)})"
        )
    return f"Contexts that mention the entity, against those that do not, moved {'; '.join(said)}."


def _answers(of: _Of, model: Model) -> str:
    answers = of["answers_of_questions"].get(model)
    rows = instances(answers) if answers is not None else None
    if rows is None or rows.empty:
        return "Answers to questions were not sampled."
    condition = "counter_memory" if (rows["condition"] == "counter_memory").any() else "original"
    rows = rows[rows["condition"] == condition]
    said = []
    for partition in partitions(rows):
        part = rows[rows["partition"] == partition]
        moved = finite(part, "coherent_persuasion").rows["coherent_persuasion"]
        nats = f"{moved.mean():.2f} nats" if len(moved) else "no finite score"
        said.append(
            f"{_share(part, 'persuaded')} of {len(part)} {partition} questions ({_share(part, 'stubborn')} "
            f"stubborn, mean coherent persuasion {nats})"
        )
    context = "A counter-memory context" if condition == "counter_memory" else "The original context"
    return f"{context} persuaded the model in {'; '.join(said)}."


def _memorization(of: _Of, model: Model) -> str:
    rows = of["memorization_of_queries"].get(model)
    if rows is None:
        return ""
    shares = _followed(of, model)
    said = []
    for kind in QUERY_HUES:
        part = rows[rows["query_type"] == kind]
        ratios = finite(part, "memorization_ratio").rows["memorization_ratio"]
        mean = f"{ratios.mean():.2f}" if len(ratios) else "undefined"
        if len(part):
            said.append(f"{mean} over {len(ratios)} of {_count(len(part), f'{kind} query')}{shares.get(kind, '')}")
    return f"Mean memorization ratio: {'; '.join(said)}."


def _followed(of: _Of, model: Model) -> dict[str, str]:
    """What greedy answers followed, over all contexts before the queries of a type."""
    rows = of["followed"].get(model)
    if rows is None:
        return {}
    counts = rows.assign(answers=numbers(rows["answers"])).groupby(["query_type", "follows"])["answers"].sum()
    made = {}
    for kind, part in counts.groupby(level=0):
        context, original = (100 * part.get((kind, name), 0.0) / part.sum() for name in ("context", "original"))
        made[str(kind)] = f" (greedy answers: {context:.0f}% the context's, {original:.0f}% the original)"
    return made


def _answer_sets(of: _Of, model: Model) -> str:
    rows = of["answer_set_of_queries"].get(model)
    kept = finite(rows, "answer_set_susceptibility", "mass").rows if rows is not None else None
    if kept is None or kept.empty:
        return ""
    measure = "answer_set_susceptibility"
    said = [
        f"{kind} queries {_mean(part, measure)}{_agreement(of, model, measure, kind)}"
        for kind in QUERY_HUES
        if not (part := kept[kept["query_type"] == kind]).empty
    ]
    return (
        f"Mean susceptibility over whole answers, whose sets have a mean probability of {masses(kept)}: "
        f"{'; '.join(said)}."
    )


def _fisher(of: _Of, model: Model) -> str:
    rows = of["fisher_of_queries"].get(model)
    measure = measured(rows) if rows is not None else ""
    kept = finite(rows, measure).rows if rows is not None else None
    if kept is None or kept.empty:
        return ""
    over = "over the full vocabulary" if measure == "fisher" else "over the top answers"
    said = [
        f"{kind} queries {_fisher_mean(part, measure)}{_agreement(of, model, measure, kind)}"
        for kind in QUERY_HUES
        if not (part := kept[kept["query_type"] == kind]).empty
    ]
    return f"Mean Fisher susceptibility {over}, in {FISHER_UNIT}: {'; '.join(said)}."


def _precision(of: _Of, model: Model) -> str:
    if not model.reduced or not any(model in of[name] for name in _NEXT_TOKEN):
        return ""
    rows = of["precision_of_queries"].get(model)
    kept = finite(rows, *SCORES).rows if rows is not None else None
    if kept is None or kept.empty:
        return (
            f"What {model.dtype} costs against float32 was not measured: `precision: {{}}` under `measures` in the "
            "study measures it."
        )
    return f"What the number format costs: {cost(kept).words(model.dtype)}."


def _agreement(of: _Of, model: Model, measure: str, kind: str) -> str:
    rows = of["agreement"].get(model)
    if rows is None:
        return ""
    said = correlation(rows[rows["measure_a"] == measure], "query", kind)
    return f" (with susceptibility: {said})" if said else ""


def _fisher_mean(rows: pd.DataFrame, measure: str) -> str:
    mean = _mean_of_relations(rows, measure)
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}"


def _mean(rows: pd.DataFrame, column: str) -> str:
    return f"{_mean_of_relations(rows, column):.3f} nats" if len(rows) else "nothing measured"


def _mean_of_relations(rows: pd.DataFrame, column: str) -> float:
    """The mean of the relations' means, so that a relation with many queries does not weigh more."""
    weights = rows["contexts"] if column == "persuasion" else pd.Series(1.0, index=rows.index)
    sums = (
        pd.DataFrame({"relation": rows["relation"], "sum": rows[column] * weights, "of": weights})
        .groupby("relation")
        .sum()
    )
    return float((sums["sum"] / sums["of"]).mean())


def _tests(of: _Of, model: Model, comparison: str, kind: str) -> str:
    rows = of["statistics"].get(model)
    part = rows[(rows["comparison"] == comparison) & (rows["query_type"] == kind)] if rows is not None else None
    if part is None or part.empty:
        return "not tested"
    tested = int(is_null(part["untestable"]).sum())
    if not tested:
        return f"untestable in all {_count(len(part), 'relation')}"
    hits = int(significant(part).sum())
    effects = numbers(part.loc[drawable(part), "effect_size"])
    mean = f", mean d {effects.mean():.2f}" if len(effects) else ""
    untestable = f", {len(part) - tested} untestable" if tested < len(part) else ""
    return f"significant in {hits or 'none'} of {_count(tested, 'relation')}{mean}{untestable}"


def _share(rows: pd.DataFrame, outcome: str) -> str:
    measured = rows[rows["outcome"] != "unmeasured"]
    return f"{100 * float((measured['outcome'] == outcome).mean()):.0f}%" if len(measured) else "an unmeasured share"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing if number == 1 else f'{thing[:-1]}ies' if thing.endswith('y') else f'{thing}s'}"
