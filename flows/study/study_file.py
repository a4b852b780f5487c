"""Study files: YAML read into a typed model; what is unknown or impossible is refused with the key's name."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from data.errors import StudyFileError, UnknownName
from data.measures import MEASURES, Measure, measure
from data.records import ContextKind
from flows.study.facts import FactsPart, Part, ServicePart, ServicesPart
from flows.study.questions import DisputesPart, QuestionsPart, SeedsPart

STUDIES = Path(__file__).parent.parent / "studies"


class ContextsPart(Part):
    """How many contexts of each kind are written about each entity; the published study has two of each."""

    base: int = Field(default=2, ge=0, le=1000)
    assertive: int = Field(default=2, ge=0, le=1000)
    negation: int = Field(default=2, ge=0, le=1000)

    def per_kind(self) -> dict[ContextKind, int]:
        """Contexts per entity, by kind."""
        return {"base": self.base, "assertive": self.assertive, "negation": self.negation}

    @model_validator(mode="after")
    def _some(self) -> "ContextsPart":
        if self.base + self.assertive + self.negation == 0:
            raise ValueError("every kind is 0: persuasion needs contexts")
        return self


class ModelPart(Part):
    """A language model: a catalog alias, a hub id or a folder; its number format and where it runs.

    batch_size: the prompts whose answers it samples at once; by default as many as are worth it and fit its memory.
    """

    name: str = Field(min_length=1)
    dtype: Literal["auto", "float32", "bfloat16", "float16", "8bit", "4bit"] = "auto"
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|balanced)$")
    batch_size: int | None = Field(default=None, ge=1, le=100_000)

    @field_validator("device")
    @classmethod
    def _computes(cls, device: str, others: ValidationInfo) -> str:
        if device == "cpu" and others.data.get("dtype") in ("8bit", "4bit"):
            raise ValueError(f"dtype {others.data['dtype']} is for GPUs; use device cuda, or dtype bfloat16 on the cpu")
        return device


class Study(Part):
    """A study: what is asked, of which models, with which measures."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    asks: str = ""
    seed: int = Field(default=0, ge=0, lt=2**63)  # the database keeps it as BIGINT
    workspace: str | None = None
    facts: FactsPart | None = None
    services: ServicesPart = ServicesPart()
    contexts: ContextsPart = ContextsPart()
    questions: QuestionsPart | None = None
    models: tuple[ModelPart, ...] = Field(min_length=1)
    measures: dict[str, dict[str, Any]] = Field(min_length=1)

    @field_validator("measures", mode="before")
    @classmethod
    def _known(cls, measures: Any) -> Any:
        if isinstance(measures, list) and all(isinstance(name, str) for name in measures):
            measures = dict.fromkeys(measures)
        if not isinstance(measures, dict):
            raise ValueError("expected measures with their parameters, such as `persuasion: {}`")
        known: dict[str, dict[str, Any]] = {}
        for name, parameters in measures.items():
            found = measure(str(name))
            try:
                known[found.name] = found.parameters.model_validate(parameters or {}).model_dump()
            except ValidationError as error:
                said = _what_is_wrong(error, set(found.parameters.model_fields))
                raise ValueError(f"{name}: {said}{_whose(found, parameters)}") from None
        return known

    @model_validator(mode="after")
    def _inputs(self) -> "Study":
        if len({(model.name, model.dtype) for model in self.models}) < len(self.models):
            raise ValueError("models: a model is named twice in the same dtype")
        for name in self.measures:
            if MEASURES[name].inputs != "questions" and (self.facts is None or not self.facts.relations):
                raise ValueError(f"measure {name} needs facts: name relations under `facts`")
            if MEASURES[name].inputs == "questions" and self.questions is None:
                raise ValueError(f"measure {name} needs `questions`")
        return self

    def wanted(self) -> dict[str, Measure]:
        """The measures that the study names and those they rest on, in the registry's order."""
        names = set(self.measures)
        for name in self.measures:
            names.update(MEASURES[name].needs)
        return {name: MEASURES[name] for name in MEASURES if name in names}

    def parameters(self, name: str) -> dict[str, Any]:
        """A measure's parameters: the study's, or their defaults."""
        return self.measures.get(name) or MEASURES[name].parameters().model_dump()


def read_study(path: str | Path) -> Study:
    """The study of a YAML file, or of a bundled one by its name; StudyFileError names the file and the key."""
    file = Path(path)
    try:
        if not file.exists() and (STUDIES / f"{path}.yaml").exists():
            file = STUDIES / f"{path}.yaml"
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        bundled = ", ".join(sorted(found.stem for found in STUDIES.glob("*.yaml")))
        raise StudyFileError(f"{file} cannot be read: {error.strerror}; bundled studies: {bundled}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise StudyFileError(f"{file} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise StudyFileError(f"{file} holds no study: expected keys such as name, facts, models, measures")
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise StudyFileError(f"{file}: {_what_is_wrong(error, _keys(Study))}") from None
    except UnknownName as error:
        raise StudyFileError(f"{file}: {error}") from None


def _keys(part: type[BaseModel]) -> set[str]:
    parts = (FactsPart, ServicesPart, ServicePart, ContextsPart, QuestionsPart, SeedsPart, DisputesPart, ModelPart)
    return set(part.model_fields).union(*(set(other.model_fields) for other in parts))


def _whose(found: Measure, parameters: Any) -> str:
    """Where a key belongs that is none of the measure's parameters but one of those that it rests on."""
    unknown = set(parameters) - set(found.parameters.model_fields) if isinstance(parameters, dict) else set()
    return "".join(
        f"; {key} is a parameter of {need}"
        for need in found.needs
        for key in sorted(unknown, key=str)
        if key in MEASURES[need].parameters.model_fields
    )


def _what_is_wrong(error: ValidationError, known: set[str] | None = None) -> str:
    said = []
    for problem in error.errors():
        key = ".".join(str(step) for step in problem["loc"])
        if problem["type"] == "extra_forbidden":
            hint = str(UnknownName("key", str(problem["loc"][-1]), known or ())).partition("; ")[2]
            said.append(f"unknown key {key}" + (f" ({hint})" if known else ""))
        else:
            said.append(f"{key}: {problem['msg'].removeprefix('Value error, ')}".removeprefix(": "))
    return "; ".join(said)
