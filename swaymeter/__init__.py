"""Measures of how far a context sways a language model away from what it already believes, fact by fact.

Names are loaded when they are first used: `import swaymeter` alone imports neither torch nor transformers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swaymeter.flows.api import Results, Study
    from swaymeter.flows.notebook import Audit, audit, compare, open
    from swaymeter.tasks.models.applications import Passage
    from swaymeter.tasks.models.loading import load_language_model as load
    from swaymeter.tasks.scoring.coherent_persuasion import coherent_persuasion
    from swaymeter.tasks.scoring.fisher import fisher_susceptibility
    from swaymeter.tasks.scoring.followed import whose_answer
    from swaymeter.tasks.scoring.persuasion import persuasion
    from swaymeter.tasks.scoring.semantic_entropy import group_answers, semantic_entropy

__all__ = [
    "Audit",
    "Passage",
    "Results",
    "Study",
    "audit",
    "coherent_persuasion",
    "compare",
    "fisher_susceptibility",
    "group_answers",
    "load",
    "open",
    "persuasion",
    "semantic_entropy",
    "whose_answer",
]

_DEFINITIONS = {
    "load": ("swaymeter.tasks.models", "load_language_model"),
    "persuasion": ("swaymeter.tasks.scoring.persuasion", "persuasion"),
    "fisher_susceptibility": ("swaymeter.tasks.scoring.fisher", "fisher_susceptibility"),
    "semantic_entropy": ("swaymeter.tasks.scoring.semantic_entropy", "semantic_entropy"),
    "coherent_persuasion": ("swaymeter.tasks.scoring.coherent_persuasion", "coherent_persuasion"),
    "group_answers": ("swaymeter.tasks.scoring.semantic_entropy", "group_answers"),
    "whose_answer": ("swaymeter.tasks.scoring.followed", "whose_answer"),
    "Passage": ("swaymeter.tasks.models.applications", "Passage"),
    **{name: ("swaymeter.flows.api", name) for name in ("Results", "Study")},
    **{name: ("swaymeter.flows.notebook", name) for name in ("Audit", "audit", "compare", "open")},
}
"""The module of each public name, and its name in this module."""


def __getattr__(name: str) -> Any:
    if name not in _DEFINITIONS:
        raise AttributeError(f"module 'swaymeter' has no attribute {name!r}; it has {', '.join(__all__)}")
    module, name_in_module = _DEFINITIONS[name]
    return getattr(import_module(module), name_in_module)


def __dir__() -> list[str]:
    return __all__
