"""The section `contexts`: how many contexts are written, in which sentences, and which a query is asked with."""

from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.options import NamedPath, Options
from swaymeter.data.records import ContextKind
from swaymeter.tasks.measures.measure import PerQuery


class PerQueryPart(Options):
    """The sample of contexts that stands before a query, in place of every context of its relation."""

    contexts: int = Field(ge=2, le=100_000)
    """Contexts of a query, its relevant ones among them."""
    relevant: int = Field(ge=0, le=100_000)
    """Contexts that mention the query's entity."""

    @model_validator(mode="after")
    def _among_them(self) -> "PerQueryPart":
        if self.relevant > self.contexts:
            raise ValueError(f"relevant is {self.relevant}, more than the {self.contexts} contexts; ask for fewer")
        return self


class ContextsPart(Options):
    """How many contexts of each kind are written about each entity; the published study has two of each."""

    base: int = Field(default=2, ge=0, le=1000)
    """Contexts that state an answer: "The capital of Norway is Lima."."""
    assertive: int = Field(default=2, ge=0, le=1000)
    """Contexts that insist on it: "Without any doubt, the capital of Norway is Lima."."""
    negation: int = Field(default=2, ge=0, le=1000)
    """Contexts that deny it: "The capital of Norway is not Lima."."""

    templates: Literal["varied", "published-form"] = "varied"
    """The sentences: varied, drawn from two of each kind with several lead-ins; published-form, one of each kind, as in
    the published study: the sentence that an answer completes, one lead-in before it, and its negation."""
    file: NamedPath | None = None
    """A file of own contexts, which take the place of the written ones in its relations (docs/own-facts.md)."""
    per_query: PerQueryPart | None = None
    """How many contexts stand before a query, drawn for each one anew; null: every context of its relation."""

    @property
    def sample(self) -> PerQuery | None:
        """The sample of contexts that a query is asked with; None where it is asked with every one."""
        return PerQuery(self.per_query.contexts, self.per_query.relevant) if self.per_query else None

    def per_kind(self) -> dict[ContextKind, int]:
        """Contexts of each entity, by kind."""
        return {"base": self.base, "assertive": self.assertive, "negation": self.negation}

    def worded(self, relation: Relation) -> Relation:
        """The relation with the sentences that the study wants."""
        if self.templates == "varied":
            return relation
        return replace(relation, contexts=catalog.published_form(relation))

    @model_validator(mode="after")
    def _some(self) -> "ContextsPart":
        if self.base + self.assertive + self.negation == 0:
            raise ValueError("base, assertive and negation are all 0; persuasion needs contexts")
        return self
