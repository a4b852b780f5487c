"""Harmful model folders: none of their code is executed."""

import json
import pickle
from pathlib import Path

import pytest

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from tests.tasks.models.tiny import CHAT, save_language_model


class Payload:
    """An object that writes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def add_pickled_weights(model: Path, mark: Path) -> None:
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(mark)))


def leave_only_pickled_weights(model: Path, mark: Path) -> None:
    add_pickled_weights(model, mark)
    (model / "model.safetensors").unlink()


def add_code(model: Path, mark: Path) -> None:
    (model / "own.py").write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    for name, classes in (
        ("config.json", {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}),
        ("tokenizer_config.json", {"AutoTokenizer": ["own.Tokenizer", None]}),
    ):
        content = json.loads((model / name).read_text())
        (model / name).write_text(json.dumps({**content, "auto_map": classes}))


def add_template(model: Path, mark: Path) -> None:
    escape = "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ cycler.__init__.__globals__.open('%s', 'w') }}"
    (model / "chat_template.jinja").write_text(escape % mark + CHAT)


@pytest.mark.parametrize(
    ("harm", "is_refused"),
    [(add_pickled_weights, False), (leave_only_pickled_weights, True), (add_code, False), (add_template, True)],
)
def test_code_in_a_model_folder_never_runs(harm: object, is_refused: bool, tmp_path: Path) -> None:
    model, mark = save_language_model(tmp_path / "model"), tmp_path / "executed"
    harm(model, mark)
    try:
        answer_prompt(load_language_model(str(model), dtype="float32", device="cpu"), "Where is Lima?")
    except ModelError:
        assert is_refused
    else:
        assert not is_refused
    assert not mark.exists()


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_truncated_file_is_refused(file: str, tmp_path: Path) -> None:
    model = save_language_model(tmp_path / "model")
    (model / file).write_bytes((model / file).read_bytes()[: (model / file).stat().st_size // 2])
    with pytest.raises(ModelError):
        load_language_model(str(model), dtype="float32", device="cpu")
