"""Texts of a study's prompts on the page."""

from swaymeter.flows.config.prompt import PromptPart
from swaymeter.flows.stages.report import _prompt_description


def test_the_page_shows_prompts_in_words() -> None:
    _, with_context, *_ = _prompt_description(PromptPart(form="strict")).split("\n\n")
    assert "from the passages below and from nothing else" in with_context
    own = _prompt_description(PromptPart(without_context="Say it: {question}", system=""))
    assert own.endswith("\n\nSay it: {question}")
