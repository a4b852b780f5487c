"""Encoders, which read texts in batches with little padding, and sentence embeddings by an encoder.

An embedding is the mean of a BERT's last hidden states over the tokens of a text, normalised to unit length, as the
files of sentence-transformers/all-MiniLM-L6-v2 specify. A text is cut after max_seq_length tokens (256 for that model).
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
from swaymeter.tasks.models.pretrained import choose_device, context_window, load_once, load_pretrained, weights_options
from swaymeter.tasks.models.progress import report_prompts

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# On a CPU, twice or half as many tokens were no faster (deberta-large, float32). On a GPU the limit bounds memory: with
# 512 tokens a text, one attention matrix of that network takes 1 GiB.
TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 16384}
"""Limit of the tokens of a batch, by device."""
PADDING = 0.25
"""Limit of the share of padding in a batch."""

Tokens = Mapping[str, list[list[int]]]
"""The output of a tokenizer: input_ids, token types and masks, one list for each text."""


@dataclass(eq=False)
class Encoder:
    """A network that reads whole texts, and its tokenizer.

    Attributes:
        model: the network.
        tokenizer: the tokenizer of the network.
        name: the name of the model.
        revision: the revision of the weights.
        device: "cpu" or "cuda:N".
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    device: str
    # Truncation and padding are settings of the tokenizer itself: two threads must not change them at once.
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def _tokenize(self, *texts: list[str], **options: Any) -> Tokens:
        with self._lock:
            tokens: Tokens = self.tokenizer(*texts, **options) if texts[0] else {"input_ids": []}
        return tokens

    def _read_in_batches(self, tokens: Tokens) -> Iterator[tuple[list[int], Mapping[str, Any], Any]]:
        """Yield for each batch the indices of its texts, the tensors that were read, and the network's output."""
        for indices in batches([len(ids) for ids in tokens["input_ids"]], self.device):
            yield indices, *self._read(tokens, indices)
            report_prompts(len(indices))

    def _read(self, tokens: Tokens, indices: Sequence[int]) -> tuple[Mapping[str, Any], Any]:
        import torch

        rows = {name: [values[index] for index in indices] for name, values in tokens.items()}
        batch = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return batch, self.model(**batch)


def batches(lengths: Sequence[int], device: str) -> list[list[int]]:
    """Return indices of texts in batches, from the shortest text to the longest.

    A batch has at most TOKENS_PER_BATCH tokens, of which at most a quarter are padding. A text with more tokens is a
    batch of its own.

    Args:
        lengths: tokens of each text.
        device: "cpu" or "cuda:N".
    """
    max_tokens = TOKENS_PER_BATCH[device.partition(":")[0]]
    result: list[list[int]] = []
    unpadded = 0
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        length = lengths[index]
        padded = (len(result[-1]) + 1) * length if result else 0  # tokens of the last batch with this text
        if not result or padded > max_tokens or padded - unpadded - length > PADDING * padded:
            result.append([])
            unpadded = 0
        result[-1].append(index)
        unpadded += length
    return result


@dataclass(eq=False)
class Embedder(Encoder):
    """Encoder whose outputs are unit vectors.

    Attributes:
        longest: number of tokens, special tokens included, after which a text is cut.
    """

    longest: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, (n, d); raises ModelError for a vector that is not finite."""
        import torch

        vectors = np.zeros((len(texts), int(self.model.config.hidden_size)), dtype=np.float32)
        tokens = self._tokenize(list(texts), truncation=True, max_length=self.longest)
        for indices, batch, output in self._read_in_batches(tokens):
            mask = batch["attention_mask"].unsqueeze(-1).float()
            mean = (output.last_hidden_state.float() * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
            vectors[indices] = torch.nn.functional.normalize(mean, dim=1).cpu().numpy()
        if not np.isfinite(vectors).all():
            raise ModelError(
                f"model {self.name!r} returned an embedding that is not finite; remove the model's files and download "
                "them again"
            )
        return vectors


def load_embedder(name: str = "all-minilm-l6-v2", *, device: str = "auto") -> Embedder:
    """Load an embedder in float32, only once in a process for the same arguments.

    Args:
        name: an alias, a folder or a hub id.
        device: "cpu", "cuda", "cuda:N" or "auto".

    Raises:
        UsageError: unknown device, or an alias of another kind of model.
        UnknownName: the name cannot be an alias, a folder or a hub id.
        ModelError: the model cannot be loaded, or does not pool by the mean.
    """
    return _load(identify_model(name, "embedder"), choose_device(device))


@load_once
def _load(identity: ModelIdentity, device: str) -> Embedder:
    from transformers import AutoModel, AutoTokenizer

    # "embedded": the location is the file of weights, in the model's folder inside an installed package
    folder = Path(identity.location).parent if identity.origin == "embedded" else None
    options = weights_options("float32", device)
    model = load_pretrained(identity, AutoModel.from_pretrained, folder=folder, unused=("pooler.",), **options)
    tokenizer = load_pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    is_hub = identity.origin == "hub"
    settings_folder = folder or (
        snapshot_folder(identity.location, identity.revision) if is_hub else Path(identity.location)
    )
    if _settings(settings_folder / "1_Pooling" / "config.json").get("pooling_mode_mean_tokens", True) is not True:
        raise ModelError(f"model {identity.name!r} does not pool by the mean; use an embedder with mean pooling")
    # 512: the window of BERT, for models whose files state no limit
    limit = _settings(settings_folder / "sentence_bert_config.json").get("max_seq_length")
    longest = min(limit if isinstance(limit, int) else 512, context_window(model.config) or 512)
    return Embedder(model.eval(), tokenizer, identity.name, identity.revision, device, longest)


def _settings(file: Path) -> dict[str, Any]:
    settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return settings if isinstance(settings, dict) else {}
