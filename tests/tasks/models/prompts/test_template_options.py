"""Keywords of chat templates, the switch of thinking, and thoughts in replies of families of models."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.catalog import prompts
from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt, template_options, thinks_always, turn_prompt
from swaymeter.tasks.models.prompts.template_options import keywords
from swaymeter.tasks.models.prompts.thoughts import MARKS, has_opening_mark, marks_of, without_thoughts
from swaymeter.tasks.scoring.followed import whose_answer
from tests.tasks.models.tiny import CHAT, tiny_language_model

TAIL = "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
EMPTY_THOUGHTS = "<think>\n\n</think>\n\n"
# Templates in which thinking is on by default, is off by default, depends on a word, or is always on.
ON = CHAT + "{% if enable_thinking is defined and not enable_thinking %}" + EMPTY_THOUGHTS + "{% endif %}"
OFF = "{% if not thinking is defined %}{% set thinking = false %}{% endif %}" + CHAT
OFF += "{% if thinking %}<think>{% else %}</think>{% endif %}"
EFFORT = "{% if reasoning_effort not in ['none', 'high'] %}{{ raise_exception('') }}{% endif %}"
EFFORT += "{{ reasoning_effort }}" + CHAT
ALWAYS = CHAT.replace(TAIL, TAIL.replace("{% endif %}", "{{ style }}{{ reasoning_effort }}<think>\n{% endif %}"))


def _prompt_text(model: LanguageModel, **changes: Any) -> str:
    prompt = answer_prompt(model, "Where is Oslo?", prompts=replace(prompts(), **changes))
    return str(model.tokenizer.decode(list(prompt.tokens)))


@pytest.mark.parametrize(
    ("template", "off", "on"),
    [
        (ON, {"enable_thinking": False}, {"enable_thinking": True}),
        (OFF, {"thinking": False}, {"thinking": True}),
        (EFFORT, {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        (ALWAYS, {}, {}),  # reasoning_effort has no value "none"
        (CHAT, {}, {}),
        (CHAT + "{{ enable_thinking | length * 0 }}", {}, {}),  # the keyword changes no prompt
    ],
)
def test_thinking_is_off_by_default(template: str, off: dict[str, Any], on: dict[str, Any]) -> None:
    model = tiny_language_model(chat_template=template)
    assert template_options(model, prompts()) == off
    assert template_options(model, replace(prompts(), thinking=True)) == on


def test_other_keywords_leave_the_switch_unchanged() -> None:
    model = tiny_language_model(chat_template=ON + "{{ reasoning_effort }}")
    low_effort = replace(prompts(), template_options={"reasoning_effort": "low"})
    assert template_options(model, low_effort) == {"enable_thinking": False, "reasoning_effort": "low"}
    assert template_options(model, replace(low_effort, thinking=True))["enable_thinking"] is True
    with_thinking = replace(prompts(), template_options={"enable_thinking": True})
    assert template_options(model, with_thinking)["enable_thinking"] is True


def test_models_think_if_their_template_opens_thoughts() -> None:
    low_effort = replace(prompts(), template_options={"reasoning_effort": "low"})
    with_thinking = replace(prompts(), template_options={"enable_thinking": True})
    removes_thoughts = CHAT + "{% set last = messages[-1]['content'].split('</think>')[-1] %}"
    cases = (
        (ALWAYS, prompts(), True),
        (ALWAYS, low_effort, True),
        (ON, prompts(), False),
        (ON, with_thinking, True),
        (removes_thoughts, prompts(), False),
        (CHAT, prompts(), False),
    )
    for template, template_prompts, thinks in cases:
        assert thinks_always(tiny_language_model(chat_template=template), template_prompts) is thinks
    with pytest.raises(ModelError, match="begins the reply with thoughts"):
        turn_prompt(tiny_language_model(chat_template=ALWAYS), "Names of towns", answer_start="-")


def test_prompt_is_written_with_the_keywords() -> None:
    model = tiny_language_model(chat_template=ON)
    assert _prompt_text(model).endswith(f"<turn>assistant\n{EMPTY_THOUGHTS}")
    assert _prompt_text(model, thinking=True).endswith("<turn>assistant\n")
    assert _prompt_text(model, template_options={"enable_thinking": True}).endswith("<turn>assistant\n")
    styled = tiny_language_model(chat_template=ON.replace("message['content']", "message['content'] ~ (style or '')"))
    text = _prompt_text(styled, template_options={"style": "<end> {{ 6 * 7 }}"})
    assert text.endswith(EMPTY_THOUGHTS)
    assert "<end> {{ 6 * 7 }}" in text
    end_counts = []
    for style in ("a", "<end>"):
        style_prompts = replace(prompts(), template_options={"style": style})
        tokens = answer_prompt(styled, "Where?", prompts=style_prompts).tokens
        end_counts.append(tokens.count(styled.tokenizer.eos_token_id))
    assert end_counts[0] == end_counts[1]  # "<end>" is ordinary text


def test_keyword_that_a_template_lacks_is_refused() -> None:
    assert keywords(ALWAYS) == {"style", "reasoning_effort"}
    with_thinking_off = replace(prompts(), template_options={"enable_thinking": False})
    for template, message in (
        (ALWAYS, r"no keyword 'enable_thinking' \(its keywords: reasoning_effort, style\)"),
        (CHAT, "its keywords: none"),
        (None, "without a chat template"),
    ):
        with pytest.raises(ModelError, match=message):
            answer_prompt(tiny_language_model(chat_template=template), "Where is Oslo?", prompts=with_thinking_off)


REPORT = Path(__file__).resolve().parents[3] / "oracle" / "reports" / "08-models-that-think"
"""Reported replies with their right verdicts, and a reported chat template."""


@pytest.mark.parametrize("case", json.loads((REPORT / "cases.json").read_text(encoding="utf-8")))
def test_verdict_ignores_the_thoughts_of_a_reply(case: dict[str, str]) -> None:
    texts = {"context": case["context"], "original": case["original"], "question": case["question"]}
    assert whose_answer(case["reply"], **texts) == case["right"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\nLund? Or Malmen.\n</think>\n\nMalmen", "\n\nMalmen"),
        ("Lund, the passage says.\n</think>\nMalmen", "\nMalmen"),  # the prompt opened the thoughts
        ("<think>\nLund or Malmen, let me", None),
        ("<THINK>a</THINK> b", " b"),
        ("[THINK]Lund[/THINK]Malmen", "Malmen"),
        ("<|channel|>analysis<|message|>Lund<|end|><|start|>assistant<|channel|>final<|message|>Malmen", "Malmen"),
        ("<|channel|>final<|message|>Malmen", "Malmen"),
        ("<|channel|>analysis<|message|>Lund<|end|>", None),
        ("<think>Lund</think><response>Malmen</response>", "Malmen"),
        ("<|START_THINKING|>Lund<|END_THINKING|><|START_RESPONSE|>Malmen<|END_RESPONSE|>", "Malmen"),
        ("analysisLund? No.assistantfinalMalmen", "Malmen"),
        ("analysis of Lund", "analysis of Lund"),
        ("◁think▷Lund◁/think▷Malmen", "Malmen"),
        ("<|begin_of_thought|>Lund<|end_of_thought|><|begin_of_solution|>Malmen<|end_of_solution|>", "Malmen"),
        ("Thinking Process:\n\n1. Lund?\n2. No.\n\nMalmen", "Malmen"),
        ("Thinking Process:\n\n1. Lund?", None),
        ("3 < 4 [sic] | Malmen", "3 < 4 [sic] | Malmen"),
    ],
)
def test_answer_is_the_text_after_thoughts(text: str, answer: str | None) -> None:
    assert without_thoughts(text) == answer


def test_marks_of_a_response_template_come_first() -> None:
    assert marks_of(SimpleNamespace()) == MARKS
    fields = {"thinking": {"open": ["<a>", "<b>"], "close": "</a>"}, "content": {}}
    first, *others = marks_of(SimpleNamespace(response_template={"fields": fields}))
    assert first.open.fullmatch("<b>")
    assert first.close.fullmatch("</a>")
    assert others == list(MARKS)
    fields["content"] = {"open_pattern": r"<(final|last)>"}
    assert marks_of(SimpleNamespace(response_template={"fields": fields}))[0].close.fullmatch("<last>")
    assert marks_of(SimpleNamespace(response_template={"fields": {"content": {}}})) == MARKS


def test_template_of_the_report_has_marks() -> None:
    assert has_opening_mark((REPORT / "chat_template.jinja").read_text(encoding="utf-8"))
    assert not has_opening_mark("{{ messages[0]['content'].split('</think>')[-1] }}")
