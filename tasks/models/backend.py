"""What a model can give to a measure, and the backend that gives it.

    next_token_logits   full-vocabulary distributions of the next token    persuasion, susceptibility
    samples             sampled and greedy answers with log-probabilities  semantic entropy, accuracy
    answer_scores       log-probabilities of given answers                 answer sets
    gradients           with respect to input embeddings                   Fisher susceptibility

A backend is one module that declares a `Backend`, named in `BACKENDS` of tasks/models/backends.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from swaymeter.tasks.models.files.identity import ModelIdentity
from swaymeter.tasks.models.language_model import LanguageModel

Capability = Literal["next_token_logits", "samples", "answer_scores", "gradients"]


@dataclass(frozen=True)
class Backend:
    """A way to run language models.

    Attributes:
        accepts: (model name) -> whether this backend serves it; must not open the network.
        capabilities: what its models can give.
        identify: (model name) -> which model the name stands for, in which revision, without its weights.
        load: (identity, dtype, device) -> the loaded model; dtype and device as `load_language_model` takes them.
    """

    accepts: Callable[[str], bool]
    capabilities: frozenset[Capability]
    identify: Callable[[str], ModelIdentity]
    load: Callable[[ModelIdentity, str, str], LanguageModel]
