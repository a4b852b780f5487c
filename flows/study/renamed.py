"""Keys of study files that have another name now: they are refused with the new one."""

from collections.abc import Iterator
from typing import Any

RENAMED = {
    "services.*.requests_a_minute": "requests_per_minute",
    "services.*.age_days": "cache_ttl_days",
    "services.*.requests": "max_requests",
    "services.*.minutes": "max_minutes",
    "services.*.at_once": "max_concurrency",
    "facts.cited": "citation",
    "facts.names_not_in": "absent_from",
    "questions.seeds": "triples",
    "questions.seeds.each": "per_property",
    "questions.triples.each": "per_property",
    "questions.words": "snippet_words",
    "questions.disputes.most": "max_pages",
    "questions.disputes.listed_on": "list_page",
    "questions.disputes.span": "max_span_words",
    "measures.answers.entailment": "measures.clusters.entailment",
    "measures.answers.entailment_with_question": "measures.clusters.entailment_with_question",
    "measures.answers.threshold": "measures.clusters.threshold",
    "measures.answers.half_samples": "it under measures.semantic_entropy and measures.coherent_persuasion",
}
"""The old key with the sections around it, `*` for any one key, and the new name."""


def renamed_keys(content: Any) -> Iterator[str]:
    """What to write in place of each renamed key of a study file's content."""
    for pattern, name in RENAMED.items():
        for place in _places(content, pattern.split("."), ()):
            yield f"{'.'.join(place)} was renamed; write {name}"


def _places(content: Any, pattern: list[str], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not pattern:
        yield above
    elif isinstance(content, dict):
        for key in list(content) if pattern[0] == "*" else [pattern[0]]:
            if key in content:
                yield from _places(content[key], pattern[1:], (*above, str(key)))
