"""A model's tokenizer without its weights: what an index of tokens is asked with, and what has its chat template."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.files.hub import converted_folder, folder_of, snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model
from swaymeter.tasks.models.loading import loaded_once, pretrained


class Tokenizer:
    """Texts as the numbers of their tokens, and back, by a tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
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


@loaded_once
def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of the model of that name, loaded once a process; raises as load_language_model does."""
    return Tokenizer(load_transformers_tokenizer(identify_model(name, "language_model")))


def load_transformers_tokenizer(identity: ModelIdentity) -> Any:
    """The tokenizer of a model as transformers has it."""
    from transformers import AutoTokenizer

    folder = converted_folder(Path(identity.location), identity.revision) if identity.kind == "embedded" else None
    return pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)


@dataclass(frozen=True)
class Unloaded:
    """A language model that is not loaded: its name and its tokenizer, of transformers."""

    name: str
    tokenizer: Any

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation with this model is written."""
        return bool(self.tokenizer.chat_template)


@loaded_once
def at_hand(identity: ModelIdentity) -> Unloaded | None:
    """A model with its tokenizer alone; None where this is not on this machine: nothing is downloaded or converted."""
    from huggingface_hub import try_to_load_from_cache
    from transformers import AutoTokenizer

    folder = Path(identity.location)
    if identity.kind == "embedded":
        folder = folder_of(folder, identity.revision)
    elif identity.kind == "hub":
        folder = snapshot_folder(identity.location, identity.revision)
    if not (folder / "tokenizer_config.json").is_file():
        return None
    try:
        local = replace(identity, kind="folder", location=str(folder))
        unloaded = Unloaded(identity.name, pretrained(local, AutoTokenizer.from_pretrained))
    except ModelError:
        return None  # loading says why
    if identity.kind == "hub" and not unloaded.has_chat_template:
        file = try_to_load_from_cache(identity.location, "chat_template.jinja", revision=identity.revision)
        return None if file is None else unloaded  # nobody knows whether the hub has it
    return unloaded
