"""Language models by name: loading, next-token distributions, replies and gradients. Only this package loads weights.

It runs on a bare GPU machine, because it imports no DuckDB, pandas, pyarrow or matplotlib.
The names below are resolved on first use, so that importing the package imports no torch.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "LanguageModel": "swaymeter.tasks.models.language_model",
    "load_language_model": "swaymeter.tasks.models.loading",
    "identify_language_model": "swaymeter.tasks.models.loading",
    "Embedder": "swaymeter.tasks.models.embedder",
    "load_embedder": "swaymeter.tasks.models.embedder",
    "Entailment": "swaymeter.tasks.models.entailment",
    "identify_entailment": "swaymeter.tasks.models.entailment",
    "load_entailment": "swaymeter.tasks.models.entailment",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
