"""Language models that answer what a test says."""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.capabilities import Answer, SampledAnswers
from tests.tasks.models.tiny import CHAT, tiny_language_model

Say = Callable[..., list[dict[str, Any]]]
SAMPLERS = (
    "swaymeter.tasks.contexts.disputes.questions.sample_answers",
    "swaymeter.tasks.contexts.invented_by_model.sample_answers",
)


@pytest.fixture(scope="session")
def plain() -> LanguageModel:
    return tiny_language_model(window=4096)


@pytest.fixture(scope="session")
def chat() -> LanguageModel:
    return tiny_language_model(chat_template=CHAT, window=4096)


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Say:
    """Lets models answer each prompt with the next of these lists of texts, over and over; returns what was asked."""

    def says(*answers: Sequence[str]) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = []
        texts = cycle(answers)

        def answered(model: Any, prompts: Any, identities: Any, **options: Any) -> list[SampledAnswers]:
            found = []
            for tokens, identity in zip(prompts, identities, strict=True):
                prompt = str(model.tokenizer.decode(tokens))
                request = {"prompt": prompt, "tokens": tokens, "identity": identity, "batch": len(prompts)}
                asked.append(request | options)
                samples = tuple(Answer(text, (), (), np.zeros(0, np.float32), "complete") for text in next(texts))
                found.append(SampledAnswers(samples, samples[0]))
            return found

        for sampler in SAMPLERS:
            monkeypatch.setattr(sampler, answered)
        return asked

    return says
