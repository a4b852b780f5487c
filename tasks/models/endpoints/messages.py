"""The tokenizer of a model whose tokens nobody knows: a "token" is a letter of the prompt.

So the prompts of a server that writes its own chat template pass through the measures like any other: as numbers, which
are read back into turns before they are sent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swaymeter.tasks.models.endpoints.endpoint import Prompt

_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
_THINKS = "<think>"
"""What a template has that opens thoughts."""
_OWN = frozenset({"add_generation_prompt", "return_dict", "sanitize_control_tokens", "tokenize"})
"""What a tokenizer is told beside the keywords of a chat template."""
_TURNS = "\0"
"""What the letters of turns begin with; texts lose it there."""


class Letters:
    """Texts and turns as the numbers of their letters, with what prompts ask of a tokenizer of transformers.

    takes_any_keyword: whether keywords of a chat template that nobody here can read are handed on to it. switch: the
    one that turns thoughts off, with that value; thinks: whether there are thoughts and no switch.
    """

    added_tokens_encoder: Mapping[str, int] = {}
    added_tokens_decoder: Mapping[int, str] = {}
    is_fast = False

    def __init__(
        self, *, takes_any_keyword: bool = False, switch: tuple[str, Any] | None = None, thinks: bool = False
    ) -> None:
        self.takes_any_keyword, self._switch = takes_any_keyword, switch
        opens = f"{{% if {switch[0]} != {json.dumps(switch[1])} %}}{_THINKS}{{% endif %}}" if switch else _THINKS
        self.chat_template = _TEMPLATE + (opens if switch or thinks else "")

    def __call__(self, text: str | Sequence[str], **options: Any) -> dict[str, Any]:
        """The numbers of a text, or of each of several."""
        if isinstance(text, str):
            return {"input_ids": _letters(text)}
        return {"input_ids": [_letters(one) for one in text]}

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        """The text of these numbers."""
        return "".join(map(chr, ids))

    def get_chat_template(self) -> str:
        """A template that shows who says what, and what opens thoughts; what is sent is turns."""
        return self.chat_template

    def apply_chat_template(self, turns: Sequence[Mapping[str, str]], *, chat_template: str, **options: Any) -> Any:
        """The turns, to be sent as they are; the text of the only one where no chat template is used."""
        if chat_template != self.chat_template:
            (turn,) = turns
            return _letters(turn["content"])
        if options.get("tokenize") is False:
            text = "".join(f"{turn['role']}: {turn['content']}\n" for turn in turns)
            return text + _THINKS if self._switch and options.get(self._switch[0]) != self._switch[1] else text
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
