"""Passes: measures that are computed together, and what the keys of their scores depend on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure


@dataclass(frozen=True)
class Pass:
    """Measures that are computed together.

    Attributes:
        leading: the measure whose functions compute the pass.
        measures: names of the measures, the leading one first.
        needs: the measures whose stored scores the pass reads.
    """

    leading: Measure
    measures: tuple[str, ...]
    needs: tuple[str, ...]


def passes(missing: Collection[str]) -> list[Pass]:
    """Return the passes that yield the missing measures, in an order in which none needs a later one."""
    listed = [measure for measure in MEASURES.values() if measure.name in missing]
    result = []
    for measure in listed:
        if measure.pass_of in missing:
            continue
        members = [measure, *(other for other in listed if other.pass_of == measure.name)]
        names = tuple(member.name for member in members)
        needs = dict.fromkeys(need for member in members for need in member.needs if need not in names)
        result.append(Pass(measure, names, tuple(needs)))
    return result


def declaration(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a measure's numbers beside prompts, model and seed: a part of the key of scores.

    The declaration is the same for a measure that is computed in a pass with others and for one that reads their stored
    scores.

    Args:
        name: the measure.
        parameters: parameters of the measure and of those that it needs, by name.
    """
    measure = MEASURES[name]
    return {
        "measure": name,
        "version": measure.version,
        "parameters": parameters[name].model_dump(mode="json"),
        "depends_on": dict(measure.depends_on(parameters[name])),
        "needs": [declaration(need, parameters) for need in measure.needs],
    }
