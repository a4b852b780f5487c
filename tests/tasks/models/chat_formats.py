"""Tiny random models with the chat formats of families of models.

The formats are those of the families' documentation; the templates are written for these tests. A tokenizer has
tokens for characters or bytes, and the control tokens of its family. A family decides how a conversation is written,
which marks are tokens, and which tokens end an answer.
"""

from pathlib import Path
from typing import Any

import yaml
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from swaymeter.tasks.models import LanguageModel
from tests.tasks.models.tiny import byte_tokenizer, tiny_language_model

CHAT_FORMATS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())


def chat_model(name: str, *, window: int = 2048) -> LanguageModel:
    """Return a random model with the tokenizer and the chat template of a family."""
    form = CHAT_FORMATS[name]
    tokenizer = _character_tokenizer() if form.get("sentencepiece") else byte_tokenizer()
    tokenizer.add_special_tokens({"bos_token": form["start"], "eos_token": form["end"]})
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in form["control"]])
    tokenizer.chat_template = form["template"]
    model = tiny_language_model(tokenizer=tokenizer, window=window)
    model.model.config.eos_token_id = model.model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model


def _character_tokenizer() -> PreTrainedTokenizerFast:
    characters = ["▁", *(chr(code) for code in range(33, 127))]
    merges = [("▁", "t"), ("▁t", "h"), ("▁th", "e"), ("s", "t"), ("O", "s"), ("Os", "l"), ("Osl", "o")]
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = ["<unk>", *byte_tokens, *characters, *(left + right for left, right in merges)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<unk>")
