"""A study: its facts and questions, models, measures and services, as a validated YAML file."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import StudyFileError, UsageError
from swaymeter.data.options import NamedPath, Options, PrintableText, Problem, problems, validation_error
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.source import OwnQuestions
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.flows.config.places import AUDIT, STUDIES, RunnerName
from swaymeter.flows.config.prompt import TEXT_KEYS, PromptPart, Prompts
from swaymeter.flows.config.sections import (
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

Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63)]  # a BIGINT in the database
MEASURES_OF_SEEDS = ("persuasion", "susceptibility")
"""Measures that are compared over several seeds."""

QUESTION_FILES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx"})
"""Suffixes of files that `swaymeter audit` reads."""


def _check_bounds(bounds: dict[str, str]) -> dict[str, str]:
    if bounds:
        from swaymeter.flows.config.thresholds import thresholds_of_bounds  # imports pandas, which takes long

        try:
            thresholds_of_bounds(bounds)
        except UsageError as error:
            raise ValueError(str(error)) from None
    return bounds


def _as_list(files: Any) -> Any:
    return (files,) if isinstance(files, str) else files or ()


class StudyFile(Options):
    """The facts and questions, the models that answer, and the measures of their answers."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    """Name of the study: lower-case letters, digits and dashes."""
    asks: PrintableText = ""
    """The question that the study asks; the report opens with it."""
    seed: Seed = 0
    """Seed of every random draw."""
    seeds: Annotated[tuple[Seed, ...], Field(min_length=2, max_length=100)] | None = None
    """The study's seed and further seeds, in place of `seed`. Each further seed draws other contexts about the same
    entities. The report shows how far persuasion and susceptibility vary over the seeds."""
    workspace: NamedPath | None = None
    """The folder of all outputs, relative to this file like all paths. null: `workspaces/NAME` in the current folder;
    the current folder of a deployment is `SWAYMETER_HOME`. Studies of different names can share a workspace."""
    facts: Facts | None = None
    """Facts, from which queries and contexts are written."""
    services: ServicesPart = ServicesPart()
    """Limits, addresses and cache of public services."""
    contexts: ContextsPart = ContextsPart()
    """Number and form of contexts."""
    frequency: Frequency | None = None
    """A corpus in which the names of the facts are counted; null: no corpus."""
    questions: Questions | None = None
    """DynamicQA-style questions."""
    prompt: PromptPart = PromptPart()
    """The texts around questions and contexts."""
    prompts: Prompts | None = None
    """Several prompts to compare: for each name, keys of `prompt`; or a list of forms, such as [default, strict]. Each
    model reads every prompt. null: `prompt` alone."""
    decodings: Decodings | None = None
    """Several decodings to compare. greedy: the model's own distribution. cad: context-aware decoding (`cad: {weight:
    1.0}`). adacad: adaptive cad. coiecd: entropy-constrained (docs/measures.md has the formulas). Models at an endpoint
    decode greedily. null: greedy."""
    models: tuple[ModelPart, ...]
    """The models that answer."""
    thresholds: Annotated[dict[str, str], AfterValidator(_check_bounds)] = Field(default={})
    """Bounds of the headline numbers of every model, named as for `--fail-under`, such as
    `{follow.supporting: ">= 0.9", refuse.none.high: "<= 10%"}`. A run ends with exit code 1 if a bound is not met.
    `.low` and `.high` are the ends of an interval."""
    whole_only: bool = False
    """true: the database and the page of an earlier run stay until every score exists. false: the database and the page
    show the scores that exist, also if a model or a judge has failed."""
    execution: ExecutionPart = ExecutionPart()
    """Workers that compute the models' answers."""
    measures: Measures
    """The measures with their parameters, such as `persuasion: {}`; or a list of names."""
    judgements: Annotated[tuple[NamedPath, ...], BeforeValidator(_as_list)] = ()
    """Files of judgements, .csv or .xlsx: verdicts on replies, kinds of contexts, choices and corrections of questions
    (docs/judgements.md)."""
    entropy_classes: EntropyClasses = EntropyClasses()
    """Classes of semantic entropy. For each class, questions with a context are counted, and their words listed."""

    @model_validator(mode="before")
    @classmethod
    def _first_seed(cls, content: Any) -> Any:
        if not isinstance(content, dict) or content.get("seeds") is None:
            return content
        if "seed" in content:
            problem = "`seed` is also set; leave it out, because the first of `seeds` is the study's seed"
            raise validation_error([Problem(("seeds",), problem)])
        seeds = content["seeds"]
        has_seeds = isinstance(seeds, list | tuple) and seeds and type(seeds[0]) is int
        return {**content, "seed": seeds[0]} if has_seeds else content

    @model_validator(mode="after")
    def _consistent(self) -> "StudyFile":
        if not self.models:
            raise validation_error([Problem(("models",), "may not be empty; name at least 1 model")])
        if len({(model.name, model.dtype) for model in self.models}) < len(self.models):
            raise validation_error([Problem(("models",), "a model is named twice in the same dtype; name it once")])
        if self.seeds and len(set(self.seeds)) < len(self.seeds):
            raise validation_error([Problem(("seeds",), "a seed is named twice; name it once")])
        if self.seeds and not {*MEASURES_OF_SEEDS} & self.requested().keys():
            problem = "only persuasion and susceptibility are compared between seeds; name one of them under `measures`"
            raise validation_error([Problem(("seeds",), problem)])
        if self.prompts and (texts := sorted(TEXT_KEYS & self.prompt.own_texts().keys())):
            problem = "is not used beside `prompts`; write it under a name in `prompts`"
            raise validation_error([Problem(("prompt", texts[0]), problem)])
        if self.prompts and self.prompt.form != "default":
            problem = "is not used beside `prompts`; leave it out, and write forms under `prompts`"
            raise validation_error([Problem(("prompt", "form"), problem)])
        # By section, or by kind of measure: the reason why it is impossible with facts of this source.
        refuses = self.facts.refuses if self.facts else {}
        if "seeds" in refuses and self.seeds and self.contexts.per_query is None:
            raise validation_error([Problem(("seeds",), refuses["seeds"])])
        for name in sorted(self.contexts.model_fields_set - {"per_query"}) if "contexts" in refuses else ():
            if getattr(self.contexts, name) is not None:
                raise validation_error([Problem(("contexts", name), refuses["contexts"])])
        if self.frequency and "frequency" in refuses:
            raise validation_error([Problem(("frequency",), refuses["frequency"])])
        if self.frequency and not {"susceptibility", "persuasion"} & self.requested().keys():
            problem = "is compared with susceptibility and persuasion; name one of them under `measures`"
            raise validation_error([Problem(("frequency",), problem)])
        labels = Counter(model.label or model.name for model in self.models)
        for index, model in enumerate(self.models):
            if model.label and labels[model.label] > 1:
                raise validation_error(
                    [Problem(("models", index, "label"), "another model has this label or name; write another label")]
                )
        self._check_text_only_models()
        for name, measure in self.requested().items():
            if measure.about != "questions" and (self.facts is None or not self.facts.relations):
                raise validation_error([Problem(("measures", name), "needs facts; name relations under `facts`")])
            if measure.about == "questions" and self.questions is None:
                raise validation_error(
                    [Problem(("measures", name), "needs questions; name a source under `questions`")]
                )
            if measure.needs_answers and "answers" in refuses:
                raise validation_error([Problem(("measures", name), refuses["answers"])])
            if name == "clusters" and self.parameters("answers")["samples"] == 0:
                problem = "is 0, and clusters need sampled replies; write 1 or more, or leave clusters out"
                raise validation_error([Problem(("measures", "answers", "samples"), problem)])
            if measure.every_context and self.contexts.per_query is not None:
                problem = "needs every context before every query; leave out either the measure or `contexts.per_query`"
                raise validation_error([Problem(("measures", name), problem)])
        return self

    def _check_text_only_models(self) -> None:
        """Refuse measures that need more than a reply's text, and recorded replies without a file of questions.

        Also set the columns of recorded replies in the source of the questions.
        """
        recorded = [model.replies for model in self.models if model.replies]
        if recorded:
            if not isinstance(self.questions, OwnQuestions):
                index = next(index for index, model in enumerate(self.models) if model.replies)
                problem = "is a column of a file of questions; name the file under `questions` with source: file"
                raise validation_error([Problem(("models", index, "replies"), problem)])
            self.questions.set_reply_columns(recorded)
        for model in (model for model in self.models if model.returns_only_text):
            source = "recorded replies" if model.replies else "a function"
            for name, measure in self.requested().items():
                if measure.capability and name != "answers":
                    problem = f"needs {measure.capability}, and {model.name} ({source}) gives only text; leave it out"
                    raise validation_error([Problem(("measures", name), problem)])
            if "answers" in self.requested() and (samples := self.parameters("answers")["samples"]):
                problem = f"is {samples}, and model {model.name} ({source}) has one reply to each prompt; write 0"
                raise validation_error([Problem(("measures", "answers", "samples"), problem)])

    @property
    def further_seeds(self) -> tuple[int, ...]:
        """Seeds after the study's seed, which is the first of `seeds`."""
        return (self.seeds or ())[1:]

    def with_runner(self, runner: RunnerName | None) -> "StudyFile":
        """Return the study with another runner; None keeps the study's runner."""
        execution = self.execution.model_copy(update={"runner": runner or self.execution.runner})
        return self.model_copy(update={"execution": execution})

    def for_seed(self, seed: int) -> "StudyFile":
        """Return the study with one seed, and with only the measures that are compared over seeds."""
        measures = {name: self.parameters(name) for name in MEASURES_OF_SEEDS if name in self.requested()}
        return self.model_copy(update={"seed": seed, "seeds": None, "measures": measures})

    def answer_prompts(self, model: ModelPart, prompt: str = "") -> AnswerPrompts:
        """Return the prompts of a model.

        Args:
            model: The model; its own `chat_template` replaces the prompt's.
            prompt: Name of a prompt in the section `prompts`; empty for the section `prompt`.
        """
        prompts = self.prompt.answer_prompts()
        if prompt:
            assert self.prompts is not None
            # Texts of the section `prompt` replace texts of the form. Texts of the named prompt replace both.
            prompts = replace(self.prompts[prompt].answer_prompts(), **self.prompt.own_texts())
            prompts = replace(prompts, **self.prompts[prompt].own_texts())
        return replace(prompts, chat_template=model.chat_template or prompts.chat_template)

    def requested(self) -> dict[str, Measure]:
        """Return the measures of the study and the measures that they need, in the order of the registry."""
        names = list(self.measures)
        for name in names:  # the loop appends to `names`
            names += [need for need in MEASURES[name].needs if need not in names]
        return {name: measure for name, measure in MEASURES.items() if name in names}

    def parameters(self, name: str) -> dict[str, Any]:
        """Return the parameters of a measure; defaults if the study does not name it."""
        return self.measures.get(name) or MEASURES[name].parameters().model_dump()

    def access(self, downloads: Path, **options: Any) -> Access:
        """Return the access to public services.

        Args:
            downloads: Folder of cached responses, unless the study names one.
            options: Further arguments of `Access`.
        """
        cache = Path(self.services.cache) if self.services.cache else None
        return Access(downloads, self.services.by_name(), self.services.requester, cache, **options)


def study_file(path: str | Path) -> Path:
    """Return the path of a study file.

    Args:
        path: Path of the file or of an audit's folder, or name of a bundled study.
    """
    bundled, audit = STUDIES / f"{path}.yaml", Path(path) / AUDIT
    if audit.is_file():
        return audit
    if Path(path).exists():
        return Path(path)
    return bundled if bundled.exists() else Path(path)


def read_study(path: str | Path, changes: Mapping[str, Any] = MappingProxyType({})) -> StudyFile:
    """Read a study from a YAML file, or a bundled study by its name.

    Args:
        path: Path of the file, or name of a bundled study. An existing file wins.
        changes: New values of keys, such as models.0.name.

    Raises:
        StudyFileError: The file cannot be read, or a key is wrong.
    """
    file = Path(path)
    if file.suffix.lower() in QUESTION_FILES and file.is_file():
        raise StudyFileError(
            f"{file} is a file of questions instead of a study; run swaymeter audit {quote(str(file))} --model NAME"
        )
    try:
        file = study_file(path)
        text = text_of(file)
        content = untrusted_yaml(text)
    except OSError as error:
        bundled = ", ".join(sorted(path.stem for path in STUDIES.glob("*.yaml")))
        is_folder = isinstance(error, IsADirectoryError)
        reason = f"it is a folder without {AUDIT}; name the study's file" if is_folder else error.strerror
        raise StudyFileError(f"{file} cannot be read: {reason}; bundled studies: {bundled}") from None
    except yaml.MarkedYAMLError as error:
        raise StudyFileError(f"{file} is not valid YAML: {_yaml_problem(error, text)}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or too large
        raise StudyFileError(f"{file} is not valid YAML: {' '.join(str(error).split())}; correct the file") from None
    if not isinstance(content, dict):
        raise StudyFileError(
            f"{file} has no keys of a study; write keys such as name, facts, models and measures, or begin "
            "with `swaymeter init`"
        )
    for key, value in changes.items():
        _replace_value(content, key, value)
    try:
        return StudyFile.model_validate(content, context=_validation_context(file))
    except ValidationError as error:
        raise StudyFileError(f"{file}: {'; '.join(_messages(error))}") from None


def _validation_context(file: Path) -> Mapping[str, Any]:
    """Return the validation context, with the folder that relative paths start from."""
    return {"folder": str(file.parent), "is_bundled": file.parent.resolve() == STUDIES.resolve()}


def _replace_value(content: Any, key: str, value: Any) -> None:
    *sections, last = (int(part) if part.isdecimal() else part for part in key.split("."))
    try:
        for part in sections:
            content = content[part]
        content[last] = value
    except (KeyError, IndexError, TypeError):
        raise StudyFileError(f"the study has no section for the key {key}; name a key such as models.0.name") from None


def _yaml_problem(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark or error.context_mark
    assert mark is not None
    has_tab = "\t" in "".join(text.splitlines()[mark.line : mark.line + 1])
    advice = "indent with spaces, not with tabs" if has_tab else "correct this line or the line before"
    return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem or error.context}; {advice}"


def _messages(error: ValidationError) -> list[str]:
    messages = []
    for location, message, is_unknown in problems(error):
        key = ".".join(map(str, location))
        messages.append(f"unknown key {key} ({message})" if is_unknown else f"{key}: {message}".removeprefix(": "))
    return messages
