"""Which measures are computed together, in which order, and what their numbers depend on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure


@dataclass(frozen=True)
class Pass:
    """Measures that the leading one computes, by name and itself first; needs: those whose stored scores it reads."""

    leading: Measure
    measures: tuple[str, ...]
    needs: tuple[str, ...]


def passes(missing: Collection[str]) -> list[Pass]:
    """The passes that yield the measures that are not stored, in an order in which none waits for a later one."""
    listed = [measure for measure in MEASURES.values() if measure.name in missing]
    result = []
    for measure in listed:
        if measure.pass_of in missing:
            continue
        together = [measure, *(other for other in listed if other.pass_of == measure.name)]
        names = tuple(member.name for member in together)
        needs = dict.fromkeys(need for member in together for need in member.needs if need not in names)
        result.append(Pass(measure, names, tuple(needs)))
    return result


def declaration(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a measure's numbers depend on beside its prompts, its model and the seed: a part of the scores' key.

    It is the same whether the measure is computed in a pass with others or from their stored scores. parameters: of it
    and of the measures that it needs, by name.
    """
    measure = MEASURES[name]
    return {
        "measure": name,
        "version": measure.version,
        "parameters": parameters[name].model_dump(mode="json"),
        "depends_on": dict(measure.depends_on(parameters[name])),
        "needs": [declaration(need, parameters) for need in measure.needs],
    }
