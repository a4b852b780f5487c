"""The backends of language models, and what is asked of whichever serves a name. Importing this imports no torch."""

from dataclasses import replace

from swaymeter.data.errors import ModelError, UnknownName
from swaymeter.tasks.models.backend import Backend, Capability
from swaymeter.tasks.models.files.identity import ModelIdentity, aliases
from swaymeter.tasks.models.language_model import LanguageModel
from swaymeter.tasks.models.transformers_backend import TRANSFORMERS

BACKENDS: tuple[Backend, ...] = (TRANSFORMERS,)
"""The first that accepts a name serves it."""


def capabilities(name: str) -> frozenset[Capability]:
    """What the language model of that name can give, known without its weights; UnknownName where none serves it."""
    return _backend_of(name).capabilities


def identify_language_model(name: str) -> ModelIdentity:
    """The identity of the language model of that name; raises as load_language_model does."""
    return _backend_of(name).identify(name)


def load_language_model(
    name: str, *, dtype: str = "auto", device: str = "auto", revision: str | None = None
) -> LanguageModel:
    """The language model of that name, loaded when it is first asked for.

    Args:
        name: an alias of the catalog ("smollm2-135m-instruct"), a folder, or a hub id.
        dtype: "float32"; "bfloat16", fast on GPUs and on CPUs with matrix units for it; "float16", slow on CPUs; "8bit"
            and "4bit", bitsandbytes on CUDA; or "auto": float32 on a CPU, bfloat16 on a GPU.
        device: "cpu", "cuda", "cuda:1", "balanced" for a model that is spread over all GPUs, or "auto": the first GPU,
            else the CPU.
        revision: which one; None: the one that the name stands for here and now.

    Raises:
        UsageError: a dtype or device that does not exist, or an alias of another kind of model.
        UnknownName: a name that no backend accepts.
        ModelError: what cannot be found or loaded, is damaged, has weights in another dtype, is here in another
            revision, or does not fit the GPUs.
    """
    backend = _backend_of(name)
    identity = backend.identify(name)
    if revision not in (None, identity.revision):
        if identity.kind != "hub":  # which has every revision
            raise ModelError(
                f"model {name!r}: this machine has revision {identity.revision[:12]}, and the run asks for "
                f"{revision[:12]}; have the same files wherever it is computed"
            )
        identity = replace(identity, revision=revision)
    return backend.load(identity, dtype, device)


def _backend_of(name: str) -> Backend:
    for backend in BACKENDS:
        if backend.accepts(name):
            return backend
    raise UnknownName("language model", name, aliases("language_model"))
