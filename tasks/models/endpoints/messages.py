"""The tokenizer of a model whose tokens nobody knows: a "token" is a letter of the prompt.

So the prompts of a server that writes its own chat template pass through the measures like any other: as numbers, which
are read back into turns before they are sent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swaymeter.tasks.models.endpoints.endpoint import Prompt

_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"

_OWN = frozenset({"add_generation_prompt", "return_dict", "sanitize_control_tokens", "tokenize"})
"""What a tokenizer is told beside the keywords of a chat template."""
_TURNS = "\0"
"""What the letters of turns begin with; texts lose it there."""


class Letters:
    """Texts and turns as the numbers of their letters, with what prompts ask of a tokenizer of transformers."""

    chat_template = _TEMPLATE
    added_tokens_encoder: Mapping[str, int] = {}
    added_tokens_decoder: Mapping[int, str] = {}
    is_fast = False

    def __init__(self, *, takes_options: bool = False) -> None:
        self.takes_any_keyword = takes_options
        """Whether keywords of a chat template that nobody here can read are handed on to it."""

    def __call__(self, text: str | Sequence[str], **options: Any) -> dict[str, Any]:
        """The numbers of a text, or of each of several."""
        if isinstance(text, str):
            return {"input_ids": _letters(text)}
        return {"input_ids": [_letters(one) for one in text]}

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        """The text of these numbers."""
        return "".join(map(chr, ids))

    def get_chat_template(self) -> str:
        """A template that shows who says what; what is sent is turns."""
        return _TEMPLATE

    def apply_chat_template(self, turns: Sequence[Mapping[str, str]], *, chat_template: str, **options: Any) -> Any:
        """The turns, to be sent as they are; the text of the only one where no chat template is used."""
        if chat_template != _TEMPLATE:
            (turn,) = turns
            return _letters(turn["content"])
        if options.get("tokenize") is False:
            return "".join(f"{turn['role']}: {turn['content']}\n" for turn in turns)
        own = {name: value for name, value in options.items() if name not in _OWN}
        return list(map(ord, _TURNS + json.dumps([list(turns), own])))


def _letters(text: str) -> list[int]:
    """The numbers of a text, which must not begin as turns do: it may be somebody else's."""
    return list(map(ord, text.lstrip(_TURNS)))


def prompt_of(letters: Sequence[int]) -> Prompt:
    """What the numbers of a prompt are sent as."""
    text = "".join(map(chr, letters))
    if not text.startswith(_TURNS):
        return Prompt(text=text)
    turns, options = json.loads(text[len(_TURNS) :])
    return Prompt(turns=turns, options=options)
