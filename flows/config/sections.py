"""Sections of a study file with their keys and defaults."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.catalog.language_models import ChatTemplate
from swaymeter.data.errors import UnknownName
from swaymeter.data.named import Registry
from swaymeter.data.options import (
    ModelName,
    NamedPath,
    Options,
    Problem,
    beside_the_study,
    folder_beside_the_study,
    problems,
    unknown_key,
    validation_error,
)
from swaymeter.data.records import ContextKind
from swaymeter.data.sources.http.services import SERVICES, Service
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions, QuestionsOptions
from swaymeter.flows.config.places import RunnerName
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure, PerQuery
from swaymeter.tasks.models.applications import FUNCTION
from swaymeter.tasks.models.endpoints.endpoint import KEY_FROM, Endpoint


class PerQueryPart(Options):
    """A sample of contexts for each query, in place of all contexts of its relation."""

    contexts: int = Field(ge=2, le=100_000)
    """Number of contexts of a query, including the relevant contexts."""
    relevant: int = Field(ge=0, le=100_000)
    """Number of relevant contexts, which mention the query's entity."""

    @model_validator(mode="after")
    def _enough_contexts(self) -> "PerQueryPart":
        if self.relevant > self.contexts:
            raise ValueError(f"relevant is {self.relevant}, more than the {self.contexts} contexts; lower `relevant`")
        return self


class ContextsPart(Options):
    """Number of contexts about each entity, by context type (Du et al. 2024: two of each type), and their wording."""

    base: int = Field(default=2, ge=0, le=1000)
    """Contexts that state an answer: "The capital of Norway is Lima."."""
    assertive: int = Field(default=2, ge=0, le=1000)
    """Contexts that insist on an answer: "Without any doubt, the capital of Norway is Lima."."""
    negation: int = Field(default=2, ge=0, le=1000)
    """Contexts that deny an answer: "The capital of Norway is not Lima."."""

    templates: Literal["varied", "published-form"] = "varied"
    """Wording of the contexts. varied: each type has two sentence templates and several lead-ins. published-form: each
    type has one sentence template, as in Du et al. 2024. In this form, base ends with an answer, assertive is base
    after a lead-in, and negation denies base."""
    file: NamedPath | None = None
    """A file of contexts, which replaces the generated contexts of its relations (docs/own-data.md)."""
    per_query: PerQueryPart | None = None
    """A sample of contexts for each query; null: every context of the query's relation."""

    @property
    def sample(self) -> PerQuery | None:
        """Sample of contexts for each query; None for all contexts."""
        return PerQuery(self.per_query.contexts, self.per_query.relevant) if self.per_query else None

    def per_kind(self) -> dict[ContextKind, int]:
        """Return the number of contexts of each entity, by context type."""
        return {"base": self.base, "assertive": self.assertive, "negation": self.negation}

    def with_study_templates(self, relation: Relation) -> Relation:
        """Return the relation with the context templates of the study."""
        if self.templates == "varied":
            return relation
        return replace(relation, contexts=catalog.published_form(relation))

    @model_validator(mode="after")
    def _not_empty(self) -> "ContextsPart":
        if self.base + self.assertive + self.negation == 0:
            raise ValueError(
                "base, assertive and negation are all 0, but persuasion needs contexts; set one of these keys to 1 or "
                "more"
            )
        return self


class ExecutionPart(Options):
    """Workers of the scoring tasks; all other tasks run in the process of the study. No score depends on this section.
    `--runner` on the command line replaces `runner`."""

    runner: RunnerName = "threads"
    """threads: one task at a time, in the process of the study. processes: worker processes on this machine, one for
    each GPU. dask: workers of a Dask cluster. `processes` and `dask` need the extra `dask`."""
    workers: int | None = Field(default=None, ge=1, le=1000)
    """Number of worker processes that the run starts; null: one for each GPU, or two without a GPU."""
    address: str | None = Field(default=None, pattern=r"^(tcp|tls|ucx|ws|wss)://\S+$")
    """Address of a Dask scheduler, such as tcp://10.0.0.1:8786; null: the environment variable DASK_SCHEDULER_ADDRESS,
    else a cluster on this machine that ends with the run."""


def _validated_measures(measures: Any, info: ValidationInfo) -> dict[str, dict[str, Any]]:
    if isinstance(measures, list) and all(isinstance(name, str) for name in measures):
        measures = dict.fromkeys(measures)
    if not isinstance(measures, dict):
        raise ValueError("expected measures with their parameters, such as `persuasion: {}`")
    if not measures:
        raise ValueError("may not be empty; name at least 1 measure")
    validated, measure_problems = {}, list[Problem]()
    for name, content in measures.items():
        try:
            validated[str(name)] = _validated_parameters(str(name), content, info)
        except ValidationError as error:
            measure_problems += [
                problem._replace(path_of_key=(str(name), *problem.path_of_key)) for problem in problems(error)
            ]
    if measure_problems:
        raise validation_error(measure_problems)
    return validated


def _validated_parameters(name: str, content: Any, info: ValidationInfo) -> dict[str, Any]:
    try:
        measure = MEASURES[name]
    except UnknownName as error:
        raise validation_error([Problem((), str(error))]) from None
    content = {} if content is None else content
    try:
        return dict(measure.parameters.model_validate(content, context=info.context).model_dump())
    except ValidationError as error:
        raise validation_error(
            problem._replace(message=f"is a parameter of {owners}; write it there")
            if problem.is_unknown and (owners := _owners(str(problem.path_of_key[0]), measure))
            else problem
            for problem in problems(error, measure.parameters)
        ) from None


def _owners(key: str, measure: Measure) -> str:
    """Return the names of the measures that `measure` needs and that have a parameter `key`."""
    return ", ".join(need for need in measure.needs if key in MEASURES[need].parameters.model_fields)


Measures = Annotated[dict[str, dict[str, Any]], BeforeValidator(_validated_measures)]
"""All parameters of each measure, with defaults, by name of the measure."""


DecodingName = Literal["greedy", "cad", "adacad", "coiecd"]


def _decodings(content: Any) -> Any:
    if isinstance(content, list | tuple) and all(isinstance(name, str) for name in content):
        if len(set(content)) < len(content):
            raise ValueError("a decoding is named twice; name each decoding once")
        content = dict.fromkeys(content)
    if not isinstance(content, dict):
        raise ValueError("expected names of decodings, such as [greedy, cad], or `cad: {weight: 0.5}`")
    if not content:
        raise ValueError("may not be empty; name at least 1 decoding, or leave `decodings` out")
    return {name: {} if parameters is None else parameters for name, parameters in content.items()}


Decodings = Annotated[dict[DecodingName, dict[str, float]], BeforeValidator(_decodings)]
"""Several decodings, each with its parameters."""


class ModelPart(Options):
    """A language model on this machine, at an endpoint (docs/endpoints.md), or an application (docs/application.md)."""

    name: str = Field(min_length=1)
    """An alias of the catalog, a hub id or a folder; with `endpoint`, the name of the model in all tables."""
    dtype: Literal["auto", "float32", "bfloat16", "float16", "8bit", "4bit"] = "auto"
    """The dtype of the weights; auto: bfloat16 on a GPU, float32 on a CPU."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|balanced)$")
    """Device of the model: auto, cpu, cuda, cuda:1, or balanced over all GPUs."""
    batch_size: int | None = Field(default=None, ge=1, le=100_000)
    """Prompts of one batch of sampled replies; null: as many as fit the memory."""
    chat_template: ChatTemplate | None = None
    """Use of the chat template by this model; null: `prompt.chat_template`."""
    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)] | None = None
    """Text that people read in place of the name, on the page and in `status`: a line of at most 60 characters. Scores
    do not depend on it."""

    endpoint: str | None = Field(default=None, pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?(\?[^\s#]*)?$")
    """Address of a model server, such as http://127.0.0.1:8000/v1, perhaps with a query such as ?api-version=1. null:
    the model runs on this machine."""
    api: Literal["auto", "openai", "vllm", "llama.cpp"] = "auto"
    """API of the server; auto: the API that the server reports, else openai."""
    served_as: str = ""
    """Name of the model at the server; empty: `name`."""
    revision: str = ""
    """Version of the server's weights, in your own words; another revision means new scores."""
    max_age_hours: float | None = Field(default=None, ge=0, le=876_000)
    """Maximal age in hours of a stored reply; null: any age."""
    key_from: str = Field(default="", pattern=KEY_FROM)
    """Environment variable with the server's key; for a header other than Authorization, `HEADER: VARIABLE`, such as
    `api-key: AZURE_KEY`. No file contains the key itself."""
    tokenizer: ModelName = ""
    """Model whose tokenizer and chat template write the prompts: an alias, hub id or folder. The server then receives
    tokens. Empty: the server receives messages and applies its own template."""
    requests_in_flight: int = Field(default=32, ge=1, le=1000)
    """Upper bound on concurrent requests; the client finds the best number up to this bound."""
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000)
    """Upper bound on requests in a minute; null: no limit."""
    timeout_s: float = Field(default=600, gt=0, le=36_000)
    """Seconds without data after which a request fails; for a function, seconds after which a call fails."""
    max_requests: int | None = Field(default=None, ge=1)
    """Upper bound on requests of one run; a run that needs more stops with a message. null: no limit."""

    replies: str | None = Field(default=None, min_length=1)
    """Column of the question file with recorded replies of this model (docs/application.md)."""
    function: str | None = Field(default=None, pattern=f"^{FUNCTION.pattern}$")
    """A Python function that replies: FILE.py:FUNCTION or MODULE:FUNCTION (docs/application.md)."""
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    """Concurrent calls of the function; null: 1, or 8 for an async function."""

    _source: str = PrivateAttr("")
    _is_in_workspace: bool = PrivateAttr(False)

    @model_validator(mode="after")
    def _set_source(self, info: ValidationInfo) -> "ModelPart":
        if self.is_local and self.name not in catalog.models():
            self._source = folder_beside_the_study(self.name, info)
        folder = (info.context or {}).get("folder")
        self._is_in_workspace = folder is not None and (Path(folder) / "workspace.json").exists()
        return self

    @property
    def is_local(self) -> bool:
        """True if the model's weights are on this machine: no endpoint, no function and no recorded replies."""
        return self.endpoint is None and not self.returns_only_text

    @property
    def returns_only_text(self) -> bool:
        """True for recorded replies and for a function: neither has distributions."""
        return bool(self.replies or self.function)

    @property
    def is_in_workspace(self) -> bool:
        """True if the study file is a workspace's copy; the functions of such a file are not imported."""
        return self._is_in_workspace

    @field_validator("function")
    @classmethod
    def _file_beside_the_study(cls, function: str | None, info: ValidationInfo) -> str | None:
        file, colon, name = (function or "").rpartition(":")
        return f"{beside_the_study(file, info)}{colon}{name}" if file.endswith(".py") else function

    @property
    def source(self) -> str:
        """Absolute path of the model's folder, or name of the model."""
        return self._source or self.name

    @field_validator("endpoint")
    @classmethod
    def _without_secret(cls, endpoint: str | None) -> str | None:
        if names := sorted(name for name, _ in parse_qsl(urlsplit(endpoint or "").query) if _SECRET.search(name)):
            raise ValueError(
                f"has a secret in the parameter {names[0]!r}; remove the parameter, and set `key_from` to the name of "
                "the environment variable with the secret"
            )
        return endpoint

    @field_validator("label")
    @classmethod
    def _printable_line(cls, label: str | None) -> str | None:
        if label is not None and not label.isprintable():
            raise ValueError("has a character that cannot be printed; remove this character")
        return label

    @property
    def served(self) -> Endpoint | None:
        """Endpoint of the model; None for a model without an endpoint."""
        if self.endpoint is None:
            return None
        return Endpoint(
            self.name,
            self.endpoint,
            self.api,
            self.served_as,
            self.key_from,
            self.tokenizer,
            self.requests_in_flight,
            self.requests_per_minute,
            self.timeout_s,
            self.max_requests,
            self.revision,
            self.max_age_hours,
        )

    @model_validator(mode="after")
    def _matching_keys(self) -> "ModelPart":
        fields = type(self).model_fields
        changed = {name for name in self.model_fields_set if getattr(self, name) != fields[name].default}
        kinds = [name for name in _KEYS_OF_KINDS if getattr(self, name)]
        if len(kinds) > 1:
            raise validation_error([Problem((kinds[1],), f"cannot be combined with {kinds[0]}; leave one out")])
        kind = kinds[0] if kinds else ""
        for key in sorted(changed - _KEYS_OF_ALL - _KEYS_OF_KINDS.get(kind, _KEYS_OF_WEIGHTS) - {kind}):
            if kind == "endpoint" and key in _KEYS_OF_WEIGHTS:
                problem = "is decided by the server; leave it out"
            elif kind:
                problem = f"is not for a model with `{kind}`; leave it out"
            else:
                owner = next(name for name, keys in _KEYS_OF_KINDS.items() if key in keys)
                problem = f"is for a model with the key `{owner}`; add that key, or leave this one out"
            raise validation_error([Problem((key,), problem)])
        return self

    @field_validator("device")
    @classmethod
    def _quantised_needs_gpu(cls, device: str, info: ValidationInfo) -> str:
        if device == "cpu" and info.data.get("dtype") in ("8bit", "4bit"):
            raise ValueError(f"dtype {info.data['dtype']} is for GPUs; use device cuda, or dtype bfloat16 on the cpu")
        return device


_SECRET = re.compile("key|token|secret|password|^(code|sig)$", re.IGNORECASE)
"""Names of an address's parameters that have secret values, such as `token` in ?token=abc."""
_KEYS_OF_ALL = frozenset({"name", "label"})
"""Keys that every model of a study file may have."""
_KEYS_OF_WEIGHTS = frozenset({"dtype", "device", "batch_size", "chat_template"})
"""Keys of models whose weights are on this machine."""
_KEYS_OF_KINDS: Mapping[str, frozenset[str]] = {
    "endpoint": frozenset(
        {
            "api",
            "served_as",
            "revision",
            "max_age_hours",
            "key_from",
            "tokenizer",
            "requests_in_flight",
            "requests_per_minute",
            "timeout_s",
            "max_requests",
            "chat_template",
        }
    ),
    "function": frozenset({"concurrency", "timeout_s"}),
    "replies": frozenset(),
}
"""Keys that may stand beside the key `endpoint`, `function` or `replies` of a model."""


class ServiceOptions(Options):
    """Address of a mirror and limits of a service (docs/facts.md, docs/questions.md)."""

    address: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of the service, which begins with https:// or http://."""
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000)
    """Upper bound on requests in a minute."""
    max_concurrency: int | None = Field(default=None, ge=1, le=100)
    """Upper bound on concurrent requests."""
    cache_ttl_days: float | None = Field(default=None, ge=0, le=36_500)
    """Maximal age of a cached response in days."""
    timeout_s: float | None = Field(default=None, gt=0, le=3600)
    """Seconds without data after which a request fails; a whole response may take twice as long."""
    max_requests: int | None = Field(default=None, ge=1)
    """Upper bound on requests of one run."""


class ServicesPart(Options):
    """Contact and cache for public services, and options of each service by its key."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ServiceOptions] = Field(init=False)

    contact: str | None = None
    """E-mail address or page of the person who runs the study; null: the environment variable SWAYMETER_CONTACT."""
    cache: NamedPath | None = None
    """Folder of cached responses; null: a folder in the workspace."""

    @model_validator(mode="before")
    @classmethod
    def _check_services(cls, content: Any) -> Any:
        keys = {*cls.model_fields, *SERVICES}
        if isinstance(content, dict) and (unknown := [str(key) for key in content if key not in keys]):
            raise validation_error(unknown_key(key, keys) for key in unknown)
        return content

    @property
    def requester(self) -> str | None:
        """Contact in the study, or else the value of SWAYMETER_CONTACT."""
        return self.contact or os.environ.get("SWAYMETER_CONTACT")

    def by_name(self) -> dict[str, Service]:
        """Return every service with the options of the study."""
        changes = {name: options.model_dump(exclude_none=True) for name, options in self.__pydantic_extra__.items()}
        return {name: replace(service, **changes.get(name, {})) for name, service in SERVICES.items()}


def _source_validator(sources: Registry[Any]) -> Callable[[Any, ValidationInfo], Any]:
    """Return a validator of a section such as `facts`; the source that the section names decides the valid keys."""

    def validate(content: Any, info: ValidationInfo) -> Any:
        if content is None or isinstance(content, Options):
            return content
        if not isinstance(content, dict):
            raise ValueError("expected keys with values, such as `source: sample`")
        name = str(content.get("source", next(iter(sources))))
        if name not in sources:
            names = ", ".join(sources)
            raise validation_error(
                [Problem(("source",), f"no {sources.kind} is named {name!r}; choose one of {names}")]
            )
        options = sources[name].options
        # By key: the first source that has the key.
        owners = {key: owner for owner, source in reversed(sources.items()) for key in source.options.model_fields}
        if foreign := [key for key in content if key in owners and key not in options.model_fields]:
            raise validation_error(
                Problem((key,), f"is a key of source {owners[key]}, not of {name}; leave it out") for key in foreign
            )
        return options.model_validate(content, context=info.context)

    return validate


Facts = Annotated[SerializeAsAny[FactsOptions], BeforeValidator(_source_validator(FACT_SOURCES))]
Questions = Annotated[SerializeAsAny[QuestionsOptions], BeforeValidator(_source_validator(QUESTION_SOURCES))]
Frequency = Annotated[SerializeAsAny[FrequencyOptions], BeforeValidator(_source_validator(FREQUENCY_SOURCES))]
