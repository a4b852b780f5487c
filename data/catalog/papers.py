"""papers.yaml: the papers of the measures, and their tables and figures, each with a key such as `du-fig-2`.

published.csv: every number that the papers print, with its position in the paper. Reports compare these numbers with
the numbers of a study.
"""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.language_models import models
from swaymeter.data.catalog.reading import ENTRY, Text, Texts, entries, rows
from swaymeter.data.errors import UnknownName

FILE = "published.csv"


@dataclass(frozen=True, config=ENTRY)
class Paper:
    """A paper: its name in captions, and the data for finding and citing it."""

    key: str
    short: Text
    title: Text
    authors: Texts
    venue: Text
    url: Text


@dataclass(frozen=True, config=ENTRY)
class Item:
    """A part of a paper: a table, a figure, the setup, or a number in the text.

    Attributes:
        key: key of the item, such as `du-fig-2`.
        shows: content of the item.
        differs: how this project's version differs from the item; None without a difference.
        lacks: reason why this project has no version of the item; None if there is a version.
    """

    key: str
    shows: Text
    differs: Text | None = None
    lacks: Text | None = None

    @model_validator(mode="after")
    def _check_paper(self) -> Self:
        if self.key.partition("-")[0] not in papers():
            raise ValueError(f"the key must begin with the key of a paper: {', '.join(papers())}")
        return self

    @property
    def paper(self) -> Paper:
        """The paper of the item."""
        return papers()[self.key.partition("-")[0]]

    @property
    def label(self) -> str:
        """The name of the item in its paper: Fig. 2, Eq. 9, Table 1, Section 6.3, Appendix B."""
        kind, *numbers = self.key.split("-")[1:]
        kind_name = {"fig": "Fig.", "eq": "Eq.", "app": "Appendix"}.get(kind, kind.capitalize())
        return " ".join([kind_name, "-".join(numbers).upper()]).strip()

    @property
    def name(self) -> str:
        """The name of the item in a caption: Du et al. 2024, Fig. 2."""
        return f"{self.paper.short}, {self.label}"


@cache
def papers() -> Mapping[str, Paper]:
    """Return the papers, by key."""
    return entries("papers.yaml", "papers", Paper, "key")


@cache
def paper_items() -> Mapping[str, Item]:
    """Return the items of the papers, by key, in the order of the file."""
    return entries("papers.yaml", "items", Item, "key")


def _check_item(key: str) -> str:
    if key not in paper_items():
        raise ValueError("the item is not in papers.yaml")
    return key


def _check_model(alias: str) -> str:
    if alias not in models():
        raise ValueError("the model is not in models.yaml")
    return alias


def _values_by_column(cell: object) -> object:
    """Return {"query_type": "open", "level": "query"} for the cell "query_type=open; level=query"."""
    if not isinstance(cell, str):
        return cell
    pairs = [part.strip().partition("=") for part in cell.split(";")]
    columns = {column: value for column, _, value in pairs}
    if len(columns) < len(pairs) or not all(column and value for column, value in columns.items()):
        raise ValueError(
            "must be KEY=VALUE pairs with different keys, separated by semicolons, such as "
            '"query_type=open; level=query"'
        )
    return columns


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class PublishedValue:
    """A number of a paper, as printed.

    Attributes:
        item: the key of the item that has the number, such as `du-fig-2`.
        model: the alias of the model; None for a number of several models, or of a model that the paper does not name.
        quantity: the name of the quantity, such as persuasion.
        by: values by column that select the rows of the database for the comparison.
        sign: the sign before a bound or a round number; None for other numbers.
        offset: the amount by which the paper's value is larger than the same value by this project's definition.
        place: the position in the paper, such as Section 4.1.
        note: notes for a comparison, separated by semicolons.
    """

    item: Annotated[str, AfterValidator(_check_item)]
    model: Annotated[str, AfterValidator(_check_model)] | None = None
    quantity: Text
    by: Annotated[Mapping[str, str], BeforeValidator(_values_by_column)] = field(default_factory=dict)
    sign: Literal["<", ">", "≈"] | None = None
    value: Decimal
    offset: Decimal = Decimal(0)
    unit: Literal["share", "nats", "times", "hours", "minutes", "words", "bits", "GB", "GiB"] | None = None
    place: Text
    note: Text | None = None

    @property
    def source(self) -> str:
        """The paper and the position in it: Liu et al. 2024, Table 1."""
        return f"{paper_items()[self.item].paper.short}, {self.place}"

    @property
    def comparable_value(self) -> float:
        """The value by this project's definition of the quantity: the printed value minus the offset."""
        return float(self.value - self.offset)

    @property
    def text(self) -> str:
        """The comparable value with the printed digits: a share in percent, a bound with its sign."""
        value = self.value - self.offset
        digits = f"{value:e}" if 0 < abs(value) < Decimal("1e-4") else f"{value:,}"
        if self.unit == "share":
            digits = f"{value.scaleb(2)}%"
        unit = f" {self.unit}" if self.unit not in (None, "share", "nats") else ""
        return f"{self.sign} {digits}{unit}" if self.sign else f"{digits}{unit}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a comparison, each a part of a sentence."""
        about_offset = f"entropies are without the {self.offset} that the released code adds" if self.offset else ""
        return tuple(part for part in (*(self.note or "").split("; "), about_offset) if part)


@cache
def published(item: str, quantity: str | None = None) -> tuple[PublishedValue, ...]:
    """Return the published values of an item, such as `du-fig-2`, or of one of its quantities.

    Raises:
        UnknownName: no paper has the item, or the item lacks the quantity.
    """
    if item not in paper_items():
        raise UnknownName("item of a paper", item, paper_items())
    values = tuple(row for row in _values() if row.item == item)
    quantities = sorted({row.quantity for row in values})
    if quantity is not None and quantity not in quantities:
        raise UnknownName(f"published quantity of {item}", quantity, quantities)
    return tuple(row for row in values if quantity in (None, row.quantity))


@cache
def _values() -> tuple[PublishedValue, ...]:
    return rows(FILE, PublishedValue)
