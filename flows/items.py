"""What of a study is selected, and its cells: a model, a relation and a family of measures."""

from dataclasses import dataclass

from data.measures import MEASURES
from flows.study.study import ModelPart


@dataclass(frozen=True)
class Selection:
    """Only these relations, models and measures; all of them where nothing is named."""

    relations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One cell of a study: a model, a relation and a family of measures."""

    model: ModelPart
    relation: str
    family: str
    measures: tuple[str, ...]

    @property
    def name(self) -> str:
        """What its Prefect task run is called."""
        return f"{self.model.name}/{self.model.dtype} x {self.relation} x {self.family}"

    @property
    def inputs(self) -> str:
        """What its measures are about: one of `data.registry.INPUTS`."""
        return MEASURES[self.measures[0]].inputs

    @property
    def needs(self) -> tuple[str, ...]:
        """The measures of other families from whose scores it is computed; a model is asked where there are none."""
        needs = dict.fromkeys(need for name in self.measures for need in MEASURES[name].needs)
        return tuple(name for name in needs if MEASURES[name].family != self.family)
