"""The section `services`: how public services are treated."""

import os
from dataclasses import replace
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from swaymeter.data.options import Options, refused, unknown_key
from swaymeter.data.sources.http.services import SERVICES, Service


class ServiceOptions(Options):
    """A mirror's address, or other limits than the default ones of a service (docs/facts.md, docs/questions.md)."""

    address: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Where the service is, an address that begins with https:// or http://."""
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000)
    """The most requests that are sent in a minute."""
    max_concurrency: int | None = Field(default=None, ge=1, le=100)
    """The most requests that are in flight at the same time."""
    cache_ttl_days: float | None = Field(default=None, ge=0, le=36_500)
    """How old a cached response may be, in days."""
    timeout_s: float | None = Field(default=None, gt=0, le=3600)
    """For how many seconds the service may be silent; a whole response may take twice as long."""
    max_requests: int | None = Field(default=None, ge=1)
    """The most requests of one run."""
    max_minutes: float | None = Field(default=None, gt=0)
    """The most minutes of one run."""


class ServicesPart(Options):
    """Who asks public services, where their responses are cached, and options of each service by its key."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ServiceOptions] = Field(init=False)

    contact: str | None = None
    """An e-mail address or a page of whoever runs the study; null: the environment variable SWAYMETER_CONTACT."""
    cache: str | None = None
    """The folder of cached responses; null: one in the workspace."""

    @model_validator(mode="before")
    @classmethod
    def _known_services(cls, content: Any) -> Any:
        known = {*cls.model_fields, *SERVICES}
        if isinstance(content, dict) and (unknown := [str(key) for key in content if key not in known]):
            raise refused(unknown_key(key, known) for key in unknown)
        return content

    @property
    def asked_by(self) -> str | None:
        """The contact: the study's, or that of whoever runs it."""
        return self.contact or os.environ.get("SWAYMETER_CONTACT")

    def by_name(self) -> dict[str, Service]:
        """Every service as the study wants it."""
        changes = {name: options.model_dump(exclude_none=True) for name, options in self.__pydantic_extra__.items()}
        return {name: replace(service, **changes.get(name, {})) for name, service in SERVICES.items()}
