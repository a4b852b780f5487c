import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.flows.api import Study
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages import plan
from swaymeter.flows.stages.estimate import estimate
from swaymeter.tasks.models.files.identity import ModelIdentity
from tests.flows.small_study import load_study, prepare, renew, score
from tests.tasks.models.tiny import CHAT, byte_tokenizer

RELATIONS, ENTITIES = 2, 3
QUERIES, CONTEXTS = 4 * ENTITIES, 2 * ENTITIES
"""Queries and contexts of a relation: from four query templates, and a base and an assertive context."""
PROMPTS_PER_RELATION = QUERIES * CONTEXTS
QUERY_PROMPTS, QUESTION_PROMPTS = RELATIONS * PROMPTS_PER_RELATION, 3 * 3
"""Prompts of all relations, and of three questions: closed-book, and after each of two contexts."""
NOT_COUNTED = "the questions are not fetched yet, so their prompts cannot be counted"
THINKING_WITHOUT_SWITCH = {"max_new_tokens": 100, "models": "without_switch"}
"""A setting `thinking`: models think only if their chat template has no switch that turns thoughts off."""
ALWAYS_THINKS = CHAT + "<think>"
THINKS_BY_SWITCH = CHAT + "{% if enable_thinking %}<think>{% endif %}"
"""Chat templates without and with a switch for thoughts."""
SCORES = Selection(stages=("score",))


def lines(study: Study, selection: Selection = SCORES) -> list[str]:
    return list(estimate(study.graph, study.plan, selection))


def test_prompts_are_counted_in_an_empty_workspace(tmp_path: Path) -> None:
    listed = lines(load_study(tmp_path))
    assert NOT_COUNTED not in listed
    assert listed[-1].startswith(f"{QUERY_PROMPTS + QUESTION_PROMPTS} prompts; estimated time: unknown")


def test_unfetched_questions_of_unknown_number_are_named(tmp_path: Path) -> None:
    questions = {"source": "sample", "partitions": ["static"], "per_partition": None}
    listed = lines(load_study(tmp_path, questions=questions))
    assert listed[-2] == NOT_COUNTED
    assert listed[-1].startswith(f"{QUERY_PROMPTS} prompts; ")


def test_built_prompts_are_counted(tmp_path: Path) -> None:
    listed = lines(prepare(load_study(tmp_path)))
    assert NOT_COUNTED not in listed
    assert listed[-1].startswith(f"{QUERY_PROMPTS + QUESTION_PROMPTS} prompts; ")


@pytest.mark.parametrize(
    ("measures", "prompts"),
    [
        ({"fisher_susceptibility": {}}, QUERIES),
        ({"memorization_ratio": {}}, PROMPTS_PER_RELATION),
        ({"answer_set_persuasion": {}}, PROMPTS_PER_RELATION),
        ({"entity_independent_persuasion": {}}, PROMPTS_PER_RELATION),  # only the prompts of persuasion
        ({"precision": {"queries": 5}}, 2 * 5 * CONTEXTS),  # in two dtypes
        ({"precision": {"queries": 1000}}, 2 * PROMPTS_PER_RELATION),
    ],
)
def test_every_measure_counts_its_prompts(measures: dict[str, Any], prompts: int, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu"}]
    study = prepare(load_study(tmp_path, measures=measures, models=models, questions=None))
    assert lines(study, Selection(relations=("capital",), stages=("score",)))[-1].startswith(f"{prompts} prompts; ")


def test_only_a_querys_own_contexts_are_counted(tmp_path: Path) -> None:
    contexts = {"base": 1, "assertive": 1, "negation": 0, "per_query": {"contexts": 4, "relevant": 1}}
    study = load_study(tmp_path, contexts=contexts, measures={"persuasion": {}}, questions=None)
    assert lines(study)[-1].startswith(f"{RELATIONS * QUERIES * 4} prompts; ")


def test_scored_prompts_count_only_by_force(tmp_path: Path) -> None:
    study = score(prepare(load_study(tmp_path)))
    assert lines(study) == ["everything is done: nothing would be computed"]
    *_, last = study.estimate(["score"], force=True)
    assert last.startswith(f"{QUERY_PROMPTS + QUESTION_PROMPTS} prompts; estimated time: ")


def test_a_partly_done_pass_counts_whole_by_force(tmp_path: Path) -> None:
    study = score(prepare(load_study(tmp_path)))
    for file in study.workspace.root.glob("scores/**/clusters-*.parquet"):
        file.unlink()
    assert lines(renew(study))[-1].startswith("0 prompts; ")
    *_, last = renew(study).estimate(["score"], force=True)
    assert last.startswith(f"{QUERY_PROMPTS + QUESTION_PROMPTS} prompts; estimated time: ")


def test_time_is_estimated_from_measured_seconds(tmp_path: Path) -> None:
    study = score(prepare(load_study(tmp_path)))  # each file of scores took 3 seconds for 6 prompts
    for file in study.workspace.root.glob("scores/capital/*/persuasion-*.parquet"):
        file.unlink()
    listed = lines(renew(study))
    assert (
        listed[-1]
        == f"{PROMPTS_PER_RELATION} prompts; estimated time: {PROMPTS_PER_RELATION * 0.5:.0f} s; files of scores: 1 MB"
    )


def test_a_refresh_lists_the_fetch_of_questions(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    assert list(study.estimate(["fetch"])) == ["everything is done: nothing would be computed"]
    steps = [line.partition(":")[0] for line in study.estimate(["fetch"], refresh=True)][:-1]
    assert steps
    assert all(step.endswith("questions") for step in steps)


def test_gpu_hours_follow_from_known_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "identify_language_model", lambda name: SimpleNamespace(revision="1"))
    models = [{"name": "pythia-6.9b-deduped"}, {"name": "pythia-12b-deduped"}]
    contexts_of_query = {"base": 1, "assertive": 1, "negation": 0, "per_query": {"contexts": 6, "relevant": 1}}
    listed = lines(load_study(tmp_path, models=models, measures={"persuasion": {}}, questions=None))
    assert listed[-2].endswith("of the model: less than 0.01 GPU hours")
    monkeypatch.setattr("swaymeter.flows.stages.estimate.LEAST_HOURS", 0.0)
    hours = []
    for changes in ({}, {"contexts": contexts_of_query}):
        listed = lines(load_study(tmp_path, models=models, measures={"persuasion": {}}, questions=None, **changes))
        hours.append([float(line.rpartition("model: ")[2].split()[0]) for line in listed[-3:-1]])
        assert f"{2 * QUERY_PROMPTS} prompts" in listed[-1]  # with both settings, each query has six contexts
    (small, large), (small_with_own_contexts, _) = hours
    assert large == pytest.approx(small * 12 / 6.9, rel=0.01)
    # A prompt with its query's own context counts 40 tokens; with a context that all queries share, 16.
    assert small_with_own_contexts == pytest.approx(small * 40 / 16, rel=0.01)


# 9,900: 9 prompts with 10 sampled replies and a greedy reply, each after 100 tokens of thoughts. 1100: of one prompt.
@pytest.mark.parametrize(
    ("thinking", "template", "message", "thought_tokens"),
    [
        (None, ALWAYS_THINKS, "", 0),
        ({"max_new_tokens": 100}, None, "at most 9,900 tokens of thoughts", 1100),
        (THINKING_WITHOUT_SWITCH, ALWAYS_THINKS, "at most 9,900 tokens of thoughts", 1100),
        (THINKING_WITHOUT_SWITCH, THINKS_BY_SWITCH, "", 0),
        (THINKING_WITHOUT_SWITCH, None, "at most 9,900 tokens of thoughts, not counted below; whether", 0),
    ],
)
def test_thoughts_add_to_the_estimate(
    thinking: Any,
    template: str | None,
    message: str,
    thought_tokens: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "model-of-a-hub"
    if template:
        byte_tokenizer(chat_template=template).save_pretrained(folder)
    identity = ModelIdentity("pythia-12b-deduped", template or "", "folder", str(folder))
    monkeypatch.setattr(plan, "identify_language_model", lambda name: identity)
    monkeypatch.setattr("swaymeter.flows.stages.estimate.LEAST_HOURS", 0.0)
    hours = []
    for setting in (None, thinking):
        measures = {"answers": {"samples": 10, "thinking": setting}, "context_utilisation": {}}
        *listed, last = lines(load_study(tmp_path, models=[{"name": identity.name}], measures=measures, facts=None))
        hours.append(float(last.rpartition("model: ")[2].split()[0]))
        assert last.startswith(f"{2 * QUESTION_PROMPTS} prompts; ")
    messages = [text.partition("/auto: ")[2] for text in listed if "thoughts" in text]
    assert len(messages) == bool(message)
    assert all(text.startswith(message) for text in messages)
    # A prompt counts 350 tokens in each of the two measures.
    assert hours[1] == pytest.approx(hours[0] * (2 * 350 + thought_tokens) / (2 * 350), rel=0.02)


def test_requests_to_a_server_are_counted(tmp_path: Path) -> None:
    endpoint = {"name": "served", "endpoint": "http://127.0.0.1:1/v1"}
    answers = {"answers": {"samples": 3, "max_new_tokens": 5}}
    study = prepare(load_study(tmp_path, measures=answers, models=[endpoint]))
    requests = QUESTION_PROMPTS * 4 + 40  # 40: the probe, and greedy answers that are requested twice
    (line,) = [line for line in lines(study) if "requests" in line]
    assert line.startswith(f"served/auto: at most {requests} requests, about {requests * 150:,} tokens read")


def test_each_left_out_passage_counts(tmp_path: Path) -> None:
    passages = [{"kind": kind, "text": f"{kind} one", "answer": kind} for kind in ("supporting", "conflicting")]
    rows = [{"question": f"What {number}?", "answer": "supporting", "contexts": passages} for number in range(3)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    questions: dict[str, Any] = {"source": "file", "file": str(tmp_path / "mine.jsonl"), "per_partition": None}
    questions["passages"] = {"sets": ["supporting", "all"]}
    study = prepare(load_study(tmp_path, facts=None, questions=questions, measures={"passage_persuasion": {}}))
    # Five prompts a question: no passage, one passage, two passages, and either of the two left out.
    assert any("15 prompts" in line for line in study.estimate())
