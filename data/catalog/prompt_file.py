"""prompts.yaml: the instructions for short answers."""

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


@cache
def prompts() -> CatalogPrompts:
    """The instructions for short answers, with and without a context."""
    answers = mapping("prompts.yaml", "answers")
    texts = {
        key: text("prompts.yaml", f"answers.{key}", answers.get(key)) for key in CatalogPrompts.__dataclass_fields__
    }
    for key, template in texts.items():
        wanted = set() if key == "system" else {"question"} if "without" in key else {"question", "context"}
        if set(re.findall(r"\{(\w*)\}", template)) != wanted:
            raise InputError(f"prompts.yaml: answers.{key} must have the slots {sorted(wanted)} and no other")
    return CatalogPrompts(**texts)
