"""An entailment model of transformers as the judge of equivalence."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from data.errors import ModelError
from tasks.models.batches import Encoder
from tasks.models.entailment.judge import Entailment, Pair
from tasks.models.loading import context_window

CLOSE_LOGITS = 1e-3  # far above what batches differ by in float32, about 1e-5
REMEMBERED = 100_000


@dataclass(eq=False)
class EntailmentModel(Encoder, Entailment):
    """An entailment model in float32, whose configuration says which label is entailment; it remembers judgements."""

    _judged: dict[Pair, bool] = field(default_factory=dict, init=False, repr=False)

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
        # From the shorter text to the longer is more often no entailment: then the other direction changes nothing.
        forth = self._entailing(pairs)
        back = self._entailing([(longer, shorter) for shorter, longer in pairs if (shorter, longer) in forth])
        return {(shorter, longer) for longer, shorter in back}

    def _entailing(self, pairs: Collection[Pair]) -> set[Pair]:
        """The pairs whose first text entails the second."""
        known = {pair: entails for pair in pairs if (entails := self._judged.get(pair)) is not None}
        judged = dict(self._verdicts([pair for pair in pairs if pair not in known]))
        with self._lock:
            self._judged |= judged
            for pair in list(islice(self._judged, max(0, len(self._judged) - REMEMBERED))):
                del self._judged[pair]
        return {pair for pair, entails in (known | judged).items() if entails}

    def _verdicts(self, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, bool]]:
        tokens = self._tokenized([premise for premise, _ in pairs], [hypothesis for _, hypothesis in pairs])
        lengths = [len(ids) for ids in tokens["input_ids"]]
        window = min(context_window(self.model.config) or math.inf, self.tokenizer.model_max_length)
        if max(lengths, default=0) > window:
            longest = int(np.argmax(lengths))
            raise ModelError(
                f"model {self.name!r} reads {window} tokens, too few for the {lengths[longest]} of the pair "
                f"{pairs[longest]!r}; let answers be shorter, or name another entailment model"
            )
        for places, _, output in self._read_in_batches(tokens):
            for place, margin in zip(places, self._margins(output.logits), strict=True):
                if abs(margin) < CLOSE_LOGITS and len(places) > 1:
                    (margin,) = self._margins(self._read(tokens, [place])[1].logits)
                if math.isnan(margin):
                    raise ModelError(f"model {self.name!r} gave {pairs[place]!r} a score that is not finite")
                yield pairs[place], margin > 0

    def _margins(self, logits: Any) -> list[float]:
        """How far entailment is above the best other label, for each; NaN where a label's score is not finite."""
        others = logits.clone()
        others[:, self._entailment] = -math.inf
        margins = logits[:, self._entailment] - others.amax(dim=1)
        values: list[float] = margins.masked_fill(~logits.isfinite().all(dim=1), math.nan).tolist()
        return values
