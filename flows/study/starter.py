"""A first study file: the keys that people change first, each with what it means, as the models say it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from swaymeter.data.errors import UsageError
from swaymeter.data.options import Options
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.study.sections.contexts import ContextsPart
from swaymeter.flows.study.sections.execution import ExecutionPart
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.flows.study.sections.prompt import PromptPart
from swaymeter.flows.study.sections.services import ServicesPart
from swaymeter.flows.study.study import Study
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses

SCHEMA = "swaymeter.schema.json"
"""The file beside a study in which editors look for the schema."""
CONTENT: Mapping[str, Any] = {
    "name": "study",
    "asks": "Are invented countries swayed more easily than real ones?",
    "seed": 0,
    "workspace": None,
    "facts": {
        "source": "sample", "relations": ["capital", "officialLanguage"], "real_entities": 4, "invented_entities": 4,
        "choice": "random", "invented": "catalog",
    },
    "contexts": {"base": 1, "assertive": 1, "negation": 1},
    "questions": {"source": "sample", "partitions": ["static", "temporal", "disputable"], "per_partition": 3},
    "prompt": {"form": "default", "system": None},
    "models": [{"name": "smollm2-135m-instruct", "dtype": "float32", "device": "auto"}],
    "execution": {"runner": "threads"},
    "measures": {
        "persuasion": {}, "susceptibility": {}, "answers": {"samples": 5, "max_new_tokens": 10, "temperature": 0.5},
        "clusters": {"entailment": "all-minilm-l6-v2"}, "semantic_entropy": {}, "accuracy": {}, "whose_answer": {},
    },
    "entropy_classes": {"bounds": None},
    "services": {"contact": None, "cache": None},
}  # fmt: skip
"""A study that the bundled models finish within three minutes on two processor cores."""
SECTIONS: Mapping[str, type[Options]] = {
    "facts": FACT_SOURCES[CONTENT["facts"]["source"]].options,
    "contexts": ContextsPart,
    "questions": QUESTION_SOURCES[CONTENT["questions"]["source"]].options,
    "prompt": PromptPart,
    "models": ModelPart,
    "execution": ExecutionPart,
    "entropy_classes": EntropyClasses,
    "services": ServicesPart,
    **{f"measures.{name}": measure.parameters for name, measure in MEASURES.items()},
}
INSTEAD = {
    "facts.source": f"Where they come from: {', '.join(FACT_SOURCES)}; `swaymeter sources` explains them.",
    "questions.source": f"Where they come from: {', '.join(QUESTION_SOURCES)}; `swaymeter sources` explains them.",
    **{
        f"measures.{name}": f"{measure.meaning[:1].upper()}{measure.meaning[1:]}." for name, measure in MEASURES.items()
    },
}
"""Descriptions in place of those of the models."""


def write_starter(file: Path) -> None:
    """Writes the study file, named after itself; UsageError where it exists already or cannot be written."""
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:64] or CONTENT["name"]
    schema = f"# yaml-language-server: $schema={SCHEMA}\n" if (file.parent / SCHEMA).exists() else ""
    try:
        with file.open("x", encoding="utf-8") as handle:
            handle.write(schema + starter({**CONTENT, "name": name}, str(file)))
    except FileExistsError:
        raise UsageError(f"{file} exists already, and is left as it is; name another file") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; name another file") from None


def starter(content: Mapping[str, Any], file: str) -> str:
    """The study file as text."""
    head = ["# A study: what is asked, of which models, with which measures. docs/study-file.md has every key.", ""]
    end = ["", f"# Run it: swaymeter run {file}", f"# What it would do: swaymeter run {file} --dry-run", ""]
    return "\n".join([*head, *_lines(content), *end])


def _lines(content: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """A line for each key of a section, with its description; sections are indented and lists of them dashed."""
    for key, value in content.items():
        here = f"{place}.{key}" if place else key
        if not place and isinstance(value, dict | list):
            yield ""
        if isinstance(value, dict) and value:
            yield f"{key}: # {_description(here)}"
            yield from _indented(_lines(value, here))
        elif isinstance(value, list) and isinstance(value[0], dict):
            yield f"{key}: # {_description(here)}"
            for item in value:
                first, *more = _lines(item, here)
                yield from (f"  - {first}", *_indented(_indented(iter(more))))
        else:
            yield f"{key}: {_yaml(value)} # {_description(here)}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _description(place: str) -> str:
    section, _, key = place.rpartition(".")
    if place in INSTEAD:
        return INSTEAD[place]
    description = (SECTIONS[section] if section else Study).model_fields[key].description
    return " ".join((description or "").split())


def _yaml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    is_plain = isinstance(value, str) and re.fullmatch(r"[\w -]+\??", value) and yaml.safe_load(value) == value
    return str(value) if is_plain else json.dumps(value)
