"""Tiny random models, and their tokenizers: a token per byte, or tokens of merged bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)

from swaymeter.tasks.models.language_model import LanguageModel

SPECIAL = ["<pad>", "<end>", "<turn>", "<cls>", "<sep>"]
VOCABULARY = 256 + len(SPECIAL)
CHAT = (
    "{% for message in messages %}<turn>{{ message['role'] }}\n{{ message['content'] }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)
# Merges in the letters of a byte-level tokenizer: Ċ is a newline, Ġ a space. The first three join a context to a query.
SEAMS = (("Ċ", "Q"), ("ĊQ", ":"), ("Ċ", "T"), ("e", "Ġ"), (".", "Ċ"))
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def byte_tokenizer(*, chat_template: str | None = None, pairs: bool = False) -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token per byte; with `pairs`, two texts become <cls> a <sep> b <sep>."""
    return _tokenizer((), chat_template, pairs)


def byte_pair_tokenizer(
    merges: Sequence[tuple[str, str]] = SEAMS, *, chat_template: str | None = None
) -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes, and of tokens that span the seam of context and query.

    ".\\n" is one token, but ".\\nQ: " is ".", "\\nQ:", " ". The ids of bytes are those of byte_tokenizer. A model for
    this tokenizer needs len(tokenizer) entries: tiny_language_model(tokenizer=...).

    Args:
        merges: Pairs in their order, in the letters of a byte-level tokenizer (Ċ a newline, Ġ a space).
        chat_template: The chat template of the tokenizer.
    """
    return _tokenizer(merges, chat_template, pairs=False)


def _tokenizer(merges: Sequence[tuple[str, str]], chat_template: str | None, pairs: bool) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merged = [left + right for left, right in merges]
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *letters, *merged])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    if pairs:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<cls> $A <sep>", pair="<cls> $A <sep> $B:1 <sep>:1", special_tokens=[("<cls>", 3), ("<sep>", 4)]
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<end>",
        cls_token="<cls>",
        sep_token="<sep>",
        additional_special_tokens=["<turn>"],
    )
    fast.chat_template = chat_template
    return fast


def tiny_network(family: str = "llama", *, window: int = 512, seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    """Return a random language model of a family.

    Families with peculiarities:
        llama3: Scaled rotary positions; the scaling acts from the second frequency on.
        mistral: The window of attention is 8 tokens.
        bloom: The attention has a bias, and there are no positions.
        mamba: There is no attention.
    """
    torch.manual_seed(seed)
    options: dict[str, Any]
    if family == "gpt2":
        options = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": window}
    elif family == "bloom":
        options = {"hidden_size": 32, "n_layer": 2, "n_head": 4}
    elif family == "mamba":
        options = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}
    else:
        options = {**SHAPE, "max_position_embeddings": window}
    if family in ("llama", "llama3", "qwen2", "mistral"):
        options["num_key_value_heads"] = 2
    if family == "mistral":
        options["sliding_window"] = 8
    if family == "llama3":
        rope = {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": 8.0, "low_freq_factor": 1.0}
        options["rope_parameters"] = {**rope, "high_freq_factor": 4.0, "original_max_position_embeddings": window // 2}
    common = {"initializer_range": 0.5, "eos_token_id": 1, "bos_token_id": 1, "pad_token_id": 0}
    name = "llama" if family == "llama3" else family
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(name, vocab_size=vocabulary, **common, **options))


def tiny_language_model(
    family: str = "llama",
    *,
    chat_template: str | None = None,
    window: int = 512,
    name: str = "tiny",
    tokenizer: PreTrainedTokenizerFast | None = None,
) -> LanguageModel:
    """Return a random language model in float32 on the CPU; the default tokenizer is of bytes."""
    tokenizer = tokenizer or byte_tokenizer(chat_template=chat_template)
    network = tiny_network(family, window=window, vocabulary=len(tokenizer))
    return LanguageModel(network, tokenizer, name, "0", "float32", "cpu")


def save_language_model(folder: Path, *, family: str = "llama", seed: int = 0) -> Path:
    """Save a random language model with save_pretrained, and return its folder."""
    tiny_network(family, seed=seed).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def save_entailment_model(folder: Path, *, family: str = "bert", labels: dict[int, str] | None = None) -> Path:
    """Save a random sequence classifier with labels, by default LABELS, and return its folder."""
    torch.manual_seed(3)
    labels = labels or LABELS
    options: dict[str, Any] = {"id2label": labels, "label2id": {label: index for index, label in labels.items()}}
    if family == "deberta":
        options |= {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 0}
    config = AutoConfig.for_model(
        family,
        vocab_size=VOCABULARY,
        max_position_embeddings=128,
        initializer_range=0.5,
        pad_token_id=0,
        **SHAPE,
        **options,
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder


def save_embedder(folder: Path) -> Path:
    """Save a random BERT without a configuration of pooling, and return its folder."""
    torch.manual_seed(4)
    config = AutoConfig.for_model("bert", vocab_size=VOCABULARY, max_position_embeddings=64, pad_token_id=0, **SHAPE)
    AutoModel.from_config(config).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder
