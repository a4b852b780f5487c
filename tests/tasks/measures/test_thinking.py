"""Measures of answers behind thoughts: no score is of the thoughts, and none counts thoughts that did not end."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.measures.measure import Inputs
from swaymeter.tasks.models.generation.answers import AnswerEnd
from tests.tasks.measures.conftest import Row, Study
from tests.tasks.models.generation.test_thoughts import OPENED, thinking_model
from tests.tasks.models.tiny import CHAT

OF_ANSWERS = ("clusters", "coherent_persuasion", "semantic_entropy", "accuracy", "persuaded", "whose_answer")
CLOSES = 262
"""The token that ends thoughts."""
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


@dataclass
class Thinking(Study):
    """A study of a model that thinks before it answers."""

    template: str = OPENED

    def _load(self) -> Any:
        self.loaded += 1
        opens = 0.0 if self.template == OPENED else 9.0
        model = thinking_model(self.template, opens=opens, closes=9.0, ends=8.0)
        model.model.config.max_position_embeddings = 2048
        return model


def thinking_study(folder: Path, prompts: Inputs, models: dict[str, str], thinking: Any, **changes: Any) -> Thinking:
    answers = {"samples": 4, "max_new_tokens": 8, "temperature": 1.0, "thinking": thinking}
    parameters = {"answers": answers, "clusters": {"entailment": models["entailment"]}}
    for measure in ("coherent_persuasion", "semantic_entropy"):
        parameters[measure] = {"half_samples": 12}
    return Thinking(folder, prompts, models["language"], parameters, **changes)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, prompts: Inputs, models: dict[str, str]) -> Thinking:
    """One in which some thoughts end and others do not."""
    found = thinking_study(tmp_path_factory.mktemp("thinking"), prompts, models, {"max_new_tokens": 12})
    found.score("answers", *OF_ANSWERS)
    return found


def _case(row: Row) -> tuple[str, str]:
    return row["question_id"], row["context_id"]


def _sample(row: Row) -> tuple[str, str, int | None]:
    return *_case(row), row["sample"]


def test_unfinished_thoughts_have_no_score(study: Thinking) -> None:
    answers = study.rows("answers")
    ended = set(map(_sample, (row for row in answers if row["state"] != "unfinished_thoughts")))
    assert 0 < len(ended) < len(answers)
    assert {row["thinking"] for row in answers} == {"the chat template has no switch, at most 12 tokens of thoughts"}
    assert set(map(_sample, study.rows("whose_answer"))) == ended
    clustered = list(map(_sample, study.rows("clusters")))
    assert sorted(clustered) == sorted(one for one in ended if one[2] is not None)
    counts = Counter(one[:2] for one in clustered)
    assert {_case(row): sum(row["group_sizes"]) for row in study.rows("semantic_entropy")} == dict(counts)
    both = {one for one in counts if one[1] != "none" and (one[0], "none") in counts}
    assert set(map(_case, study.rows("coherent_persuasion"))) == both
    greedy = {one[:2] for one in ended if one[2] is None}
    assert set(map(_case, study.rows("accuracy"))) == greedy
    both = {one for one in greedy if one[1] != "none" and (one[0], "none") in greedy}
    assert set(map(_case, study.rows("persuaded"))) == both


def test_no_score_is_of_answer_that_was_withheld(study: Thinking, tmp_path: Path) -> None:
    later = replace(study, folder=tmp_path / "later")
    answers = [
        {**row, "state": "withheld" if row["sample"] == 0 else "complete", "thoughts": ""}
        for row in study.rows("answers")
    ]
    later.store("answers", answers)
    judged = set(map(_sample, later.rows("whose_answer")))
    assert judged == set(map(_sample, (row for row in answers if row["state"] != "withheld")))
    assert len(judged) < len(answers)


def test_thoughts_are_stored_beside_the_answer(study: Thinking) -> None:
    rows, ends = study.rows("answers"), AnswerEnd(thinking_model(OPENED), "chat")
    assert any(row["thoughts"] and row["text"] for row in rows)
    for row in rows:
        assert len(row["token_log_probs"]) == len(row["token_ids"]) <= 8
        assert row["text"] == ends.text(tuple(row["token_ids"]))
        assert (row["state"] == "unfinished_thoughts") == (not row["token_ids"])
        assert CLOSES in row["thought_ids"] or row["state"] == "unfinished_thoughts"


def test_persuasion_asked_for_later_is_that_of_pass(study: Thinking, tmp_path: Path) -> None:
    """The pass of the study had all questions in one chunk, this one has few."""
    later = replace(study, folder=tmp_path / "later", loaded=0)
    for first, again in zip(study.rows("answers"), later.rows("answers"), strict=True):
        assert (first["thought_ids"], first["token_ids"]) == (again["thought_ids"], again["token_ids"])
    assert later.rows("clusters") == study.rows("clusters")
    scores = [row["coherent_persuasion"] for row in study.rows("coherent_persuasion")]
    assert [row["coherent_persuasion"] for row in later.rows("coherent_persuasion")] == pytest.approx(scores, abs=1e-4)
    assert later.loaded == 2


def test_verdicts_are_blind_to_thoughts(study: Thinking, tmp_path: Path) -> None:
    """All answers state the right one, and their thoughts that of the context, or nobody's."""
    questions = {question.question_id: question for question in study.inputs.questions}
    stated = {(key, case.context_id): case.answers for key, question in questions.items() for case in question.cases}
    found = []
    for thoughts in ({}, stated):
        rows = [
            {**row, "text": questions[row["question_id"]].object, "thoughts": " ".join(thoughts.get(_case(row), ()))}
            for row in study.rows("answers")
        ]
        other = replace(study, folder=tmp_path / str(len(thoughts)))
        other.store("answers", rows)
        found.append({name: other.rows(name) for name in ("whose_answer", "accuracy", "persuaded")})
    assert found[0] == found[1]
    assert {row["verdict"] for row in found[0]["whose_answer"]} == {"original", "context"}  # of the original context


def test_only_models_without_a_switch_may_think(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> None:
    said = {}
    for name, template in (("off", CHAT + SWITCH), ("always", OPENED), ("never", CHAT)):
        part = {"max_new_tokens": 12, "models": "without_switch"}
        asked = thinking_study(tmp_path / name, prompts, models, part, template=template)
        (said[name],) = {row["thinking"] for row in asked.rows("answers")}
    always = "the chat template has no switch, at most 12 tokens of thoughts"
    assert said == {"off": "enable_thinking=false", "always": always, "never": None}


def test_first_token_of_a_thought_is_no_answers(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> None:
    for name, template in (("opened", OPENED), ("written", CHAT)):
        asked = thinking_study(tmp_path / name, prompts, models, None, template=template)
        for measure in ("context_utilisation", "passage_persuasion"):
            with pytest.raises(ScoreError, match=f"{measure} reads .* opens thoughts before the answer"):
                asked.score(measure)
