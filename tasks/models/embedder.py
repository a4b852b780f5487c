"""Networks that read texts in batches with little padding, and sentence embeddings.

An embedding is the mean of a BERT's last hidden states over a text's tokens, divided by its length, as the files of
sentence-transformers/all-MiniLM-L6-v2 say it; a text is cut after max_seq_length tokens (256 there).
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.files.hub import snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model
from swaymeter.tasks.models.loading import chosen_device, context_window, loaded_once, pretrained, weights_options

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# On a CPU, twice as many or half as many were no faster with a network in deberta-large's shape, float32. On a GPU the
# bound is for memory: with 512 tokens a text, one matrix of that network's attention takes 1 GiB.
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 16384}
PADDING = 0.25

Tokens = Mapping[str, list[list[int]]]
"""What a tokenizer makes of texts: their input_ids, token types and masks, a list for each text."""


@dataclass(eq=False)
class Encoder:
    """A network that reads whole texts, and its tokenizer. device: where the network is, "cpu" or "cuda:N"."""

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    device: str
    # Truncation and padding are settings of the tokenizer itself: two threads must not change them at once.
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def _tokenized(self, *texts: list[str], **options: Any) -> Tokens:
        with self._lock:
            tokens: Tokens = self.tokenizer(*texts, **options) if texts[0] else {"input_ids": []}
        return tokens

    def _read_in_batches(self, tokens: Tokens) -> Iterator[tuple[list[int], Mapping[str, Any], Any]]:
        """The places of the texts of a batch, what the network read, and what it gave; batch by batch."""
        for places in batches([len(ids) for ids in tokens["input_ids"]], self.device):
            yield places, *self._read(tokens, places)

    def _read(self, tokens: Tokens, places: Sequence[int]) -> tuple[Mapping[str, Any], Any]:
        import torch

        rows = {name: [values[place] for place in places] for name, values in tokens.items()}
        batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return batch, self.model(**batch)


def batches(lengths: Sequence[int], device: str) -> list[list[int]]:
    """The places of texts of these lengths, in tokens, in batches, from the shortest text to the longest.

    A batch has at most as many tokens as suit the device, a quarter of them padding; a longer text is alone.
    """
    most = TOKENS_PER_BATCH[device.partition(":")[0]]
    result: list[list[int]] = []
    unpadded = 0
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        length = lengths[place]
        padded = (len(result[-1]) + 1) * length if result else 0
        if not result or padded > most or padded - unpadded - length > PADDING * padded:
            result.append([])
            unpadded = 0
        result[-1].append(place)
        unpadded += length
    return result


@dataclass(eq=False)
class Embedder(Encoder):
    """Texts become unit vectors. longest: tokens that are read of a text, its special ones included."""

    longest: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text: (n, d), each of length 1; raises ModelError if one is not finite."""
        import torch

        vectors = np.zeros((len(texts), int(self.model.config.hidden_size)), dtype=np.float32)
        tokens = self._tokenized(list(texts), truncation=True, max_length=self.longest)
        for places, batch, output in self._read_in_batches(tokens):
            mask = batch["attention_mask"].unsqueeze(-1).float()
            mean = (output.last_hidden_state.float() * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
            vectors[places] = torch.nn.functional.normalize(mean, dim=1).cpu().numpy()
        if not np.isfinite(vectors).all():
            raise ModelError(f"model {self.name!r} gave an embedding that is not finite")
        return vectors


def load_embedder(name: str = "all-minilm-l6-v2", *, device: str = "auto") -> Embedder:
    """The embedder of that name (alias, folder or hub id) in float32, loaded when it is first asked for.

    UsageError or UnknownName for a name or device, ModelError for what cannot be loaded or does not pool by the mean.
    """
    return _loaded(identify_model(name, "embedder"), chosen_device(device))


@loaded_once
def _loaded(identity: ModelIdentity, device: str) -> Embedder:
    from transformers import AutoModel, AutoTokenizer

    folder = Path(identity.location).parent if identity.kind == "embedded" else None
    options = weights_options("float32", device)
    model = pretrained(identity, AutoModel.from_pretrained, folder=folder, unused=("pooler.",), **options)
    tokenizer = pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    hub = identity.kind == "hub"
    files = folder or (snapshot_folder(identity.location, identity.revision) if hub else Path(identity.location))
    if _settings(files / "1_Pooling" / "config.json").get("pooling_mode_mean_tokens", True) is not True:
        raise ModelError(f"model {identity.name!r} does not pool by the mean; only mean pooling is known here")
    stated = _settings(files / "sentence_bert_config.json").get("max_seq_length")
    longest = min(stated if isinstance(stated, int) else 512, context_window(model.config) or 512)
    return Embedder(model.eval(), tokenizer, identity.name, identity.revision, device, longest)


def _settings(file: Path) -> dict[str, Any]:
    settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return settings if isinstance(settings, dict) else {}
