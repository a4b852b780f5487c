"""A model's tokenizer without its weights: what an index of tokens is asked with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swaymeter.tasks.models.files.conversion import converted_folder
from swaymeter.tasks.models.files.identity import identify_model
from swaymeter.tasks.models.loading import loaded_once, pretrained


class Tokenizer:
    """Texts as the numbers of their tokens, and back."""

    def __init__(self, tokenizer: Any) -> None:
        """A tokenizer of transformers."""
        self._tokenizer = tokenizer

    def spellings(self, name: str) -> tuple[tuple[int, ...], ...]:
        """The tokens of a name within a text: behind a space first, and behind a line break, where they are others."""
        behind_space = self._ids(f"x {name}")[len(self._ids("x")) :]
        behind_break = self._ids(f"x\n{name}")[len(self._ids("x\n")) :]
        return tuple(dict.fromkeys((behind_space, behind_break)))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))


def tokenizer_revision(name: str) -> str:
    """Which revision of a model its tokenizer is of; raises as identify_model does."""
    return identify_model(name, "language_model").revision


def _load(name: str) -> Tokenizer:
    from transformers import AutoTokenizer

    identity = identify_model(name, "language_model")
    folder = converted_folder(Path(identity.location), identity.revision) if identity.kind == "embedded" else None
    return Tokenizer(pretrained(identity, AutoTokenizer.from_pretrained, folder=folder))


load_tokenizer = loaded_once(_load)
"""The tokenizer of the model of that name, loaded once a process; raises as load_language_model does."""
