"""Small language models, and a fixture that sets their replies."""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from swaymeter.tasks.contexts import invented_by_model
from swaymeter.tasks.contexts.disputes import questions
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import Answer, SampledAnswers
from tests.tasks.models.tiny import CHAT, tiny_language_model

SetReplies = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def plain() -> LanguageModel:
    return tiny_language_model(window=4096)


@pytest.fixture(scope="session")
def chat() -> LanguageModel:
    return tiny_language_model(chat_template=CHAT, window=4096)


@pytest.fixture
def set_replies(monkeypatch: pytest.MonkeyPatch) -> SetReplies:
    """Return a function that sets the replies of all models, and returns the list of their requests.

    Each prompt gets the next list of texts as its samples. The first list follows the last one.
    """

    def replace_samplers(*replies: Sequence[str]) -> list[dict[str, Any]]:
        requests: list[dict[str, Any]] = []
        texts = cycle(replies)

        def sample(model: Any, prompts: Any, identities: Any, **options: Any) -> list[SampledAnswers]:
            sampled = []
            for tokens, identity in zip(prompts, identities, strict=True):
                prompt = str(model.tokenizer.decode(tokens))
                request = {"prompt": prompt, "tokens": tokens, "identity": identity, "batch": len(prompts)}
                requests.append(request | options)
                samples = tuple(Answer(text, (), (), np.zeros(0, np.float32), "complete") for text in next(texts))
                sampled.append(SampledAnswers(samples, samples[0]))
            return sampled

        for module in (questions, invented_by_model):
            monkeypatch.setattr(module, "sample_answers", sample)
        return requests

    return replace_samplers
