"""The distributions at the steps of a known answer: the prompt and the answer are read as one text."""

import inspect
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.models.language_model import LanguageModel


@torch.inference_mode()
def mean_distribution(model: LanguageModel, prompt: Sequence[int], answer: Sequence[int]) -> NDArray[np.float32]:
    """The mean over an answer's steps of the softmax of the unscaled logits: (V,) float32, as in sampling.

    Args:
        model: the language model.
        prompt: the tokens before the answer.
        answer: its tokens, the end step included; at least one.
    """
    ids = torch.tensor([[*prompt, *answer[:-1]]], device=model.device)
    known = inspect.signature(model.model.forward).parameters
    options = {"logits_to_keep": len(answer)} if "logits_to_keep" in known else {}
    logits = model.model(input_ids=ids, use_cache=False, **options).logits[0, -len(answer) :]
    mean: NDArray[np.float32] = torch.softmax(logits.float(), dim=-1).mean(dim=0).cpu().numpy()
    return mean
