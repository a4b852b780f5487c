"""Small JSON files that carry their own checksum: notes and manifests, of which no changed character goes unnoticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_CHECKSUM = "sha256"


def sealed(content: Mapping[str, Any]) -> str:
    """The content as JSON with its own checksum beside its keys; `unsealed` verifies it."""
    return json.dumps({**content, _CHECKSUM: _checksum(content)}, indent=1)


def json_object(text: str | bytes) -> dict[str, Any]:
    """The object that a small JSON file holds; ValueError where it holds anything else."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    return content


def unsealed(text: str | bytes) -> dict[str, Any]:
    """The content of `sealed` JSON; ValueError where any of it changed."""
    content = json_object(text)
    if content.pop(_CHECKSUM, None) != _checksum(content):
        raise ValueError("its checksum does not match its content")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(content), sort_keys=True).encode()).hexdigest()
