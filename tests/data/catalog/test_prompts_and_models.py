"""The floors of the prompts and the model aliases."""

import re

from data import catalog


def test_prompts_with_context_put_the_question_last() -> None:
    prompts = catalog.prompts()
    for template in (prompts.with_context, prompts.plain_with_context):
        assert template.index("{context}") < template.index("{question}")
    assert prompts.plain_without_context == "Q: {question}\nA:"
    assert "{" not in prompts.system


def test_a_model_is_a_hub_id_or_a_packaged_file() -> None:
    for model in catalog.models().values():
        if model.hub:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", model.hub)
        else:
            assert model.package
            assert model.module
            assert model.version
            assert model.file
            assert re.fullmatch(r"[0-9a-f]{64}", model.sha256 or "")


def test_there_is_a_model_of_every_kind() -> None:
    assert {model.kind for model in catalog.models().values()} == set(catalog.MODEL_KINDS)
