"""Random models small enough to be made in a test, and tokenizers that go with them: of bytes, and of merged ones."""

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
# As a byte-level tokenizer writes them: Ċ is a newline, Ġ a space. The first ones join a context to the query after it.
SEAMS = (("Ċ", "Q"), ("ĊQ", ":"), ("Ċ", "T"), ("e", "Ġ"), (".", "Ċ"))
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def byte_tokenizer(*, chat_template: str | None = None, pairs: bool = False) -> PreTrainedTokenizerFast:
    """One token per byte; with `pairs`, texts come as <cls> a <sep> b <sep>."""
    return _tokenizer((), chat_template, pairs)


def byte_pair_tokenizer(
    merges: Sequence[tuple[str, str]] = SEAMS, *, chat_template: str | None = None
) -> PreTrainedTokenizerFast:
    """Bytes, and tokens that span the seam of context and query: ".\\n" is one, but ".\\nQ: " is ".", "\\nQ:", " ".

    merges: in their order, in the letters of a byte-level tokenizer (Ċ a newline, Ġ a space). The ids of bytes are
    those of byte_tokenizer; a model for it needs len(tokenizer) entries: tiny_language_model(tokenizer=...).
    """
    return _tokenizer(merges, chat_template, pairs=False)


def _tokenizer(merges: Sequence[tuple[str, str]], chat_template: str | None, pairs: bool) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merged = [left + right for left, right in merges]
    vocabulary = {token: place for place, token in enumerate([*SPECIAL, *letters, *merged])}
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
    """A random language model of a family.

    llama; llama3: its scaled rotary positions, the scaling acts from the second frequency on; qwen2; mistral: its
    window of attention is 8; gpt2, gpt_neox; bloom: no positions but a bias of the attention; mamba: no attention.
    """
    torch.manual_seed(seed)
    own: dict[str, Any]
    if family == "gpt2":
        own = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": window}
    elif family == "bloom":
        own = {"hidden_size": 32, "n_layer": 2, "n_head": 4}
    elif family == "mamba":
        own = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}
    else:
        own = {**SHAPE, "max_position_embeddings": window}
    if family in ("llama", "llama3", "qwen2", "mistral"):
        own["num_key_value_heads"] = 2
    if family == "mistral":
        own["sliding_window"] = 8
    if family == "llama3":
        rope = {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": 8.0, "low_freq_factor": 1.0}
        own["rope_parameters"] = {**rope, "high_freq_factor": 4.0, "original_max_position_embeddings": window // 2}
    common = {"initializer_range": 0.5, "eos_token_id": 1, "bos_token_id": 1, "pad_token_id": 0}
    name = "llama" if family == "llama3" else family
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(name, vocab_size=vocabulary, **common, **own))


def tiny_language_model(
    family: str = "llama",
    *,
    chat_template: str | None = None,
    window: int = 512,
    name: str = "tiny",
    tokenizer: PreTrainedTokenizerFast | None = None,
) -> LanguageModel:
    """A random language model in float32 on the CPU, with a tokenizer of bytes unless one is given."""
    tokenizer = tokenizer or byte_tokenizer(chat_template=chat_template)
    network = tiny_network(family, window=window, vocabulary=len(tokenizer))
    return LanguageModel(network, tokenizer, name, "0", "float32", "cpu")


def save_language_model(folder: Path, *, family: str = "llama", seed: int = 0) -> Path:
    """A folder with a random language model, as save_pretrained leaves it."""
    tiny_network(family, seed=seed).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def save_entailment_model(folder: Path, *, family: str = "bert", labels: dict[int, str] | None = None) -> Path:
    """A folder with a random sequence classifier with three labels, LABELS unless told otherwise."""
    torch.manual_seed(3)
    labels = labels or LABELS
    own: dict[str, Any] = {"id2label": labels, "label2id": {label: place for place, label in labels.items()}}
    if family == "deberta":
        own |= {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 0}
    config = AutoConfig.for_model(
        family,
        vocab_size=VOCABULARY,
        max_position_embeddings=128,
        initializer_range=0.5,
        pad_token_id=0,
        **SHAPE,
        **own,
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder


def save_embedder(folder: Path) -> Path:
    """A folder with a random BERT and nothing said about pooling."""
    torch.manual_seed(4)
    config = AutoConfig.for_model("bert", vocab_size=VOCABULARY, max_position_embeddings=64, pad_token_id=0, **SHAPE)
    AutoModel.from_config(config).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder
