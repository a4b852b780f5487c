"""The embedded model, loaded once for all tests of this folder."""

import pytest

from swaymeter.tasks.models import LanguageModel, load_language_model


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    """The embedded model in float32 on the CPU; converted when a machine first runs this."""
    return load_language_model("smollm2-135m-instruct", dtype="float32", device="cpu")
