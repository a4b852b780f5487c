"""prompts.yaml: the instructions for short answers, and for the question of a dispute."""

import re
from dataclasses import dataclass
from functools import cache

from data.catalog.reading import mapping, text
from data.errors import InputError


@dataclass(frozen=True)
class CatalogPrompts:
    """Short-answer instructions with slots {question} and {context}; plain_*: for models without a chat form."""

    system: str
    with_context: str
    without_context: str
    plain_with_context: str
    plain_without_context: str


@dataclass(frozen=True)
class DisputePrompt:
    """How a model is asked for a question, in chat form and in the plain one; slots {page}, {sentence}, {answer}."""

    chat: str
    plain: str


@cache
def prompts() -> CatalogPrompts:
    """The instructions for short answers, with and without a context."""
    answers = mapping("prompts.yaml", "answers")
    texts = {
        key: text("prompts.yaml", f"answers.{key}", answers.get(key)) for key in CatalogPrompts.__dataclass_fields__
    }
    for key, template in texts.items():
        slots = set() if key == "system" else {"question"} if "without" in key else {"question", "context"}
        if set(re.findall(r"\{(\w*)\}", template)) != slots:
            raise InputError(f"prompts.yaml: answers.{key} must have the slots {sorted(slots)} and no other")
    return CatalogPrompts(**texts)


@cache
def dispute_prompt() -> DisputePrompt:
    """How a model is asked for the question of a dispute; raises InputError for a prompt with other slots."""
    entries = mapping("prompts.yaml", "disputes")
    prompts = {
        key: text("prompts.yaml", f"disputes.{key}", entries.get(key)) for key in DisputePrompt.__dataclass_fields__
    }
    for key, prompt in prompts.items():
        if sorted(re.findall(r"\{(\w*)\}", prompt)) != ["answer", "page", "sentence"]:
            raise InputError(f"prompts.yaml: disputes.{key} must have the slots page, sentence and answer, each once")
    return DisputePrompt(**prompts)
