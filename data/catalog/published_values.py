"""published.csv: values that the papers report, each with its source, to stand beside a study's own."""

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from data.catalog.language_models import models
from data.catalog.reading import ENTRY, Text, rows
from data.errors import UnknownName
from data.records import Partition

FILE = "published.csv"


def _known(alias: str) -> str:
    if alias not in models():
        raise ValueError("the model is not in models.yaml")
    return alias


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class PublishedValue:
    """A value of a paper's figure or table; model: an alias, None where the value is not said to be one model's."""

    item: Annotated[str, Field(pattern=r"^(du|liu|marjanovic)-[a-z0-9-]+$")]
    paper: Text
    model: Annotated[str, AfterValidator(_known)] | None = None
    query_type: Literal["open", "closed", "all"] | None = None
    partition: Partition | None = None
    quantity: Text
    value: float
    unit: Literal["share", "nats"] | None = None
    source: Text
    note: Text | None = None

    def is_of(self, model: str) -> bool:
        """Whether it is this model's, by its alias or its id at the hub."""
        return self.model is not None and model in (self.model, models()[self.model].hub)

    @property
    def words(self) -> str:
        """The value, rounded, as a label says it: a share in percent."""
        return f"{100 * self.value:.0f}%" if self.unit == "share" else f"{self.value:g}"


@cache
def published(item: str, quantity: str | None = None) -> tuple[PublishedValue, ...]:
    """The values of a paper's item, such as `du-fig-2`, or those of one quantity; raises UnknownName for others."""
    every = rows(FILE, PublishedValue)
    found = tuple(row for row in every if row.item == item)
    if not found:
        raise UnknownName("published item", item, sorted({row.item for row in every}))
    quantities = sorted({row.quantity for row in found})
    if quantity is not None and quantity not in quantities:
        raise UnknownName(f"published quantity of {item}", quantity, quantities)
    return tuple(row for row in found if quantity in (None, row.quantity))
