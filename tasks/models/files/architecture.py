"""Whether a model writes from left to right, as its config.json says, before its weights are loaded or downloaded.

What a configuration does not show is found once the weights are there: see tasks/models/backends.py.
"""

import re
from collections.abc import Mapping
from typing import Any

from swaymeter.data.errors import ModelError

# Names of architectures, in the order in which they are looked for, and what these are.
_KINDS = {
    "ForMaskedLM$": "a masked language model, which fills gaps in a text that it reads whole",
    "For(Sequence|Token|Image|Audio)Classification$": "a classifier",
    "For(QuestionAnswering|MultipleChoice|NextSentencePrediction)$": "a model for one task",
    "^XLNet": "a permutation language model",
    "Encoder(Model)?$": "an encoder",
    "^(?!.*Decoder).*([Bb]ert|BigBird(?!Pegasus)|Electra|MPNet|Data2VecText|Ernie(For|Model)|RoFormer|Longformer)": (
        "an encoder, which reads a text in both directions"
    ),
}
_INSTEAD = "use a language model that writes from left to right, such as smollm2-135m-instruct"


def check_left_to_right(name: str, config: Mapping[str, Any]) -> None:
    """Raises ModelError where a configuration, as config.json holds it, is not of a left-to-right language model."""
    for architecture in map(str, config.get("architectures") or [config.get("model_type")]):
        kind = next((kind for pattern, kind in _KINDS.items() if re.search(pattern, architecture)), None)
        if config.get("is_encoder_decoder"):
            kind = "an encoder-decoder, which reads a prompt in one part and answers in another"
        elif config.get("is_decoder") and not architecture.endswith("ForMaskedLM"):
            kind = None
        if kind is not None:
            raise ModelError(f"model {name!r} is {kind} ({architecture}); {_INSTEAD}")


def not_left_to_right(name: str, architecture: str) -> ModelError:
    """The error about a loaded model whose answers depend on what stands behind them."""
    return ModelError(f"model {name!r} reads a text in both directions ({architecture}); {_INSTEAD}")
