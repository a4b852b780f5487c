"""Texts of replies with thoughts, as families of models write them, and what is judged of them."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from swaymeter.tasks.models.prompts.thoughts import MARKS, marks_of, opens_marks, without_thoughts
from swaymeter.tasks.scoring.followed import whose_answer

REPORT = Path(__file__).resolve().parents[3] / "oracle" / "reports" / "08-models-that-think"


@pytest.mark.parametrize("case", json.loads((REPORT / "cases.json").read_text(encoding="utf-8")))
def test_thoughts_of_a_reply_are_not_judged(case: dict[str, str]) -> None:
    asked = {"context": case["context"], "original": case["original"], "question": case["question"]}
    assert whose_answer(case["reply"], **asked) == case["right"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\nLund? Or Malmen.\n</think>\n\nMalmen", "\n\nMalmen"),
        ("Lund, the passage says.\n</think>\nMalmen", "\nMalmen"),  # the prompt has opened it
        ("<think>\nLund or Malmen, let me", None),
        ("<THINK>a</THINK> b", " b"),
        ("[THINK]Lund[/THINK]Malmen", "Malmen"),
        ("<|channel|>analysis<|message|>Lund<|end|><|start|>assistant<|channel|>final<|message|>Malmen", "Malmen"),
        ("<|channel|>final<|message|>Malmen", "Malmen"),
        ("<|channel|>analysis<|message|>Lund<|end|>", None),
        ("<think>Lund</think><response>Malmen</response>", "Malmen"),
        ("<|START_THINKING|>Lund<|END_THINKING|><|START_RESPONSE|>Malmen<|END_RESPONSE|>", "Malmen"),
        ("3 < 4 [sic] | Malmen", "3 < 4 [sic] | Malmen"),
    ],
)
def test_what_stands_behind_thoughts_is_the_answer(text: str, answer: str | None) -> None:
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
    assert opens_marks((REPORT / "chat_template.jinja").read_text(encoding="utf-8"))
    assert not opens_marks("{{ messages[0]['content'].split('</think>')[-1] }}")
