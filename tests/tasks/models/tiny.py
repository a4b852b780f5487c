"""Tiny random models of many families, and their tokenizers: a token per byte, or tokens of merged bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
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
SEAMS = (("Ċ", "Q"), ("ĊQ", ":"), ("Ċ", "T"), ("e", "Ġ"), (".", "Ċ"))
"""Merges of bytes into tokens, the first three across the seam of context and query.

".\\n" is one token, but ".\\nQ: " is ".", "\\nQ:", " ".
"""
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
FAMILIES: dict[str, dict[str, Any]] = {
    name: options
    for names, options in yaml.safe_load(Path(__file__).with_name("families.yaml").read_text())["families"].items()
    for name in names.split(", ")
}
"""The options of the smallest form of each family."""


def byte_tokenizer(
    merges: Sequence[tuple[str, str]] = (), *, chat_template: str | None = None, pairs: bool = False
) -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token per byte, and a token per merge.

    Args:
        merges: Pairs in their order, in the letters of a byte-level tokenizer (Ċ a newline, Ġ a space).
        chat_template: The chat template of the tokenizer.
        pairs: Two texts become <cls> a <sep> b <sep>.
    """
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


def tiny_network(
    family: str = "llama", *, window: int = 512, seed: int = 0, vocabulary: int = VOCABULARY, **changes: Any
) -> Any:
    """Return a random language model of a family, with changes of its options."""
    torch.manual_seed(seed)
    options: dict[str, Any] = {
        **SHAPE,
        "num_key_value_heads": 2,
        "max_position_embeddings": window,
        "vocab_size": vocabulary,
        "initializer_range": 0.5,
        "bos_token_id": 1,
        "eos_token_id": 1,
        "pad_token_id": 0,
        "architecture": family,
        **FAMILIES[family],
        **changes,
    }
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(options.pop("architecture"), **options))


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


def family_model(family: str) -> LanguageModel:
    """Return a random language model with weights by which every layer changes the output, whatever the family."""
    network = tiny_network(family, seed=7)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if weights.dim() > 1:
                scale = 0.5 if "embed" in name or "wte" in name else 1.2 / weights.shape[-1] ** 0.5
                weights.copy_(torch.randn(weights.shape) * scale)
    return LanguageModel(network, byte_tokenizer(), family, "0", "float32", "cpu")


def save_language_model(folder: Path, **options: Any) -> Path:
    """Save a random language model with these options of `tiny_network`, and return its folder."""
    tiny_network(**options).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def save_entailment_model(folder: Path, *, family: str = "bert", labels: dict[int, str] | None = None) -> Path:
    """Save a random encoder with a classifier, and return its folder; loaded as an embedder, it has no classifier."""
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
