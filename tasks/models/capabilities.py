"""What a model can give to a measure, and the backend that gives it. Importing this imports no torch.

    next_token_logits   full-vocabulary distributions of the next token    persuasion, susceptibility
    samples             sampled and greedy answers with log-probabilities  semantic entropy, accuracy
    answer_scores       log-probabilities of given answers                 answer sets
    gradients           with respect to input embeddings                   Fisher susceptibility

A backend is one module that declares a `Backend`, named in `BACKENDS` of tasks/models/backends.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from tasks.models.identity import ModelIdentity

if TYPE_CHECKING:
    from tasks.models.language_model import LanguageModel

Capability = Literal["next_token_logits", "samples", "answer_scores", "gradients"]
ALL_CAPABILITIES: frozenset[Capability] = frozenset(get_args(Capability))


@dataclass(frozen=True)
class Backend:
    """A way to run language models.

    Attributes:
        name: of the backend.
        accepts: (model name) -> whether this backend serves it; must not open the network.
        capabilities: what its models can give.
        identify: (model name) -> which model the name stands for, in which revision, without its weights.
        load: (identity, dtype, device) -> the loaded model; dtype and device as `load_language_model` takes them.
    """

    name: str
    accepts: Callable[[str], bool]
    capabilities: frozenset[Capability]
    identify: Callable[[str], ModelIdentity]
    load: Callable[[ModelIdentity, str, str], "LanguageModel"]


def capabilities(name: str) -> frozenset[Capability]:
    """What the language model of that name can give, known without its weights.

    Quantised weights (8bit, 4bit) take nothing away: gradients go to the input embeddings, which are not quantised, and
    bitsandbytes passes them through its layers.

    Raises:
        UnknownName: no backend accepts the name.
    """
    from tasks.models.backends import backend_of  # whose list names modules that import this one

    return backend_of(name).capabilities
