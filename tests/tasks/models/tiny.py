"""Random models small enough to be made in a test, and a tokenizer of bytes that goes with them."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DebertaConfig,
    DebertaForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
)

from tasks.models.language_model import LanguageModel

SPECIAL = ["<pad>", "<end>", "<turn>", "<cls>", "<sep>"]
VOCABULARY = 256 + len(SPECIAL)
CHAT = (
    "{% for message in messages %}<turn>{{ message['role'] }}\n{{ message['content'] }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}


def byte_tokenizer(*, chat_template: str | None = None, pairs: bool = False) -> PreTrainedTokenizerFast:
    """One token per byte; with `pairs`, texts come as <cls> a <sep> b <sep>."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: place for place, token in enumerate([*SPECIAL, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    if pairs:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<cls> $A <sep>", pair="<cls> $A <sep> $B:1 <sep>:1", special_tokens=[("<cls>", 3), ("<sep>", 4)]
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<end>", cls_token="<cls>", sep_token="<sep>",
        additional_special_tokens=["<turn>"],
    )  # fmt: skip
    fast.chat_template = chat_template
    return fast


def tiny_network(family: str = "llama", *, window: int = 512, seed: int = 0) -> Any:
    """A random language model of one of four families: llama, gpt2, gpt_neox, mistral (window of attention: 8)."""
    torch.manual_seed(seed)
    ends = {"eos_token_id": 1, "bos_token_id": 1, "pad_token_id": 0, "vocab_size": VOCABULARY}
    if family == "gpt2":
        return GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=window, **ends))
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape |= {"max_position_embeddings": window, "initializer_range": 0.5}
    if family == "gpt_neox":
        return GPTNeoXForCausalLM(GPTNeoXConfig(**shape, **ends))
    if family == "mistral":
        return MistralForCausalLM(MistralConfig(num_key_value_heads=2, sliding_window=8, **shape, **ends))
    return LlamaForCausalLM(LlamaConfig(num_key_value_heads=2, **shape, **ends))


def tiny_language_model(
    family: str = "llama", *, chat_template: str | None = None, window: int = 512, name: str = "tiny"
) -> LanguageModel:
    """A random language model with a tokenizer of bytes, in float32 on the CPU."""
    tokenizer = byte_tokenizer(chat_template=chat_template)
    return LanguageModel(tiny_network(family, window=window), tokenizer, name, "0", "float32", "cpu")


def save_language_model(folder: Path, *, family: str = "llama", seed: int = 0) -> Path:
    """A folder with a random language model, as save_pretrained leaves it."""
    tiny_network(family, seed=seed).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def save_entailment_model(folder: Path, *, family: str = "bert", labels: dict[int, str] | None = None) -> Path:
    """A folder with a random sequence classifier with three labels, LABELS unless told otherwise."""
    torch.manual_seed(3)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape |= {"vocab_size": VOCABULARY, "max_position_embeddings": 128, "initializer_range": 0.5, "pad_token_id": 0}
    labels = labels or LABELS
    named: dict[str, Any] = {"id2label": labels, "label2id": {label: place for place, label in labels.items()}}
    if family == "deberta":
        config = DebertaConfig(
            relative_attention=True, pos_att_type=["c2p", "p2c"], type_vocab_size=0, **shape, **named
        )
        DebertaForSequenceClassification(config).save_pretrained(folder)
    else:
        BertForSequenceClassification(BertConfig(**shape, **named)).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder


def save_embedder(folder: Path) -> Path:
    """A folder with a random BERT and nothing said about pooling."""
    torch.manual_seed(4)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = BertConfig(vocab_size=VOCABULARY, max_position_embeddings=64, pad_token_id=0, **shape)
    BertModel(config).save_pretrained(folder)
    byte_tokenizer(pairs=True).save_pretrained(folder)
    return folder
