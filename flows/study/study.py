"""A study: what is asked, of which models, with which measures, and how public services are treated."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import UsageError
from swaymeter.data.options import NamedPath, Options, Problem, Shown, refused
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.source import OwnQuestions
from swaymeter.flows.study.places import RunnerName
from swaymeter.flows.study.prompt import TEXTS, PromptPart, Prompts
from swaymeter.flows.study.sections import (
    ContextsPart,
    Decodings,
    ExecutionPart,
    Facts,
    Frequency,
    Measures,
    ModelPart,
    Questions,
    ServicesPart,
)
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measure
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses

Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63)]  # the database keeps it as BIGINT
MEASURES_OF_SEEDS = ("persuasion", "susceptibility")
"""What is compared between the samples of several seeds."""


def _bounds(bounds: dict[str, str]) -> dict[str, str]:
    if bounds:
        from swaymeter.flows.study.thresholds import thresholds_of_bounds  # imports pandas, which takes long

        try:
            thresholds_of_bounds(bounds)
        except UsageError as error:
            raise ValueError(str(error)) from None
    return bounds


def _listed(files: Any) -> Any:
    return (files,) if isinstance(files, str) else files or ()


class Study(Options):
    """What is asked, of which models, with which measures."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    """The study's name: lower-case letters, digits and dashes."""
    asks: Shown = ""
    """The question that the study asks; the report opens with it."""
    seed: Seed = 0
    """What everything random is drawn with."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=2, max_length=100)] | None = None
    """In place of `seed`, the study's and further ones. Contexts about the same entities are drawn with each of these,
    too, and scored by persuasion and susceptibility: how far these vary is reported."""
    workspace: NamedPath | None = None
    """The folder of everything that is made, from the folder of this file as all paths; null: `workspaces/` and the
    name, below the current folder, which of a deployment is `SWAYMETER_HOME`. Studies of different names may share
    one."""
    facts: Facts | None = None
    """Facts, which become queries and contexts."""
    services: ServicesPart = ServicesPart()
    """How public services are treated."""
    contexts: ContextsPart = ContextsPart()
    """How many contexts are written."""
    frequency: Frequency | None = None
    """A corpus in which the names of the facts are counted; null: none is."""
    questions: Questions | None = None
    """DynamicQA-style questions."""
    prompt: PromptPart = PromptPart()
    """How questions are put to the models."""
    prompts: Prompts | None = None
    """Several ways to put questions, each a name with keys of `prompt`; or a list of forms, such as [default, strict].
    Every model is asked in each of them, and they are compared as models are. null: `prompt` alone."""
    decodings: Decodings | None = None
    """Several decodings of answers, compared as prompts are: greedy, the model's own distribution; cad, context-aware
    decoding (`cad: {weight: 1.0}`); adacad, its adaptive form; coiecd (docs/measures.md has their formulas). Those that
    contrast answer with the context and without it in one pass. Models at an endpoint are asked with greedy alone.
    null: greedy."""
    models: tuple[ModelPart, ...]
    """The models that are asked."""
    thresholds: Annotated[dict[str, str], AfterValidator(_bounds)] = Field(default={})
    """What the headline numbers of every model have to be, as `--fail-under` of `swaymeter audit` names them, such as
    `{follow.supporting: ">= 0.9", refuse.none.high: "<= 10%"}`: a run ends with exit code 1 where one is not. `.low`
    and `.high` are the ends of an interval."""
    whole_only: bool = False
    """Whether the database and the page of an earlier run stay as they are until every score is there; false: they show
    what is there, though a model or a judge has failed."""
    execution: ExecutionPart = ExecutionPart()
    """Where the models are asked."""
    measures: Measures
    """The measures with their parameters, such as `persuasion: {}`; or a list of names."""
    judgements: Annotated[tuple[NamedPath, ...], BeforeValidator(_listed)] = ()
    """A file of people's judgements, .csv or .xlsx, or several: verdicts on replies, kinds of contexts, and choices and
    corrections of questions (docs/judgements.md)."""
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
        if self.prompts and (texts := sorted(TEXTS & self.prompt.own_texts().keys())):
            wrong = "is a text, and `prompts` has texts of its own; write it there"
            raise refused([Problem(("prompt", texts[0]), wrong)])
        if self.prompts and self.prompt.form != "default":
            wrong = "names a form, and `prompts` has forms of its own; leave it out"
            raise refused([Problem(("prompt", "form"), wrong)])
        refuses = self.facts.refuses if self.facts else {}
        if "seeds" in refuses and self.seeds and self.contexts.per_query is None:
            raise refused([Problem(("seeds",), refuses["seeds"])])
        for name in sorted(self.contexts.model_fields_set - {"per_query"}) if "contexts" in refuses else ():
            if getattr(self.contexts, name) is not None:
                raise refused([Problem(("contexts", name), refuses["contexts"])])
        if self.frequency and "frequency" in refuses:
            raise refused([Problem(("frequency",), refuses["frequency"])])
        if self.frequency and not {"susceptibility", "persuasion"} & self.requested().keys():
            wrong = "is compared with susceptibility and persuasion; name one of them under `measures`"
            raise refused([Problem(("frequency",), wrong)])
        called = Counter(model.label or model.name for model in self.models)
        for place, model in enumerate(self.models):
            if model.label and called[model.label] > 1:
                raise refused([Problem(("models", place, "label"), "another model is called so; write another label")])
        self._refuse_for_texts()
        for name, measure in self.requested().items():
            if measure.about != "questions" and (self.facts is None or not self.facts.relations):
                raise refused([Problem(("measures", name), "needs facts; name relations under `facts`")])
            if measure.about == "questions" and self.questions is None:
                raise refused([Problem(("measures", name), "needs questions; name a source under `questions`")])
            if measure.needs_answers and "answers" in refuses:
                raise refused([Problem(("measures", name), refuses["answers"])])
            if name == "clusters" and self.parameters("answers")["samples"] == 0:
                wrong = "is 0, and clusters are of sampled answers; ask for 1 or more, or leave out what needs clusters"
                raise refused([Problem(("measures", "answers", "samples"), wrong)])
            if measure.every_context and self.contexts.per_query is not None:
                wrong = "needs every context before every query; leave it out, or `per_query` under `contexts`"
                raise refused([Problem(("measures", name), wrong)])
        return self

    def _refuse_for_texts(self) -> None:
        """Refuse what recorded replies and functions cannot give, and recorded replies without a file."""
        recorded = [model.replies for model in self.models if model.replies]
        if recorded:
            if not isinstance(self.questions, OwnQuestions):
                place = next(place for place, model in enumerate(self.models) if model.replies)
                wrong = "is a column of a file of questions; name the file under `questions` with source: file"
                raise refused([Problem(("models", place, "replies"), wrong)])
            self.questions.read_replies(recorded)
        for model in (model for model in self.models if model.gives_text_of):
            what = "its recorded replies" if model.replies else "a function"
            for name, measure in self.requested().items():
                if measure.capability and name != "answers":
                    wrong = f"needs {measure.capability}, and {what} give text alone ({model.name}); leave it out"
                    raise refused([Problem(("measures", name), wrong)])
            if "answers" in self.requested() and (samples := self.parameters("answers")["samples"]):
                wrong = f"is {samples}, and {what} give one reply to each prompt ({model.name}); ask for 0"
                raise refused([Problem(("measures", "answers", "samples"), wrong)])

    @property
    def further_seeds(self) -> tuple[int, ...]:
        """The seeds beside the study's."""
        return (self.seeds or ())[1:]

    def run_by(self, runner: RunnerName | None) -> "Study":
        """The study with another runner; None for its own."""
        execution = self.execution.model_copy(update={"runner": runner or self.execution.runner})
        return self.model_copy(update={"execution": execution})

    def of_seed(self, seed: int) -> "Study":
        """The study with one of its seeds alone, and of its measures those that are compared between seeds."""
        measures = {name: self.parameters(name) for name in MEASURES_OF_SEEDS if name in self.requested()}
        return self.model_copy(update={"seed": seed, "seeds": None, "measures": measures})

    def answer_prompts(self, model: ModelPart, prompt: str = "") -> AnswerPrompts:
        """How questions are put to a model: as the study says of all, in one of its prompts, and of this model."""
        prompts = self.prompt.answer_prompts()
        if prompt:
            assert self.prompts is not None
            prompts = replace(self.prompts[prompt].answer_prompts(), **self.prompt.own_texts())
            prompts = replace(prompts, **self.prompts[prompt].own_texts())
        return replace(prompts, chat_template=model.chat_template or prompts.chat_template)

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
        cache = Path(self.services.cache) if self.services.cache else None
        return Access(downloads, self.services.by_name(), self.services.asked_by, cache, **options)
