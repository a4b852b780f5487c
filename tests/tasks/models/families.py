"""Families of language models in their smallest form, with random weights by which every layer changes the output."""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from swaymeter.tasks.models.language_model import LanguageModel
from tests.tasks.models.tiny import VOCABULARY, byte_tokenizer

_SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "pad_token_id": 0,
}
_WINDOW = {"sliding_window": 8}
_HEAD_DIM = {"head_dim": 8}
_EXPERTS = {
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "n_group": 1,
    "topk_group": 1,
}
_DECODER = {"is_decoder": True, "is_encoder_decoder": False, "use_cache": True}
_BART = {
    **_DECODER,
    "d_model": 32,
    "decoder_layers": 2,
    "decoder_ffn_dim": 64,
    "decoder_attention_heads": 4,
    "encoder_layers": 1,
    "encoder_ffn_dim": 8,
    "encoder_attention_heads": 2,
}
_MLA = {
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "head_dim": 4,
    "first_k_dense_replace": 1,
    "n_shared_experts": 1,
    "num_key_value_heads": 4,
    **_EXPERTS,
}
_SSM = {
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
    "mamba_expand": 2,
    "mamba_d_state": 8,
    "mamba_n_groups": 1,
    "mamba_chunk_size": 8,
}
_LONGROPE = {
    "rope_parameters": {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0] * 4,
        "long_factor": [4.0, 8.0, 16.0, 32.0],
        "original_max_position_embeddings": 40,
        "partial_rotary_factor": 1.0,
    },
    "original_max_position_embeddings": 40,
    "sliding_window": None,
}

_SHARED_OPTIONS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("llama qwen2 phi gpt_neox gpt_neox_japanese bloom falcon stablelm olmo olmo2 cohere granite nemotron biogpt", {}),
    ("persimmon smollm3 arcee apertus diffllama doge bitnet nanochat", {}),
    ("mistral phi3 starcoder2", _WINDOW),
    ("ministral3 gemma2 gemma3", {**_HEAD_DIM, **_WINDOW}),
    ("qwen3 gemma glm glm4 helium ernie4_5 seed_oss hunyuan_v1_dense vaultgemma", _HEAD_DIM),
    ("phimoe olmoe granitemoe", _EXPERTS),
    ("gpt2 gpt_bigcode openai-gpt", {"n_positions": 512}),
    ("gptj codegen", {"n_positions": 512, "rotary_dim": 4}),
    ("olmo3 cohere2 exaone4", {**_WINDOW, "layer_types": ["sliding_attention", "full_attention"]}),
    ("deepseek_v2 deepseek_v3", _MLA),
    ("mamba falcon_mamba", {"state_size": 4}),
    ("bart mbart blenderbot-small pegasus trocr", _BART),
    ("bert bert-generation roberta xlm-roberta", _DECODER),
    ("electra roformer", {**_DECODER, "embedding_size": 32}),
)
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    **{name: options for names, options in _SHARED_OPTIONS for name in names.split()},
    "mixtral": {**_EXPERTS, **_WINDOW},
    "qwen2_moe": {**_EXPERTS, "shared_expert_intermediate_size": 16},
    "qwen3_moe": {**_HEAD_DIM, **_EXPERTS},
    "qwen3_next": {
        **_HEAD_DIM,
        **_EXPERTS,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "shared_expert_intermediate_size": 16,
        "layer_types": ["linear_attention", "full_attention"],
    },
    "gemma4": {
        **_HEAD_DIM,
        **_WINDOW,
        "global_head_dim": 16,
        "num_hidden_layers": 6,
        "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": VOCABULARY,
    },
    "phi3 with LongRoPE": _LONGROPE,
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 8},
    "gpt_oss": {**_WINDOW, **_HEAD_DIM, **_EXPERTS},
    "opt": {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "falcon with ALiBi": {"alibi": True},
    "falcon_h1": {**_SSM, "mamba_d_ssm": 64, **_HEAD_DIM},
    "mpt": {"max_seq_len": 512},
    "granitemoehybrid": {
        **_SSM,
        **_EXPERTS,
        "layer_types": ["mamba", "attention"],
        "shared_intermediate_size": 32,
    },
    "dbrx": {
        "d_model": 32,
        "n_heads": 4,
        "n_layers": 2,
        "max_seq_len": 512,
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32},
    },
    "jamba": {**_EXPERTS, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8},
    "jetmoe": {**_EXPERTS, "kv_channels": 8},
    "mamba2": {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8},
    "rwkv": {"context_length": 512, "attention_hidden_size": 32},
    "xlstm": {"num_heads": 2, "embedding_dim": 32, "num_blocks": 2, "chunk_size": 8},
    "recurrent_gemma": {"block_types": ["recurrent", "attention"], "attention_window_size": 8, "lru_width": 32},
    "bamba": {**_SSM, "attn_layer_indices": [1]},
    "zamba2": {
        "mamba_d_state": 8,
        "mamba_headdim": 16,
        "mamba_ngroups": 1,
        "n_mamba_heads": 4,
        "chunk_size": 8,
        "layers_block_type": ["mamba", "hybrid"],
        "layer_types": ["mamba", "hybrid"],
        "num_mem_blocks": 1,
        "num_key_value_heads": 4,
    },
    "lfm2": {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False},
    "minimax": {**_HEAD_DIM, **_EXPERTS, "layer_types": ["linear_attention", "full_attention"], "block_size": 8},
    "xglm": {"d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4},
    "ctrl": {"dff": 64, "n_positions": 512},
    "ernie4_5_moe": {**_HEAD_DIM, **_EXPERTS, "moe_num_experts": 4, "moe_k": 2, "moe_num_shared_experts": 1},
    "llama4": {
        **_HEAD_DIM,
        **_EXPERTS,
        "attention_chunk_size": 16,
        "interleave_moe_layer_step": 2,
        "num_hidden_layers": 4,
        "intermediate_size_mlp": 64,
        "attn_scale": 0.1,
        "floor_scale": 32,
    },
    "modernbert-decoder": {"local_attention": 8},
}
_ARCHITECTURES = {
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "llama4": "llama4_text",
    "phi3 with LongRoPE": "phi3",
    "falcon with ALiBi": "falcon",
}
FAMILIES = {name: (_ARCHITECTURES.get(name, name), options) for name, options in _OPTIONS.items()}
"""Families by name: transformers' name of the architecture, and the options of its smallest form."""


def family_model(name: str) -> LanguageModel:
    """Return a random language model of a family, in float32 on the CPU, with a tokenizer of bytes."""
    architecture, options = FAMILIES[name]
    config = AutoConfig.for_model(architecture, **{**_SHAPE, **options})
    torch.manual_seed(7)
    network = AutoModelForCausalLM.from_config(config).float()
    with torch.no_grad():
        for weights_name, weights in network.named_parameters():
            if weights.dim() > 1:
                scale = 0.5 if "embed" in weights_name or "wte" in weights_name else 1.2 / weights.shape[-1] ** 0.5
                weights.copy_(torch.randn(weights.shape) * scale)
    return LanguageModel(network, byte_tokenizer(), name, "0", "float32", "cpu")
