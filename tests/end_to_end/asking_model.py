"""A language model in a folder that says the same, such as a question, whatever it reads: a real one, of one layer."""

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.tasks.models.tiny import byte_tokenizer

QUESTION = " What became of the skirmish, and who was mayor then?"
_SURE = 10.0


def save_asking_model(folder: Path, says: str = QUESTION) -> Path:
    """A folder with a model that says a text, which is one token of its own, and then nothing more.

    Its attention and its feed-forward network add nothing, so that the last token alone tells the next one.
    """
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([says])
    size, end = len(tokenizer), tokenizer.eos_token_id
    (said,) = tokenizer.encode(says)
    shape = {"hidden_size": size + size % 2, "intermediate_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1}
    ends = {"eos_token_id": end, "bos_token_id": end, "pad_token_id": tokenizer.pad_token_id}
    network = LlamaForCausalLM(LlamaConfig(vocab_size=size, max_position_embeddings=4096, **shape, **ends))
    with torch.no_grad():
        for weights in network.model.layers.parameters():
            weights.zero_()
        network.model.embed_tokens.weight.copy_(torch.eye(size, shape["hidden_size"]))
        network.lm_head.weight.zero_()
        network.lm_head.weight[said, :] = _SURE
        network.lm_head.weight[end, said] = 2 * _SURE
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
