"""Check of the installation: packages, bundled models, GPU, Prefect's API, DuckDB."""

import importlib.metadata
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.records.tables import RECORD_TABLES
from swaymeter.data.sources.access import close_sessions
from swaymeter.data.warehouse.loading import build
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.server.api import prefect_api
from swaymeter.tasks.models import identify_entailment, load_embedder, load_language_model
from swaymeter.tasks.models.endpoints.endpoint import Endpoint

PROGRAMS = ("swaymeter", "prefect", "torch", "transformers", "duckdb", "pyarrow", "pandas", "matplotlib")
BUNDLED_MODEL = "smollm2-135m-instruct"
BUNDLED_EMBEDDER = "all-minilm-l6-v2"


@dataclass(frozen=True)
class Check:
    """The check of a part of the installation, with its result or its error."""

    name: str
    works: bool
    detail: str


def checks() -> Iterator[Check]:
    """Yield the check of everything that a study may need; a broken part does not stop the next check."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PROGRAMS)
    yield Check("packages", True, f"Python {platform.python_version()}, {versions}")
    yield Check("bundled studies", True, ", ".join(sorted(path.stem for path in STUDIES.glob("*.yaml"))))
    parts: dict[str, Callable[[], str]] = {
        "processors": _processors,
        "language model": _language_model,
        "embedder": _embedder,
        "entailment": lambda: f"stand-in {BUNDLED_EMBEDDER}, revision {identify_entailment(BUNDLED_EMBEDDER)[:12]}",
        "DuckDB": _duckdb,
        "Prefect API": _prefect,
    }
    for name, check in parts.items():
        try:
            yield Check(name, True, check())
        except Exception as error:  # any error is the result of the check
            yield Check(name, False, f"{type(error).__name__}: {error}")


def servers(models: Iterable[ModelPart]) -> Iterator[Check]:
    """Yield the check of each server, with its capabilities and the reasons for missing capabilities."""
    for model in models:
        if endpoint := model.served:
            try:
                yield Check(f"server {model.name}", True, _server(endpoint))
            except SwaymeterError as error:
                yield Check(f"server {model.name}", False, str(error))


def _server(endpoint: Endpoint) -> str:
    """Return the API, key and capabilities of a server in words; a dozen requests probe the server."""
    from swaymeter.tasks.models.endpoints.model import load_served

    with tempfile.TemporaryDirectory() as folder:
        try:
            probe = load_served(endpoint, Path(folder)).probe
        finally:
            close_sessions()
    version = f" {probe.description['version']}" if "version" in probe.description else ""
    prompt_form = f"as tokens of {endpoint.tokenizer}" if endpoint.tokenizer else "as messages"
    parts = [
        f"{probe.api}{version} at {endpoint.address}",
        f"the key in {endpoint.key_variable} is accepted" if endpoint.key_from else "requests are sent without a key",
        *(["prompts and keys are sent without encryption"] if endpoint.is_unencrypted else []),
        f"prompts are sent {prompt_form}",
        *(f"cannot give {capability} ({reason})" for capability, reason in probe.missing.items()),
    ]
    # failed checks of the probe that are no reason for a missing capability
    notes = {f"{check}: {reason}" for check, reason in probe.failed.items()} - {*probe.missing.values()}
    return "; ".join([*parts, *(f"failed check {note}" for note in sorted(notes))])


def show(console: Console, results: Iterable[Check]) -> bool:
    """Print each check as soon as it is done, and return True if all parts work."""
    broken = 0
    for check in results:
        broken += not check.works
        mark = "[green]works [/green]" if check.works else "[red]broken[/red]"
        console.print(f"{mark}  {check.name:<16} {escape(check.detail)}", soft_wrap=True)
    return not broken


def _processors() -> str:
    import torch

    gpus = [f"cuda:{number} {torch.cuda.get_device_name(number)}" for number in range(torch.cuda.device_count())]
    units = torch.cpu.get_capabilities()
    if units.get("amx_bf16"):
        bfloat16 = "matrix units for bfloat16 (amx_bf16): dtype bfloat16 is much faster than float32 on this CPU"
    elif units.get("avx512_bf16") or units.get("bf16"):  # the flags of x86 and Arm
        bfloat16 = "vector units for bfloat16: dtype bfloat16 saves memory, but little time, on this CPU"
    else:
        bfloat16 = "no units for bfloat16: dtype bfloat16 is slower than float32 on this CPU"
    quantised = "8bit and 4bit need a GPU"
    if gpus:
        try:
            quantised = f"8bit and 4bit with bitsandbytes {importlib.metadata.version('bitsandbytes')}"
        except importlib.metadata.PackageNotFoundError:
            quantised = '8bit and 4bit need bitsandbytes: pip install "swaymeter[quantised]"'
    return f"{torch.get_num_threads()} processor threads, {bfloat16}; GPU: {', '.join(gpus) or 'none'}; {quantised}"


def _language_model() -> str:
    model = load_language_model(BUNDLED_MODEL, dtype="float32", device="cpu")
    return f"{model.name} loads, revision {model.revision[:12]}"


def _embedder() -> str:
    shape = load_embedder(BUNDLED_EMBEDDER).embed(["Oslo"]).shape
    return f"{BUNDLED_EMBEDDER} loads, {shape[1]} dimensions"


def _duckdb() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doctor.duckdb"
        build(path, "doctor", RECORD_TABLES, {})
        with opened(path, RECORD_TABLES):
            return "a database can be written and read"


def _prefect() -> str:
    with prefect_api() as url:
        return f"answers at {url}"
