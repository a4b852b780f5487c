"""Sentence embeddings: the mean of a BERT's last hidden states over a text's tokens, divided by its length.

As the files of sentence-transformers/all-MiniLM-L6-v2 say it; a text is cut after max_seq_length tokens (256 there).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.batches import Encoder
from swaymeter.tasks.models.files.hub import snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model
from swaymeter.tasks.models.loading import chosen_device, context_window, loaded_once, pretrained, weights_options


@dataclass(eq=False)
class Embedder(Encoder):
    """Texts become unit vectors. longest: tokens that are read of a text, its special ones included."""

    longest: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text: (n, d), each of length 1; raises ModelError if one is not finite."""
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

    Raises:
        UsageError, UnknownName: a name or device that cannot be asked for.
        ModelError: what cannot be found or loaded, or a model whose own files ask for another pooling than the mean.
    """
    return _loaded(identify_model(name, "embedder"), chosen_device(device))


@loaded_once
def _loaded(identity: ModelIdentity, device: str) -> Embedder:
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
