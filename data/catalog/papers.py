"""papers.yaml: the papers whose measures these are, and their tables and figures, each by a key such as `du-fig-2`."""

from collections.abc import Mapping
from functools import cache
from typing import Self

from pydantic import model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, Text, Texts, entries


@dataclass(frozen=True, config=ENTRY)
class Paper:
    """A paper: how it is named in a caption, and what it takes to find and cite it."""

    key: str
    short: Text
    title: Text
    authors: Texts
    venue: Text
    url: Text


@dataclass(frozen=True, config=ENTRY)
class Item:
    """A table or figure of a paper, its setup, or a number of its text.

    shows: what is seen in it. differs: what is done otherwise here. lacks: why nothing here shows it.
    """

    key: str
    shows: Text
    differs: Text | None = None
    lacks: Text | None = None

    @model_validator(mode="after")
    def _of_a_paper(self) -> Self:
        if self.key.partition("-")[0] not in papers():
            raise ValueError(f"must begin with the key of a paper: {', '.join(papers())}")
        return self

    @property
    def paper(self) -> Paper:
        """The paper that it is in."""
        return papers()[self.key.partition("-")[0]]

    @property
    def label(self) -> str:
        """What the paper calls it: Fig. 2, Eq. 9, Table 1, Section 6.3, Appendix B."""
        kind, *numbers = self.key.split("-")[1:]
        words = {"fig": "Fig.", "eq": "Eq.", "app": "Appendix"}.get(kind, kind.capitalize())
        return " ".join([words, "-".join(numbers).upper()]).strip()

    @property
    def name(self) -> str:
        """It in a caption: Du et al. 2024, Fig. 2."""
        return f"{self.paper.short}, {self.label}"


@cache
def papers() -> Mapping[str, Paper]:
    """The papers, by key."""
    return entries("papers.yaml", "papers", Paper, "key")


@cache
def paper_items() -> Mapping[str, Item]:
    """What the papers show, by key, in their order."""
    return entries("papers.yaml", "items", Item, "key")
