"""A tokenizer for models whose tokens are unknown: each character of the prompt is a "token".

The id of such a token is the code point of the character. With these ids, prompts for a server that applies its own
chat template pass through the measures like all other prompts. Before a request, the ids are decoded into turns.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swaymeter.tasks.models.endpoints.endpoint import Prompt

_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
"""A template in place of the server's own template, which is unknown here."""
_OPENS_THOUGHTS = "<think>"
"""The mark that opens thoughts; it is added to `_TEMPLATE` if the model at the server thinks."""
_TOKENIZER_ARGUMENTS = frozenset({"add_generation_prompt", "return_dict", "sanitize_control_tokens", "tokenize"})
"""Arguments of a tokenizer that are no keywords of a chat template."""
_TURNS = "\0"
"""First character of a prompt that encodes turns; it is removed from the beginning of any other text."""


class CodePointTokenizer:
    """Texts and turns as code points, with the interface of a tokenizer of transformers that prompts need.

    Args:
        takes_any_keyword: True if a study may set any `template_options`, because only the server knows the template.
        switch: the keyword that turns thoughts off, and its value.
        thinks: True if the model thinks; unused with a switch.
    """

    added_tokens_encoder: Mapping[str, int] = {}
    added_tokens_decoder: Mapping[int, str] = {}
    is_fast = False

    def __init__(
        self, *, takes_any_keyword: bool = False, switch: tuple[str, Any] | None = None, thinks: bool = False
    ) -> None:
        self.takes_any_keyword, self._switch = takes_any_keyword, switch
        self.chat_template = _TEMPLATE
        if switch:
            name, off = switch
            self.chat_template += f"{{% if {name} != {json.dumps(off)} %}}{_OPENS_THOUGHTS}{{% endif %}}"
        elif thinks:
            self.chat_template += _OPENS_THOUGHTS

    def __call__(self, text: str | Sequence[str], **options: Any) -> dict[str, Any]:
        """Return the code points of a text, or of each of several texts."""
        if isinstance(text, str):
            return {"input_ids": _code_points(text)}
        return {"input_ids": [_code_points(part) for part in text]}

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        """Return the text of code points."""
        return "".join(map(chr, ids))

    def get_chat_template(self) -> str:
        """Return a template that shows roles, contents and opened thoughts; the server itself receives turns."""
        return self.chat_template

    def apply_chat_template(self, turns: Sequence[Mapping[str, str]], *, chat_template: str, **options: Any) -> Any:
        """Return the ids of encoded turns; with `tokenize=False`, a readable text of the turns."""
        if chat_template != self.chat_template:  # the template of the form `plain`, which has one turn and no roles
            (turn,) = turns
            return _code_points(turn["content"])
        if options.get("tokenize") is False:
            text = "".join(f"{turn['role']}: {turn['content']}\n" for turn in turns)
            opens_thoughts = self._switch and options.get(self._switch[0]) != self._switch[1]
            return text + _OPENS_THOUGHTS if opens_thoughts else text
        keywords = {name: value for name, value in options.items() if name not in _TOKENIZER_ARGUMENTS}
        return list(map(ord, _TURNS + json.dumps([list(turns), keywords])))


def _code_points(text: str) -> list[int]:
    return list(map(ord, text.lstrip(_TURNS)))  # so that no text can be read as turns


def prompt_of(ids: Sequence[int]) -> Prompt:
    """Return the prompt to send to the server for code points."""
    text = "".join(map(chr, ids))
    if not text.startswith(_TURNS):
        return Prompt(text=text)
    turns, options = json.loads(text[len(_TURNS) :])
    return Prompt(turns=turns, options=options)
