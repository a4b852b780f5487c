"""Names become loaded models: language models, entailment, embeddings. The only room that loads weights.

Imports torch, transformers, numpy, data.errors and data.catalog; nothing that a bare GPU machine lacks. The names below
are looked up when they are used, so that asking for a model's identity does not import torch.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "LanguageModel": "tasks.models.language_model",
    "load_language_model": "tasks.models.language_model",
    "identify_language_model": "tasks.models.identity",
    "ModelIdentity": "tasks.models.identity",
    "Embedder": "tasks.models.embedder",
    "load_embedder": "tasks.models.embedder",
    "Entailment": "tasks.models.entailment",
    "identify_entailment": "tasks.models.entailment",
    "load_entailment": "tasks.models.entailment",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
