"""A folder of a model that was made to harm: none of what it brings along is executed."""

import json
import pickle
from pathlib import Path

import pytest

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from tests.tasks.models.tiny import CHAT, save_language_model


class Payload:
    """Writes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def pickled(model: Path, mark: Path) -> None:
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(mark)))


def pickled_alone(model: Path, mark: Path) -> None:
    pickled(model, mark)
    (model / "model.safetensors").unlink()


def with_code(model: Path, mark: Path) -> None:
    (model / "own.py").write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    for name, classes in (
        ("config.json", {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}),
        ("tokenizer_config.json", {"AutoTokenizer": ["own.Tokenizer", None]}),
    ):
        content = json.loads((model / name).read_text())
        (model / name).write_text(json.dumps({**content, "auto_map": classes}))


def with_template(model: Path, mark: Path) -> None:
    escape = "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ cycler.__init__.__globals__.open('%s', 'w') }}"
    (model / "chat_template.jinja").write_text(escape % mark + CHAT)


@pytest.mark.parametrize(
    ("harm", "refused"), [(pickled, False), (pickled_alone, True), (with_code, False), (with_template, True)]
)
def test_nothing_of_a_model_folder_is_executed(harm: object, refused: bool, tmp_path: Path) -> None:
    model, mark = save_language_model(tmp_path / "model"), tmp_path / "executed"
    harm(model, mark)
    try:
        answer_prompt(load_language_model(str(model), dtype="float32", device="cpu"), "Where is Lima?")
    except ModelError:
        assert refused
    else:
        assert not refused
    assert not mark.exists()


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_file_cut_short_is_refused(file: str, tmp_path: Path) -> None:
    model = save_language_model(tmp_path / "model")
    (model / file).write_bytes((model / file).read_bytes()[: (model / file).stat().st_size // 2])
    with pytest.raises(ModelError):
        load_language_model(str(model), dtype="float32", device="cpu")
