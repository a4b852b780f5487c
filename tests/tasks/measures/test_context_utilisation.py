"""Context utilisation by context kind, compared with prompts that are read one by one."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.tasks.measures.context_utilisation import compute
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from tests.tasks.measures.conftest import Row
from tests.tasks.models.reference_values import log_probs

QUESTION_TEXT = "What is the capital of Norway?"
LIMA = "The capital of Norway is Lima, says a book."


def case(condition: str, text: str | None, *answers: str) -> Any:
    return SimpleNamespace(context_id=f"the {condition} one", condition=condition, text=text, answers=answers)


CASES = (
    case("none", None),
    case("conflicting", LIMA, "Lima", "Lisbon"),
    case("irrelevant", "Cats sleep a lot."),
    case("unknown", LIMA, "Lima"),
    case("supporting", "Norway has a capital."),
)


def probabilities(model: LanguageModel, text: str | None, prompts: AnswerPrompts | None = None) -> torch.Tensor:
    return log_probs(model, [answer_prompt(model, QUESTION_TEXT, text, prompts=prompts).tokens])[0].double().exp()


def rows_by_condition(model: LanguageModel, prompts: AnswerPrompts, cases: Sequence[Any] = CASES) -> dict[str, Row]:
    question: Any = SimpleNamespace(question_id="q", question=QUESTION_TEXT, cases=cases, is_disputable=False)
    inputs: Any = SimpleNamespace(batch_size=2, answer_prompts=prompts)
    return {row["condition"]: dict(row) for row in compute(inputs, model, [question])}


@pytest.fixture(scope="module")
def rows(smollm2: LanguageModel) -> dict[str, Row]:
    return rows_by_condition(smollm2, catalog.prompts())


def test_context_promotes_its_stated_answers(rows: dict[str, Row], smollm2: LanguageModel) -> None:
    token = smollm2.tokenizer("Lima")["input_ids"][0]
    before, after = float(probabilities(smollm2, None)[token]), float(probabilities(smollm2, LIMA)[token])
    row = rows["conflicting"]
    assert list(rows) == ["conflicting", "irrelevant", "unknown"]  # "supporting" states no answer, and has no row
    assert row["promoted"] == ["L"]  # Lima and Lisbon share their first token
    assert (row["probability_without"], row["probability_with"]) == pytest.approx((before, after), abs=1e-5)
    assert row["continuous_utilisation"] == pytest.approx((after - before) / (1 - before), abs=1e-4)
    assert row["binary_utilisation"] == (row["token_with"] == "L")
    assert (row["question_id"], row["context_id"]) == ("q", "the conflicting one")
    assert rows["unknown"]["continuous_utilisation"] == pytest.approx(row["continuous_utilisation"], abs=1e-4)


def test_prompts_of_the_study_are_used(smollm2: LanguageModel) -> None:
    prompts = replace(catalog.prompts(), plain_without_context="Well, {question}", chat_template="never")
    row = rows_by_condition(smollm2, prompts, CASES[:2])["conflicting"]
    assert row["promoted"] == [" Lima", " Lisbon"]
    tokens = [smollm2.tokenizer(text)["input_ids"][0] for text in row["promoted"]]
    before, after = (float(probabilities(smollm2, text, prompts)[tokens].sum()) for text in (None, LIMA))
    assert (row["probability_without"], row["probability_with"]) == pytest.approx((before, after), abs=1e-5)


def test_irrelevant_context_promotes_the_closed_book_token(rows: dict[str, Row], smollm2: LanguageModel) -> None:
    before, after = probabilities(smollm2, None), probabilities(smollm2, "Cats sleep a lot.")
    token = int(before.argmax())
    row = rows["irrelevant"]
    assert row["promoted"] == [row["token_without"]] == [smollm2.tokenizer.decode([token])]
    assert row["probability_with"] == pytest.approx(float(after[token]), abs=1e-5)
    assert row["binary_utilisation"] == (int(after.argmax()) == token)
