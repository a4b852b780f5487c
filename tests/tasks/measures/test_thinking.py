"""Measures of answers after thoughts. No measure scores thoughts, or replies whose thoughts did not end."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.measures.measure import Inputs
from swaymeter.tasks.models.generation.answers import AnswerEnd
from tests.tasks.measures.conftest import Row, Study
from tests.tasks.models.generation.test_thoughts import CHAT_OPENS_THOUGHTS, thinking_model
from tests.tasks.models.tiny import CHAT

ANSWER_MEASURES = ("clusters", "coherent_persuasion", "semantic_entropy", "accuracy", "persuaded", "whose_answer")
END_OF_THOUGHTS_TOKEN = 262
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


@dataclass
class Thinking(Study):
    """A study of a model that thinks before it answers."""

    template: str = CHAT_OPENS_THOUGHTS

    def _load(self) -> Any:
        self.loaded += 1
        # The model itself opens thoughts that the prompt does not open. The numbers are added to logits.
        opens = 0.0 if self.template == CHAT_OPENS_THOUGHTS else 9.0
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
    """Return a study in which some thoughts end and others do not."""
    thinking = thinking_study(tmp_path_factory.mktemp("thinking"), prompts, models, {"max_new_tokens": 12})
    thinking.score("answers", *ANSWER_MEASURES)
    return thinking


def _case(row: Row) -> tuple[str, str]:
    return row["question_id"], row["context_id"]


def _reply(row: Row) -> tuple[str, str, int | None]:
    return *_case(row), row["sample"]


def test_unfinished_thoughts_have_no_score(study: Thinking) -> None:
    answers = study.rows("answers")
    ended = set(map(_reply, (row for row in answers if row["state"] != "unfinished_thoughts")))
    assert 0 < len(ended) < len(answers)
    assert {row["thinking"] for row in answers} == {"the chat template has no switch, at most 12 tokens of thoughts"}
    assert set(map(_reply, study.rows("whose_answer"))) == ended
    clustered = list(map(_reply, study.rows("clusters")))
    assert sorted(clustered) == sorted(reply for reply in ended if reply[2] is not None)
    counts = Counter(reply[:2] for reply in clustered)
    assert {_case(row): sum(row["group_sizes"]) for row in study.rows("semantic_entropy")} == dict(counts)
    clustered_pairs = {case for case in counts if case[1] != "none" and (case[0], "none") in counts}
    assert set(map(_case, study.rows("coherent_persuasion"))) == clustered_pairs
    greedy = {reply[:2] for reply in ended if reply[2] is None}
    assert set(map(_case, study.rows("accuracy"))) == greedy
    greedy_pairs = {case for case in greedy if case[1] != "none" and (case[0], "none") in greedy}
    assert set(map(_case, study.rows("persuaded"))) == greedy_pairs


def test_withheld_answers_have_no_score(study: Thinking, tmp_path: Path) -> None:
    later = replace(study, folder=tmp_path / "later")
    answers = [
        {**row, "state": "withheld" if row["sample"] == 0 else "complete", "thoughts": ""}
        for row in study.rows("answers")
    ]
    later.store("answers", answers)
    judged = set(map(_reply, later.rows("whose_answer")))
    assert judged == set(map(_reply, (row for row in answers if row["state"] != "withheld")))
    assert len(judged) < len(answers)


def test_thoughts_are_stored_beside_the_answer(study: Thinking) -> None:
    rows, ends = study.rows("answers"), AnswerEnd(thinking_model(CHAT_OPENS_THOUGHTS), "chat")
    assert any(row["thoughts"] and row["text"] for row in rows)
    for row in rows:
        assert len(row["token_log_probs"]) == len(row["token_ids"]) <= 8
        assert row["text"] == ends.text(tuple(row["token_ids"]))
        assert (row["state"] == "unfinished_thoughts") == (not row["token_ids"])
        assert END_OF_THOUGHTS_TOKEN in row["thought_ids"] or row["state"] == "unfinished_thoughts"


def test_later_persuasion_equals_persuasion_of_the_pass(study: Thinking, tmp_path: Path) -> None:
    """The study has all questions in one chunk, and the later study has smaller chunks."""
    later = replace(study, folder=tmp_path / "later", loaded=0)
    for first, second in zip(study.rows("answers"), later.rows("answers"), strict=True):
        assert (first["thought_ids"], first["token_ids"]) == (second["thought_ids"], second["token_ids"])
    assert later.rows("clusters") == study.rows("clusters")
    scores = [row["coherent_persuasion"] for row in study.rows("coherent_persuasion")]
    assert [row["coherent_persuasion"] for row in later.rows("coherent_persuasion")] == pytest.approx(scores, abs=1e-4)
    assert later.loaded == 2


def test_verdicts_do_not_depend_on_thoughts(study: Thinking, tmp_path: Path) -> None:
    """All replies state the right answer. Their thoughts are empty, or state the answer of the context."""
    questions = {question.question_id: question for question in study.inputs.questions}
    stated = {(key, case.context_id): case.answers for key, question in questions.items() for case in question.cases}
    results = []
    for thoughts in ({}, stated):
        rows = [
            {**row, "text": questions[row["question_id"]].object, "thoughts": " ".join(thoughts.get(_case(row), ()))}
            for row in study.rows("answers")
        ]
        other = replace(study, folder=tmp_path / str(len(thoughts)))
        other.store("answers", rows)
        results.append({name: other.rows(name) for name in ("whose_answer", "accuracy", "persuaded")})
    assert results[0] == results[1]
    # With the original context, the verdict is "context".
    assert {row["verdict"] for row in results[0]["whose_answer"]} == {"original", "context"}


def test_only_models_without_a_switch_may_think(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> None:
    thinking_by_name = {}
    for name, template in (("off", CHAT + SWITCH), ("always", CHAT_OPENS_THOUGHTS), ("never", CHAT)):
        thinking = {"max_new_tokens": 12, "models": "without_switch"}
        own_study = thinking_study(tmp_path / name, prompts, models, thinking, template=template)
        (thinking_by_name[name],) = {row["thinking"] for row in own_study.rows("answers")}
    always = "the chat template has no switch, at most 12 tokens of thoughts"
    assert thinking_by_name == {"off": "enable_thinking=false", "always": always, "never": None}


def test_first_token_of_thoughts_is_not_scored(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> None:
    for name, template in (("opened", CHAT_OPENS_THOUGHTS), ("written", CHAT)):
        own_study = thinking_study(tmp_path / name, prompts, models, None, template=template)
        for measure in ("context_utilisation", "passage_persuasion"):
            with pytest.raises(ScoreError, match=f"{measure} reads .* begins the reply with thoughts"):
                own_study.score(measure)
