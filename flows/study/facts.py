"""The parts of a study file that say which facts are asked about, and how the services that know them are treated."""

import os
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from data import catalog
from data.sources.graph import yago
from data.sources.http.limits import Service
from data.sources.http.services import SERVICES
from tasks.contexts.entities import Choice


class Part(BaseModel):
    """A part of a study file: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FactsPart(Part):
    """Which facts: their source, the relations, and how many real and invented entities of each.

    source: the bundled sample, or YAGO: its endpoint or any other SPARQL endpoint (`services.yago.address`), or dump
    files in place of an endpoint. pairs: how many pairs of subject and object are drawn of each relation.
    choice: real entities at random, or those of the highest degree. invented: their names come from the catalog's
    lists, a generator of names, or a language model. names_not_in: where invented names must not occur; by default in
    the source, and in Wikidata where the source is the public YAGO. cited, licence: what every fact says of its source
    and terms, where the endpoint or the dump is not YAGO itself.
    """

    source: Literal["sample", "yago"] = "sample"
    dump: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    pairs: int = Field(default=200, ge=2, le=1_000_000)
    real_entities: int = Field(default=4, ge=0, le=100_000)
    invented_entities: int = Field(default=4, ge=0, le=100_000)
    choice: Choice = "random"
    invented: Literal["catalog", "names", "model"] = "catalog"
    invented_model: str | None = None
    names_not_in: tuple[Literal["yago", "wikidata"], ...] | None = None
    cited: str = Field(default=yago.SOURCE, min_length=1)
    licence: str = Field(default=yago.LICENCE, min_length=1)

    @field_validator("relations", mode="before")
    @classmethod
    def _known(cls, names: Any, others: ValidationInfo) -> Any:
        if names == "all":
            if others.data.get("source") == "yago":
                return catalog.relations_of_yago()
            return tuple(name for name in catalog.relations() if catalog.facts(name))
        if not isinstance(names, list | tuple):
            raise ValueError("expected a list of relations, or `all`")
        return tuple(catalog.relation(str(name)).name for name in names)

    @model_validator(mode="after")
    def _possible(self) -> "FactsPart":
        if len(set(self.relations)) < len(self.relations):
            raise ValueError("a relation is named twice")
        if self.relations and self.real_entities + self.invented_entities == 0:
            raise ValueError("real_entities and invented_entities are both 0: there is nobody to ask about")
        if self.source == "sample":
            if self.dump:
                raise ValueError("`dump` is for source yago")
            if self.model_fields_set & {"cited", "licence"}:
                raise ValueError("`cited` and `licence` are for source yago: the bundled facts say their own")
            if self.choice == "degree":
                raise ValueError("choice degree needs a graph: use source yago")
        if self.source == "yago":
            for name in self.relations:
                if not catalog.relation(name).yago:
                    raise ValueError(f"relation {name} is none of YAGO's; leave it out or use source sample")
            if self.pairs < self.real_entities:
                raise ValueError(f"pairs is {self.pairs}, fewer than the {self.real_entities} real_entities")
        if (self.invented == "model") != (self.invented_model is not None):
            raise ValueError("`invented: model` and `invented_model`, the model that makes up names, go together")
        return self


class ServicePart(Part):
    """A public service in other words than the default ones: a mirror's address, other limits (see `Service`)."""

    address: str | None = Field(default=None, pattern=r"^https?://\S+$")
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000)
    cache_ttl_days: float | None = Field(default=None, ge=0, le=36_500)
    timeout_s: float | None = Field(default=None, gt=0, le=3600)
    max_requests: int | None = Field(default=None, ge=1)
    max_minutes: float | None = Field(default=None, gt=0)


class ServicesPart(Part):
    """Who asks public services (an e-mail address or a page), where responses are cached, and each service.

    wikidata: its Query Service; wikidata_api: its items and their edits.
    """

    contact: str | None = None
    cache: str | None = None
    yago: ServicePart = ServicePart()
    wikidata: ServicePart = ServicePart()
    wikidata_api: ServicePart = ServicePart()
    wikipedia: ServicePart = ServicePart()
    pageviews: ServicePart = ServicePart()
    wembedder: ServicePart = ServicePart()
    dynamicqa: ServicePart = ServicePart()

    @property
    def asked_by(self) -> str | None:
        """The contact: the study's, or that of whoever runs it."""
        return self.contact or os.environ.get("SWAYMETER_CONTACT")

    def service(self, name: str) -> Service:
        """A service as the study wants it: the defaults with what it says otherwise."""
        said: ServicePart = getattr(self, name)
        return replace(SERVICES[name], **said.model_dump(exclude_none=True))
