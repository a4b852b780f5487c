"""A language model of one layer that writes the same text, such as a question, after every prompt."""

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.tasks.models.tiny import byte_tokenizer

QUESTION = " What became of the skirmish, and who was mayor then?"
_HIGH_LOGIT = 10.0


def save_constant_model(folder: Path, text: str = QUESTION) -> Path:
    """Save a model that writes a text and nothing more; the text is a single token.

    Attention and feed-forward network add nothing, so that the last token alone decides the next token.
    """
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([text])
    size, end = len(tokenizer), tokenizer.eos_token_id
    (token,) = tokenizer.encode(text)
    hidden_size = size + size % 2  # rotary embeddings need an even size
    shape = {"hidden_size": hidden_size, "intermediate_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1}
    special_tokens = {"eos_token_id": end, "bos_token_id": end, "pad_token_id": tokenizer.pad_token_id}
    network = LlamaForCausalLM(LlamaConfig(vocab_size=size, max_position_embeddings=4096, **shape, **special_tokens))
    with torch.no_grad():
        for weights in network.model.layers.parameters():
            weights.zero_()
        network.model.embed_tokens.weight.copy_(torch.eye(size, hidden_size))
        network.lm_head.weight.zero_()
        network.lm_head.weight[token, :] = _HIGH_LOGIT
        network.lm_head.weight[end, token] = 2 * _HIGH_LOGIT  # after the text, its end is likelier than the text
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
