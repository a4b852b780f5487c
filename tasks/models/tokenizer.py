"""A model's tokenizer and chat template without its weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.files.hub import conversion_folder, convert_once, snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model
from swaymeter.tasks.models.pretrained import load_once, load_pretrained


class Tokenizer:
    """Token ids of texts, and texts of token ids, by a tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def spellings(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return the tokens that spell a name after a space and, if they differ, after a line break."""
        after_space = self._ids(f"x {name}")[len(self._ids("x")) :]
        after_break = self._ids(f"x\n{name}")[len(self._ids("x\n")) :]
        return tuple(dict.fromkeys((after_space, after_break)))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        return str(self._tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))


def tokenizer_revision(name: str) -> str:
    """Return the revision of a model's tokenizer; raises like identify_model."""
    return identify_model(name, "language_model").revision


@load_once
def load_tokenizer(name: str) -> Tokenizer:
    """Load the tokenizer of a model; raises like load_language_model."""
    return Tokenizer(load_transformers_tokenizer(identify_model(name, "language_model")))


def load_transformers_tokenizer(identity: ModelIdentity) -> Any:
    """Load the tokenizer of a model by transformers."""
    from transformers import AutoTokenizer

    # "embedded": a GGUF file in an installed package, converted once
    folder = convert_once(Path(identity.location), identity.revision) if identity.origin == "embedded" else None
    return load_pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)


@dataclass(frozen=True)
class UnloadedModel:
    """A language model without its weights.

    Attributes:
        name: the name of the model.
        tokenizer: the tokenizer of transformers.
    """

    name: str
    tokenizer: Any

    @property
    def has_chat_template(self) -> bool:
        """True if the tokenizer has a chat template."""
        return bool(self.tokenizer.chat_template)


@load_once
def unloaded_model(identity: ModelIdentity) -> UnloadedModel | None:
    """Return a model without its weights, or None if this machine lacks its tokenizer; nothing is downloaded."""
    from huggingface_hub import try_to_load_from_cache
    from transformers import AutoTokenizer

    folder = Path(identity.location)
    if identity.origin == "embedded":  # a GGUF file in an installed package, converted once
        folder = conversion_folder(folder, identity.revision)
    elif identity.origin == "hub":
        folder = snapshot_folder(identity.location, identity.revision)
    if not (folder / "tokenizer_config.json").is_file():
        return None
    try:
        local = replace(identity, origin="folder", location=str(folder))
        unloaded = UnloadedModel(identity.name, load_pretrained(local, AutoTokenizer.from_pretrained))
    except ModelError:
        return None  # loading reports the reason
    if identity.origin == "hub" and not unloaded.has_chat_template:
        file = try_to_load_from_cache(identity.location, "chat_template.jinja", revision=identity.revision)
        # `file` is None if this machine has not looked for the file at the hub: the model may have a chat template.
        return None if file is None else unloaded
    return unloaded
