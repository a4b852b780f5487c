"""The sections of a study file: what each of their keys says, and its default."""

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
    refused,
    unknown_key,
)
from swaymeter.data.records import ContextKind
from swaymeter.data.sources.http.services import SERVICES, Service
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.sources.source import FactsOptions, QuestionsOptions
from swaymeter.flows.study.places import RunnerName
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import FrequencyOptions
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure, PerQuery
from swaymeter.tasks.models.applications import FUNCTION
from swaymeter.tasks.models.endpoints.endpoint import KEY_FROM, Endpoint


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
    """A file of own contexts, which take the place of the written ones in its relations (docs/own-data.md)."""
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


class ExecutionPart(Options):
    """Where steps that ask a model are computed; all others stay in the process that runs the study. No score depends
    on it. `--runner` on the command line takes the place of `runner`."""

    runner: RunnerName = "threads"
    """threads: one at a time in the process that runs the study; processes: worker processes on this machine, one a
    GPU, each of which keeps its model; dask: workers of a Dask cluster. The last two need the extra `dask`."""
    workers: int | None = Field(default=None, ge=1, le=1000)
    """Worker processes, also of a Dask cluster that the run starts; null: one a GPU, or two where there is none."""
    address: str | None = Field(default=None, pattern=r"^(tcp|tls|ucx|ws|wss)://\S+$")
    """The scheduler of a Dask cluster, such as tcp://10.0.0.1:8786; null: what the environment variable
    DASK_SCHEDULER_ADDRESS says, else a cluster on this machine that ends with the run."""


def _validated(measures: Any, info: ValidationInfo) -> dict[str, dict[str, Any]]:
    if isinstance(measures, list) and all(isinstance(name, str) for name in measures):
        measures = dict.fromkeys(measures)
    if not isinstance(measures, dict):
        raise ValueError("expected measures with their parameters, such as `persuasion: {}`")
    if not measures:
        raise ValueError("may not be empty; name at least 1")
    validated, wrong = {}, list[Problem]()
    for name, content in measures.items():
        try:
            validated[str(name)] = _parameters(str(name), content, info)
        except ValidationError as error:
            wrong += [problem._replace(place=(str(name), *problem.place)) for problem in problems(error, {})]
    if wrong:
        raise refused(wrong)
    return validated


def _parameters(name: str, content: Any, info: ValidationInfo) -> dict[str, Any]:
    try:
        measure = MEASURES[name]
    except UnknownName as error:
        raise refused([Problem((), str(error))]) from None
    known = measure.parameters.model_fields
    content = {} if content is None else content
    try:
        return dict(measure.parameters.model_validate(content, context=info.context).model_dump())
    except ValidationError as error:
        raise refused(
            problem._replace(message=f"is a parameter of {owners}; write it there")
            if problem.is_unknown and (owners := _owners(str(problem.place[0]), measure))
            else problem
            for problem in problems(error, known)
        ) from None


def _owners(key: str, measure: Measure) -> str:
    """The needed measures that have that parameter."""
    return ", ".join(need for need in measure.needs if key in MEASURES[need].parameters.model_fields)


Measures = Annotated[dict[str, dict[str, Any]], BeforeValidator(_validated)]
"""The parameters of the named measures, all of them, by name."""


DecodingName = Literal["greedy", "cad", "adacad", "coiecd"]


def _decodings(content: Any) -> Any:
    """Decodings by their names, each with its parameters; a list of names has none."""
    if isinstance(content, list | tuple) and all(isinstance(name, str) for name in content):
        if len(set(content)) < len(content):
            raise ValueError("a decoding is named twice; name each once")
        content = dict.fromkeys(content)
    if not isinstance(content, dict):
        raise ValueError("expected names of decodings, such as [greedy, cad], or `cad: {weight: 0.5}`")
    if not content:
        raise ValueError("may not be empty; name at least 1, or leave it out")
    return {name: {} if parameters is None else parameters for name, parameters in content.items()}


Decodings = Annotated[dict[DecodingName, dict[str, float]], BeforeValidator(_decodings)]
"""Several decodings, each with its parameters."""


class ModelPart(Options):
    """A language model and how it computes, or, with `endpoint`, where it is served (docs/endpoints.md)."""

    name: str = Field(min_length=1)
    """An alias of the catalog, a hub id or a folder; with `endpoint`, what scores call the model."""
    dtype: Literal["auto", "float32", "bfloat16", "float16", "8bit", "4bit"] = "auto"
    """The dtype that it computes in; auto: bfloat16 on a GPU, float32 on a CPU."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|balanced)$")
    """Where it runs: auto, cpu, cuda, cuda:1, or balanced over all GPUs."""
    batch_size: int | None = Field(default=None, ge=1, le=100_000)
    """Prompts whose answers are sampled in one batch; null: as many as fit the memory."""
    chat_template: ChatTemplate | None = None
    """Whether its chat template is used, in place of what `prompt.chat_template` says of all models; null: as there."""
    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)] | None = None
    """What the page and `status` call the model in place of its name; a line of at most 60 characters. No score depends
    on it."""

    endpoint: str | None = Field(default=None, pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?(\?[^\s#]*)?$")
    """The address of a server that has the model, such as http://127.0.0.1:8000/v1, perhaps with a query such as
    ?api-version=1; null: it is computed here."""
    api: Literal["auto", "openai", "vllm", "llama.cpp"] = "auto"
    """Which kind of server it is; auto: as the server says, openai where it does not."""
    served_as: str = ""
    """What the server calls the model; empty: as `name`."""
    revision: str = ""
    """Which weights the server has, in your own words: another one means that all scores are computed anew."""
    max_age_hours: float | None = Field(default=None, ge=0, le=876_000)
    """The age in hours up to which a stored answer of the server is used; null: any age."""
    key_from: str = Field(default="", pattern=KEY_FROM)
    """The environment variable that holds the server's key, or, for another header than Authorization, `HEADER:
    VARIABLE`, such as `api-key: AZURE_KEY`. The key itself stands in no file."""
    tokenizer: ModelName = ""
    """The model whose tokenizer and chat template write the prompts, which are then sent as tokens: an alias, hub id or
    folder. Empty: questions are sent as messages, and the server's template writes them."""
    requests_in_flight: int = Field(default=32, ge=1, le=1000)
    """The most requests at the same time; how many the server bears is found out below that."""
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000)
    """The most requests in a minute; null: no limit."""
    timeout_s: float = Field(default=600, gt=0, le=36_000)
    """For how many seconds the server may be silent over one request."""
    max_requests: int | None = Field(default=None, ge=1)
    """The most requests of one run, which then ends in good order; null: no limit."""

    replies: str | None = Field(default=None, min_length=1)
    """The column of the file of questions with this model's replies: nothing is asked then (docs/application.md)."""
    function: str | None = Field(default=None, pattern=f"^{FUNCTION.pattern}$")
    """A Python function that replies: FILE.py:FUNCTION or MODULE:FUNCTION (docs/application.md)."""
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    """Calls of the function at the same time; null: 1, or 8 of an async function."""

    _source: str = PrivateAttr("")
    _is_in_workspace: bool = PrivateAttr(False)

    @model_validator(mode="after")
    def _beside_the_study(self, info: ValidationInfo) -> "ModelPart":
        if self.is_local and self.name not in catalog.models():
            self._source = folder_beside_the_study(self.name, info)
        folder = (info.context or {}).get("folder")
        self._is_in_workspace = folder is not None and (Path(folder) / "workspace.json").exists()
        return self

    @property
    def is_local(self) -> bool:
        """True if its weights are on this machine: no endpoint, no function and no recorded replies."""
        return self.endpoint is None and self.gives_text_of is None

    @property
    def gives_text_of(self) -> Literal["recorded", "application"] | None:
        """The kind of a model that gives text alone; None for any other."""
        return "recorded" if self.replies else "application" if self.function else None

    @property
    def is_in_workspace(self) -> bool:
        """True if the study lies in a workspace, so that nothing is imported that it names."""
        return self._is_in_workspace

    @field_validator("function")
    @classmethod
    def _file_beside_the_study(cls, function: str | None, info: ValidationInfo) -> str | None:
        file, colon, name = (function or "").rpartition(":")
        return f"{beside_the_study(file, info)}{colon}{name}" if file.endswith(".py") else function

    @property
    def source(self) -> str:
        """What it is loaded from, wherever the study is run; scores call it by its name."""
        return self._source or self.name

    @field_validator("endpoint")
    @classmethod
    def _without_key(cls, endpoint: str | None) -> str | None:
        if names := sorted(name for name, _ in parse_qsl(urlsplit(endpoint or "").query) if _KEY_NAME.search(name)):
            raise ValueError(f"has {names[0]!r} in its query, and a key stands in no file; name its variable: key_from")
        return endpoint

    @field_validator("label")
    @classmethod
    def _one_line(cls, label: str | None) -> str | None:
        if label is not None and not label.isprintable():
            raise ValueError("has a character that cannot be printed; write it in one line")
        return label

    @property
    def served(self) -> Endpoint | None:
        """Where it is served; None where it is computed here."""
        if self.endpoint is None:
            return None
        return Endpoint(
            self.name, self.endpoint, self.api, self.served_as, self.key_from, self.tokenizer,
            self.requests_in_flight, self.requests_per_minute, self.timeout_s, self.max_requests,
            self.revision, self.max_age_hours,
        )  # fmt: skip

    @model_validator(mode="after")
    def _here_or_there(self) -> "ModelPart":
        fields = type(self).model_fields
        changed = {name for name in self.model_fields_set if getattr(self, name) != fields[name].default}
        kinds = [name for name in _KEYS_OF_KINDS if getattr(self, name)]
        if len(kinds) > 1:
            raise refused([Problem((kinds[1],), f"is there beside {kinds[0]}; a model has one of them")])
        kind = kinds[0] if kinds else ""
        for key in sorted(changed - _KEYS_OF_ALL - _KEYS_OF_KINDS.get(kind, _KEYS_OF_WEIGHTS) - {kind}):
            if kind == "endpoint" and key in _KEYS_OF_WEIGHTS:
                why = "is the server's own; leave it out"
            elif kind:
                why = f"is not for a model with `{kind}`; leave it out"
            else:
                owner = next(name for name, keys in _KEYS_OF_KINDS.items() if key in keys)
                why = f"is for a model {'at an' if owner == 'endpoint' else 'with a'} `{owner}`; name one"
            raise refused([Problem((key,), why)])
        return self

    @field_validator("device")
    @classmethod
    def _computes(cls, device: str, others: Any) -> str:
        if device == "cpu" and others.data.get("dtype") in ("8bit", "4bit"):
            raise ValueError(f"dtype {others.data['dtype']} is for GPUs; use device cuda, or dtype bfloat16 on the cpu")
        return device


_KEY_NAME = re.compile("key|token|secret|password|^(code|sig)$", re.IGNORECASE)
"""Names of a query's fields that hold keys."""
_KEYS_OF_ALL = frozenset({"name", "label"})
_KEYS_OF_WEIGHTS = frozenset({"dtype", "device", "batch_size", "chat_template"})
_KEYS_OF_KINDS: Mapping[str, frozenset[str]] = {
    "endpoint": frozenset({
        "api", "served_as", "revision", "max_age_hours", "key_from", "tokenizer", "requests_in_flight",
        "requests_per_minute", "timeout_s", "max_requests", "chat_template",
    }),
    "function": frozenset({"concurrency", "timeout_s"}),
    "replies": frozenset(),
}  # fmt: skip
"""The key that makes a model no model of this machine, and the further keys that such a model has."""


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


class ServicesPart(Options):
    """Who asks public services, where their responses are cached, and options of each service by its key."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ServiceOptions] = Field(init=False)

    contact: str | None = None
    """An e-mail address or a page of whoever runs the study; null: the environment variable SWAYMETER_CONTACT."""
    cache: NamedPath | None = None
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


def _branch(sources: Registry[Any]) -> Callable[[Any, ValidationInfo], Any]:
    """Validates a section with the options model of the source that it names."""

    def validate(content: Any, info: ValidationInfo) -> Any:
        if content is None or isinstance(content, Options):
            return content
        if not isinstance(content, dict):
            raise ValueError("expected keys with values, such as source")
        name = str(content.get("source", next(iter(sources))))
        if name not in sources:
            known = ", ".join(sources)
            raise refused([Problem(("source",), f"no {sources.kind} is named {name!r}; choose one of {known}")])
        options = sources[name].options
        owners = {key: owner for owner, source in reversed(sources.items()) for key in source.options.model_fields}
        if foreign := [key for key in content if key in owners and key not in options.model_fields]:
            raise refused(
                Problem((key,), f"is a key of source {owners[key]}, not of {name}; leave it out") for key in foreign
            )
        return options.model_validate(content, context=info.context)

    return validate


Facts = Annotated[SerializeAsAny[FactsOptions], BeforeValidator(_branch(FACT_SOURCES))]
Questions = Annotated[SerializeAsAny[QuestionsOptions], BeforeValidator(_branch(QUESTION_SOURCES))]
Frequency = Annotated[SerializeAsAny[FrequencyOptions], BeforeValidator(_branch(FREQUENCY_SOURCES))]
