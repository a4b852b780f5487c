"""The plain engine: complete prompts, padded on the left and read in batches, without a KV cache.

Prompts are sorted by length and never cut, and only the last position goes through the output matrix.
"""

import inspect
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.models.language_model import LanguageModel
from tasks.models.memory import Halving
from tasks.scoring.next_token.prompts import Tokens, shortened

BATCH = 32


def read_plain(model: LanguageModel, prompts: Sequence[Tokens], *, batch_size: int = BATCH) -> torch.Tensor:
    """The logits after prompts, (n, V), in the model's dtype, on its device; ScoreError where none fits the memory."""
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    parts: list[torch.Tensor] = []
    done = 0
    halving = Halving(model, "prompts are read", batch_size)
    while done < len(order):
        batch = [prompts[place] for place in order[done : done + halving.amounts[0]]]
        with halving.attempt(len(batch), smallest=partial(_single, model, batch[0])):
            parts.append(_read(model, batch))
            done += len(batch)
    back = sorted(range(len(order)), key=lambda row: order[row])
    return torch.cat(parts)[back]


def _single(model: LanguageModel, prompt: Tokens) -> str:
    return f"a single prompt, of {len(prompt)} tokens, {shortened(str(model.tokenizer.decode(list(prompt))))}"


def left_padded(tokens: Sequence[Tokens], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the left, and the mask of what is not padding: both (n, longest), int64."""
    longest = max(map(len, tokens))
    ids: NDArray[np.int64] = np.zeros((len(tokens), longest), dtype=np.int64)
    mask: NDArray[np.int64] = np.zeros((len(tokens), longest), dtype=np.int64)
    for row, ids_of_prompt in enumerate(tokens):
        ids[row, longest - len(ids_of_prompt) :] = ids_of_prompt
        mask[row, longest - len(ids_of_prompt) :] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def forward_options(model: LanguageModel, mask: torch.Tensor) -> dict[str, object]:
    """The arguments of a padded batch besides its ids, as far as this model's forward has them.

    Positions count from each prompt's own first token; a model without them reads the padding as text.
    """
    known = inspect.signature(model.model.forward).parameters
    options: dict[str, object] = {"attention_mask": mask}
    if "position_ids" in known:
        options["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)
    if "logits_to_keep" in known:
        options["logits_to_keep"] = 1
    return options


@torch.inference_mode()
def _read(model: LanguageModel, tokens: Sequence[Tokens]) -> torch.Tensor:
    ids, mask = left_padded(tokens, model.device)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **forward_options(model, mask)).logits
    return logits[:, -1].clone()  # a view would keep the logits of all positions alive
