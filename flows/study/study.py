"""A study: what is asked, of which models, with which measures, and how public services are treated."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from data import catalog
from data.catalog import AnswerPrompts, Relation
from data.catalog.language_models import (
    About,
    AboutWhich,
    AnswerForm,
    ChatTemplate,
    System,
    WithContext,
    WithoutContext,
)
from data.catalog.reading import UniqueKeyLoader
from data.errors import UnknownName
from data.named import Registry
from data.options import NamedPath, Options, Problem, problems, refused, unknown_key
from data.records import ContextKind
from data.sources.access import Access
from data.sources.http.services import SERVICES, Service
from data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from data.sources.source import FactsOptions, QuestionsOptions
from tasks.measures import MEASURES
from tasks.measures.asked import PerQuery
from tasks.measures.measure import Measure
from tasks.statistics.entropy_classes import EntropyClasses


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


Seed = Annotated[int, Field(ge=0, lt=2**63)]  # the database keeps it as BIGINT
MEASURES_OF_SEEDS = ("persuasion", "susceptibility")
"""What is compared between the samples of several seeds."""


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
    """For how many seconds the service may be silent."""
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


class PromptPart(Options):
    """How questions are put to the models; what is left out is the catalog's (data/catalog/prompts.yaml).

    Slots are {question} and, in a text with a context, {context}, each once. {about} is where the sentence stands that
    says which page the question is about; without that slot it stands before the context, or before the question. Other
    braces, and the letters of a control token, stay text.
    """

    form: AnswerForm = "default"
    """Whose texts these are by default: default, ours; published, the form of DynamicQA's prompts in words of our own:
    answers of one word, which page a question is about before every question alone and every disputed context, and no
    generation prompt."""
    file: NamedPath | None = None
    """A YAML file with keys of this section, such as the published wording; keys of the study's own come before its."""
    system: System | None = None
    """The text before a request, in its own turn where the chat template takes one; null: the catalog's; "": none."""
    system_with_context: System | None = None
    """The same before a request with a context; null: the same text."""
    with_context: WithContext | None = None
    """The request with a context, for models with a chat template. Write a text with {context} and {question}."""
    without_context: WithoutContext | None = None
    """The request without a context, for models with a chat template. Write a text with {question}."""
    plain_with_context: WithContext | None = None
    """The prompt with a context, for models without a chat template. Write a text with {context} and {question}."""
    plain_without_context: WithoutContext | None = None
    """The prompt without a context, for models without a chat template. Write a text with {question}."""
    about: About | None = None
    """The sentence that says which page a question is about, with the slot {page}; null: the catalog's; "": none."""
    about_without_context: AboutWhich | None = None
    """Which questions have it where they stand alone: disputable ones, many of which name no subject, or all; null: the
    catalog's."""
    about_with_context: AboutWhich | None = None
    """Which questions have it where they stand behind a context; null: the catalog's."""
    chat_template: ChatTemplate | None = None
    """Whether chat templates are used: auto, where the tokenizer has one; never, all models get the plain prompts;
    null: auto."""
    generation_prompt: bool | None = None
    """Whether the prompt ends with the beginning of the assistant's turn; without it a model writes that itself, which
    counts as a part of what it samples and not as a part of the answer's text; null: the catalog's."""

    @model_validator(mode="after")
    def _readable(self) -> "PromptPart":
        self._of_file()
        return self

    def answer_prompts(self) -> AnswerPrompts:
        """The catalog's prompts with the changes of the file and of the study."""
        return replace(catalog.prompts(self.form), **self.own_texts())

    def own_texts(self) -> dict[str, Any]:
        """What is not the catalog's, by key: of the file, and of the study, which comes first."""
        return {**self._of_file(), **self.model_dump(exclude={"form", "file"}, exclude_none=True)}

    def _of_file(self) -> dict[str, Any]:
        if self.file is None:
            return {}
        try:
            content = yaml.load(Path(self.file).read_text(encoding="utf-8"), Loader=UniqueKeyLoader)
        except (OSError, ValueError, yaml.YAMLError) as error:
            problem = " ".join(str(error).split())
            raise refused([Problem(("file",), f"{self.file} cannot be read as YAML ({problem}); correct it")]) from None
        if not isinstance(content, dict) or {"form", "file"} & content.keys():
            raise refused([Problem(("file",), f"{self.file} must hold keys of `prompt`, and neither form nor file")])
        return PromptPart.model_validate(content).model_dump(exclude={"form"}, exclude_none=True)


class ModelPart(Options):
    """A language model and how it computes."""

    name: str = Field(min_length=1)
    """An alias of the catalog, a hub id or a folder."""
    dtype: Literal["auto", "float32", "bfloat16", "float16", "8bit", "4bit"] = "auto"
    """The dtype that it computes in; auto: bfloat16 on a GPU, float32 on a CPU."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|balanced)$")
    """Where it runs: auto, cpu, cuda, cuda:1, or balanced over all GPUs."""
    batch_size: int | None = Field(default=None, ge=1, le=100_000)
    """Prompts whose answers are sampled in one batch; null: as many as fit the memory."""
    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)] | None = None
    """What the page and `status` call the model in place of its name; a line of at most 60 characters. No score depends
    on it."""

    @field_validator("label")
    @classmethod
    def _one_line(cls, label: str | None) -> str | None:
        if label is not None and not label.isprintable():
            raise ValueError("has a character that cannot be printed; write it in one line")
        return label

    @field_validator("device")
    @classmethod
    def _computes(cls, device: str, others: Any) -> str:
        if device == "cpu" and others.data.get("dtype") in ("8bit", "4bit"):
            raise ValueError(f"dtype {others.data['dtype']} is for GPUs; use device cuda, or dtype bfloat16 on the cpu")
        return device


class Study(Options):
    """What is asked, of which models, with which measures."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    """The study's name: lower-case letters, digits and dashes."""
    asks: str = ""
    """The question that the study asks; the report opens with it."""
    seed: Seed = 0
    """What everything random is drawn with."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=2, max_length=100)] | None = None
    """In place of `seed`, the study's and further ones. Contexts about the same entities are drawn with each of these,
    too, and scored by persuasion and susceptibility: how far these vary is reported."""
    workspace: str | None = None
    """The folder of everything that is made; null: `workspaces/` and the name, below the current folder."""
    facts: Facts | None = None
    """Facts, which become queries and contexts."""
    services: ServicesPart = ServicesPart()
    """How public services are treated."""
    contexts: ContextsPart = ContextsPart()
    """How many contexts are written."""
    questions: Questions | None = None
    """DynamicQA-style questions."""
    prompt: PromptPart = PromptPart()
    """How questions are put to the models."""
    models: tuple[ModelPart, ...]
    """The models that are asked."""
    measures: dict[str, dict[str, Any]]
    """The measures with their parameters, such as `persuasion: {}`; or a list of names."""
    entropy_classes: EntropyClasses = EntropyClasses()
    """Classes of semantic entropy, which questions and their words are counted by."""

    @model_validator(mode="before")
    @classmethod
    def _first_seed(cls, content: Any) -> Any:
        if not isinstance(content, dict) or content.get("seeds") is None:
            return content
        if "seed" in content:
            wrong = "`seed` is there, too; leave it out: the study's is the first of `seeds`"
            raise refused([Problem(("seeds",), wrong)])
        seeds = content["seeds"]
        known = isinstance(seeds, list | tuple) and seeds and type(seeds[0]) is int
        return {**content, "seed": seeds[0]} if known else content

    @field_validator("measures", mode="before")
    @classmethod
    def _known_measures(cls, measures: Any) -> dict[str, dict[str, Any]]:
        if isinstance(measures, list) and all(isinstance(name, str) for name in measures):
            measures = dict.fromkeys(measures)
        if not isinstance(measures, dict):
            raise ValueError("expected measures with their parameters, such as `persuasion: {}`")
        if not measures:
            raise ValueError("may not be empty; name at least 1")
        validated, wrong = {}, list[Problem]()
        for name, content in measures.items():
            try:
                validated[str(name)] = _parameters(str(name), content)
            except ValidationError as error:
                wrong += [one._replace(place=(str(name), *one.place)) for one in problems(error, {})]
        if wrong:
            raise refused(wrong)
        return validated

    @model_validator(mode="after")
    def _consistent(self) -> "Study":
        if not self.models:
            raise refused([Problem(("models",), "may not be empty; name at least 1")])
        if len({(model.name, model.dtype) for model in self.models}) < len(self.models):
            raise refused([Problem(("models",), "a model is named twice in the same dtype; name it once")])
        if self.seeds and len(set(self.seeds)) < len(self.seeds):
            raise refused([Problem(("seeds",), "a seed is named twice; name each once")])
        if self.seeds and not {*MEASURES_OF_SEEDS} & self.requested().keys():
            wrong = "nothing is compared between seeds; name susceptibility under `measures`, or `seed` alone"
            raise refused([Problem(("seeds",), wrong)])
        for place, model in enumerate(self.models):
            others = self.models[:place] + self.models[place + 1 :]
            if model.label in {other.label or other.name for other in others}:
                raise refused([Problem(("models", place, "label"), "another model is called so; write another label")])
        for name, measure in self.requested().items():
            if measure.about != "questions" and (self.facts is None or not self.facts.relations):
                raise refused([Problem(("measures", name), "needs facts; name relations under `facts`")])
            if measure.about == "questions" and self.questions is None:
                raise refused([Problem(("measures", name), "needs questions; name a source under `questions`")])
            if measure.every_context and self.contexts.per_query is not None:
                wrong = "needs every context before every query; leave it out, or `per_query` under `contexts`"
                raise refused([Problem(("measures", name), wrong)])
        return self

    @property
    def further_seeds(self) -> tuple[int, ...]:
        """The seeds beside the study's."""
        return (self.seeds or ())[1:]

    def of_seed(self, seed: int) -> "Study":
        """The study with one of its seeds alone, and of its measures those that are compared between seeds."""
        measures = {name: self.parameters(name) for name in MEASURES_OF_SEEDS if name in self.requested()}
        return self.model_copy(update={"seed": seed, "seeds": None, "measures": measures})

    def called(self, name: str, dtype: str) -> str:
        """What people read of a model in a dtype of the study: its label in place of its name."""
        label = next((model.label for model in self.models if (model.name, model.dtype) == (name, dtype)), None)
        return f"{label or name}/{dtype}"

    def requested(self) -> dict[str, Measure]:
        """The measures that the study names and, transitively, those that they need, in the registry's order."""
        names = list(self.measures)
        for name in names:  # grows meanwhile
            names += [need for need in MEASURES[name].needs if need not in names]
        return {name: measure for name, measure in MEASURES.items() if name in names}

    def parameters(self, name: str) -> dict[str, Any]:
        """The parameters of a measure: the study's, or their defaults."""
        return self.measures.get(name) or MEASURES[name].parameters().model_dump()

    def access(self, downloads: Path, **options: Any) -> Access:
        """How the study reaches services; options: as in `Access`."""
        cache = Path(self.services.cache).expanduser() if self.services.cache else None
        return Access(downloads, self.services.by_name(), self.services.asked_by, cache, **options)


def _parameters(name: str, content: Any) -> dict[str, Any]:
    try:
        measure = MEASURES[name]
    except UnknownName as error:
        raise refused([Problem((), str(error))]) from None
    known = measure.parameters.model_fields
    try:
        return dict(measure.parameters.model_validate({} if content is None else content).model_dump())
    except ValidationError as error:
        raise refused(
            one._replace(message=f"is a parameter of {owners}; write it there")
            if one.is_unknown and (owners := _owners(str(one.place[0]), measure))
            else one
            for one in problems(error, known)
        ) from None


def _owners(key: str, measure: Measure) -> str:
    """The needed measures that have that parameter."""
    return ", ".join(need for need in measure.needs if key in MEASURES[need].parameters.model_fields)
