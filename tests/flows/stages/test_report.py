"""What the step that draws the page says of a study."""

from swaymeter.flows.config.prompt import PromptPart
from swaymeter.flows.stages.report import _wording


def test_prompts_that_are_compared_are_shown_in_words() -> None:
    _, with_context, *_ = _wording(PromptPart(form="strict")).split("\n\n")
    assert "from the passages below and from nothing else" in with_context
    own = _wording(PromptPart(without_context="Say it: {question}", system=""))
    assert own.endswith("\n\nSay it: {question}")
