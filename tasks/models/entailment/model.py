"""An entailment model of transformers as the judge of equivalence."""

import math
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from data.errors import ModelError
from tasks.models.batches import Recent, batches
from tasks.models.entailment.judge import Entailment, Pair
from tasks.models.loading import context_window

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CLOSE_LOGITS = 1e-3  # far above what batches differ by in float32, about 1e-5
REMEMBERED = 100_000


@dataclass(eq=False)
class EntailmentModel(Entailment):
    """An entailment model; which of its labels is entailment is read from its configuration.

    model: in float32; device: where it is, "cpu" or "cuda:N". The last 100,000 judgements are remembered.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    device: str
    _judged: Recent[Pair, bool] = field(default_factory=lambda: Recent(REMEMBERED), init=False, repr=False)
    # Truncation and padding are settings of the tokenizer itself: two threads must not change them at once.
    _tokenizing: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        labels = self.model.config.id2label or {}
        places = [int(place) for place, label in labels.items() if label.strip().casefold() == "entailment"]
        if len(places) != 1 or len(labels) < 2:
            raise ModelError(
                f"model {self.name!r} has the labels {list(labels.values())}; one of two or more has to be entailment: "
                "use a model trained for natural language inference, or name an embedder as its stand-in"
            )
        (self._entailment,) = places

    def _equivalent(self, pairs: Collection[Pair]) -> set[Pair]:
        """The pairs of which each text entails the other.

        First comes from the shorter text to the longer, the direction that is more often no entailment; the other one
        is judged only where it can still change anything.
        """
        forth = self._entailing(pairs)
        return {(shorter, longer) for longer, shorter in self._entailing([(b, a) for a, b in pairs if (a, b) in forth])}

    def _entailing(self, pairs: Collection[Pair]) -> set[Pair]:
        """The pairs whose first text entails the second."""
        entails = {pair: self._judged.get(pair) for pair in pairs}
        for pair, verdict in self._verdicts([pair for pair, verdict in entails.items() if verdict is None]):
            entails[pair] = verdict
            self._judged.put(pair, verdict)
        return {pair for pair, verdict in entails.items() if verdict}

    def _verdicts(self, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, bool]]:
        tokens = self._tokenized(pairs) if pairs else {"input_ids": []}
        for places in batches([len(ids) for ids in tokens["input_ids"]], self.device):
            for place, margin in zip(places, self._margins(tokens, places), strict=True):
                if abs(margin) < CLOSE_LOGITS and len(places) > 1:
                    (margin,) = self._margins(tokens, [place])
                if math.isnan(margin):
                    raise ModelError(f"model {self.name!r} gave {pairs[place]!r} a score that is not finite")
                yield pairs[place], margin > 0

    def _tokenized(self, pairs: Sequence[Pair]) -> Mapping[str, list[list[int]]]:
        premises, hypotheses = (list(side) for side in zip(*pairs, strict=True))
        with self._tokenizing:
            tokens: Mapping[str, list[list[int]]] = self.tokenizer(premises, hypotheses)
        lengths = [len(ids) for ids in tokens["input_ids"]]
        window = min(context_window(self.model.config) or math.inf, self.tokenizer.model_max_length)
        if max(lengths) > window:
            longest = int(np.argmax(lengths))
            raise ModelError(
                f"model {self.name!r} reads {window} tokens, too few for the {lengths[longest]} of the pair "
                f"{pairs[longest]!r}; let answers be shorter, or name another entailment model"
            )
        return tokens

    def _margins(self, tokens: Mapping[str, list[list[int]]], places: Sequence[int]) -> list[float]:
        """How far entailment is above the best other label, for each; NaN where a label's score is not finite."""
        import torch

        rows = {name: [values[place] for place in places] for name, values in tokens.items()}
        batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            logits = self.model(**batch).logits
            others = logits.clone()
            others[:, self._entailment] = -math.inf
            margins = logits[:, self._entailment] - others.amax(dim=1)
            margins = margins.masked_fill(~torch.isfinite(logits).all(dim=1), math.nan)
        values: list[float] = margins.tolist()
        return values
