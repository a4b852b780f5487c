"""Models and reference values that several tests of tasks share."""

import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.tasks.models import LanguageModel, load_language_model
from tests.tasks.models.tiny import CHAT, tiny_language_model


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    """Return the model from its installed package. The first use on a machine converts its file."""
    return load_language_model("smollm2-135m-instruct", dtype="float32", device="cpu")


@pytest.fixture(scope="session")
def tiny() -> LanguageModel:
    return tiny_language_model()


@pytest.fixture(scope="session")
def tiny_chat() -> LanguageModel:
    """Return a chat model whose replies often end. A third of its tokens are end tokens."""
    model = tiny_language_model(chat_template=CHAT)
    model.model.generation_config.eos_token_id = [1, *range(170, 261)]
    return model


@pytest.fixture(scope="session")
def oracle() -> dict[str, Any]:
    """Return the reference values of published code, by name of the file."""
    folder = Path(__file__).parents[1] / "oracle"
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")}
