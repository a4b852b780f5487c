"""A relations.yaml with one sound relation, and the same with one thing changed."""

import copy
import re
from typing import Any

import pytest
import yaml

from data import catalog
from data.errors import InputError
from tests.data.catalog.conftest import Serve

CAPITAL = "http://yago-knowledge.org/resource/capital"
SOUND: dict[str, Any] = {
    "wikidata": "P36",
    "yago": CAPITAL,
    "subject_class": "country",
    "object_class": "city",
    "open": ["Q: What is the capital of {entity}?\nA:", "The capital of {entity} is"],
    "closed": ["Q: Is {answer} the capital of {entity}?\nA:", "Q: Does {entity} have {answer} as its capital?\nA:"],
    "contexts": {
        "base": ["The capital of {entity} is {answer}.\n"],
        "assertive": ["Without any doubt, the capital of {entity} is {answer}.\n"],
        "negation": ["The capital of {entity} is not {answer}.\n"],
    },
}
MISSING = object()


def file(**relations: dict[str, Any]) -> str:
    """The text of a relations.yaml with those relations."""
    return yaml.safe_dump({"source": "A test.", "licence": "None.", "relations": relations}, sort_keys=False)


def changed(key: str, value: object) -> dict[str, Any]:
    """The sound relation with another value, or none, at a key such as contexts.base[0]."""
    entry: Any = copy.deepcopy(SOUND)
    *path, last = [int(step) if step.isdigit() else step for step in key.replace("[", ".").replace("]", "").split(".")]
    inner = entry
    for step in path:
        inner = inner[step]
    if value is MISSING:
        del inner[last]
    else:
        inner[last] = value
    return dict(entry)


def assert_refused(serve: Serve, content: str, key: str, reason: str) -> None:
    """The file is refused, with a message that begins with its name and the key and gives the reason (a pattern)."""
    serve("relations.yaml", content)
    with pytest.raises(InputError) as refused:
        catalog.relations()
    assert str(refused.value).startswith(f"relations.yaml: {key}")
    assert re.search(reason.replace("{", r"\{").replace("}", r"\}"), str(refused.value)), refused.value
