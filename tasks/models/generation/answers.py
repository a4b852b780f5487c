"""Where an answer ends, and the distributions along a known answer."""

import inspect
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Answer
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.answer_ends import end_tokens
from swaymeter.tasks.models.prompts.template_options import PromptForm


class Ends:
    """The end of an answer: an end token, and in the plain form also a line's end.

    header: what stands before an answer in its own turn, which its text is without.
    """

    def __init__(self, model: Network, form: PromptForm, header: str = "") -> None:
        self._header = header
        self._tokens = end_tokens(model)
        self._at_newline = form == "plain"
        self._tokenizer = model.tokenizer
        self._known: dict[int, bool] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Whether the last of these tokens is an answer's last."""
        token = tokens[-1]
        if token not in self._known:
            breaks_line = self._at_newline and "\n" in str(self._tokenizer.decode([token]))
            self._known[token] = token in self._tokens or breaks_line
        return self._known[token]

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """The answer of these tokens."""
        return Answer(self.text(tokens), tokens, log_probs, mean_distribution, self.ends(tokens))

    def text(self, tokens: tuple[int, ...]) -> str:
        """The text of an answer."""
        text = str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))
        if self._header:
            text = text.lstrip().removeprefix(self._header)
        return (text.partition("\n")[0] if self._at_newline else text).strip()


@torch.inference_mode()
def mean_distribution(model: Network, prompt: Sequence[int], answer: Sequence[int]) -> NDArray[np.float32]:
    """The mean of the unscaled softmax over a known answer's steps, its end step included, at least one: (V,)."""
    ids = torch.tensor([[*prompt, *answer[:-1]]], device=model.device)
    known = inspect.signature(model.model.forward).parameters
    options = {"logits_to_keep": len(answer)} if "logits_to_keep" in known else {}
    logits = model.model(input_ids=ids, use_cache=False, **options).logits[0, -len(answer) :]
    mean: NDArray[np.float32] = torch.softmax(logits.float(), dim=-1).mean(dim=0).cpu().numpy()
    return mean
