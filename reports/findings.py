"""What was found, in three sentences of numbers a model: susceptibility, relevance, answers. A null is a finding."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from reports.figures.effects import drawable, significant
from reports.figures.instances import instances, partitions
from reports.frames import Model, by_model, finite, is_null, is_true, numbers
from reports.style import QUERY_HUES

_SCORED = ("susceptibility_of_queries", "persuasion_by_kind", "answers_of_questions")


@dataclass(frozen=True)
class Found:
    """A model and the sentences on it."""

    model: str
    sentences: tuple[str, ...]


def findings(frames: Mapping[str, pd.DataFrame]) -> list[Found]:
    """Three sentences per model and dtype; one that says so where a thing was not measured."""
    of = {name: dict(by_model(frames[name])) for name in (*_SCORED, "statistics")}
    models = sorted({model for name in _SCORED for model in of[name]})
    return [
        Found(str(model), (_familiarity(of, model), _relevance(of, model), _answers(of, model))) for model in models
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


def _mean(rows: pd.DataFrame, column: str) -> str:
    """The mean of the relations' means, so that a relation with many queries does not weigh more."""
    if rows.empty:
        return "nothing measured"
    weights = rows["contexts"] if column == "persuasion" else pd.Series(1.0, index=rows.index)
    sums = (
        pd.DataFrame({"relation": rows["relation"], "sum": rows[column] * weights, "of": weights})
        .groupby("relation")
        .sum()
    )
    return f"{(sums['sum'] / sums['of']).mean():.3f} nats"


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
    return f"{number} {thing}{'' if number == 1 else 's'}"
