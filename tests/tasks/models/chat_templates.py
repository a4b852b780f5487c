"""Tiny random models with the chat formats of families of models.

The formats are those of the families' documentation; the templates are written for these tests. A tokenizer has only
letters and the control tokens of its family. A family decides how a conversation is written, which marks are tokens,
and which tokens end an answer.
"""

from dataclasses import dataclass

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from swaymeter.tasks.models import LanguageModel
from tests.tasks.models.tiny import byte_tokenizer, tiny_language_model


@dataclass(frozen=True)
class Family:
    """The chat format of a family of models.

    Attributes:
        template: The chat template.
        control: The control tokens.
        start: The token that begins a sequence.
        end: The token that ends a sequence.
        prompt: The whole prompt, with the slots {system} and {instruction}.
        ends: The tokens that end an answer.
        sentencepiece: True for a tokenizer of characters, with bytes for unknown characters and a mark for the space
            before a word; False for a tokenizer of bytes.
    """

    template: str
    control: tuple[str, ...]
    start: str
    end: str
    prompt: str
    ends: frozenset[str]
    sentencepiece: bool = False


def family_model(family: Family, *, window: int = 2048) -> LanguageModel:
    """Return a random model with the tokenizer and the chat template of the family."""
    tokenizer = _character_tokenizer() if family.sentencepiece else byte_tokenizer()
    tokenizer.add_special_tokens({"bos_token": family.start, "eos_token": family.end})
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in family.control])
    tokenizer.chat_template = family.template
    model = tiny_language_model(tokenizer=tokenizer, window=window)
    model.model.config.eos_token_id = model.model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model


def _character_tokenizer() -> PreTrainedTokenizerFast:
    letters = ["▁", *(chr(code) for code in range(33, 127))]
    merges = [("▁", "t"), ("▁t", "h"), ("▁th", "e"), ("s", "t"), ("O", "s"), ("Os", "l"), ("Osl", "o")]
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *(left + right for left, right in merges)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<unk>")


FAMILIES = {
    "llama-2-chat": Family(
        template=(
            "{% set told = '' %}{% set turns = messages %}{% if messages[0].role == 'system' %}"
            "{% set told = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}{% set turns = messages[1:] %}"
            "{% endif %}"
            "{% for turn in turns %}{% if turn.role == 'user' %}"
            "{{ bos_token }}[INST] {{ told if loop.first }}{{ turn.content | trim }} [/INST]"
            "{% else %} {{ turn.content | trim }} {{ eos_token }}{% endif %}{% endfor %}"
        ),
        control=("<s>", "</s>"),
        start="<s>",
        end="</s>",
        prompt="<s>[INST] <<SYS>>\n{system}\n<</SYS>>\n\n{instruction} [/INST]",
        ends=frozenset({"</s>"}),
        sentencepiece=True,
    ),
    "mistral-instruct": Family(
        template=(
            "{{ bos_token }}{% for turn in messages %}{% if (loop.index0 is even) != (turn.role == 'user') %}"
            "{{ raise_exception('user and assistant must take turns') }}{% endif %}"
            "{% if turn.role == 'user' %}[INST] {{ turn.content }}[/INST]{% else %} {{ turn.content }}{{ eos_token }}"
            "{% endif %}{% endfor %}"
        ),
        control=("<s>", "</s>", "[INST]", "[/INST]"),
        start="<s>",
        end="</s>",
        prompt="<s>[INST] {system}\n\n{instruction}[/INST]",
        ends=frozenset({"</s>"}),
        sentencepiece=True,
    ),
    "smollm2-instruct": Family(
        template=(
            "{% if messages[0].role != 'system' %}<|im_start|>system\nYou help.<|im_end|>\n{% endif %}"
            "{% for turn in messages %}<|im_start|>{{ turn.role }}\n{{ turn.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
        ),
        control=("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
        start="<|im_start|>",
        end="<|im_end|>",
        prompt=(
            "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{instruction}<|im_end|>\n<|im_start|>assistant\n"
        ),
        ends=frozenset({"<|im_end|>"}),
    ),
    "llama-3-instruct": Family(
        template=(
            "{{ bos_token }}{% for turn in messages %}<|start_header_id|>{{ turn.role }}<|end_header_id|>\n\n"
            "{{ turn.content | trim }}<|eot_id|>{% endfor %}"
            "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
        ),
        control=("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        start="<|begin_of_text|>",
        end="<|end_of_text|>",
        prompt=(
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{system}<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\n{instruction}<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n"
        ),
        ends=frozenset({"<|end_of_text|>", "<|eot_id|>"}),
    ),
    "gemma": Family(
        template=(
            "{{ bos_token }}{% for turn in messages %}"
            "{% if turn.role == 'system' %}{{ raise_exception('there is no system') }}{% endif %}"
            "<start_of_turn>{{ 'model' if turn.role == 'assistant' else turn.role }}\n"
            "{{ turn.content | trim }}<end_of_turn>\n{% endfor %}"
            "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
        ),
        control=("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"),
        start="<bos>",
        end="<eos>",
        prompt="<bos><start_of_turn>user\n{system}\n\n{instruction}<end_of_turn>\n<start_of_turn>model\n",
        ends=frozenset({"<eos>", "<end_of_turn>"}),
        sentencepiece=True,
    ),
}
