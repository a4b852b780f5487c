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
from tests.flows.small_study import again, prepare, score, selected
from tests.tasks.models.tiny import CHAT, byte_tokenizer

ENTITIES, KINDS, RELATIONS = 3, 2, 2
OF_A_RELATION = 4 * ENTITIES * ENTITIES * KINDS
BY_CONTEXTS, BY_QUESTIONS = RELATIONS * OF_A_RELATION, 3 * 3
NOT_COUNTED = "the questions are not fetched yet, so their prompts cannot be counted"
WITHOUT_SWITCH = {"max_new_tokens": 100, "models": "without_switch"}
OPENED = CHAT + "<think>"
SWITCHED = CHAT + "{% if enable_thinking %}<think>{% endif %}"
SCORES = Selection(stages=("score",))


def lines(study: Study, selection: Selection = SCORES) -> list[str]:
    return list(estimate(study.graph, study.plan, selection))


def test_an_empty_workspace_counts_what_the_study_names(tmp_path: Path) -> None:
    listed = lines(selected(tmp_path))
    assert NOT_COUNTED not in listed
    assert listed[-1].startswith(f"{BY_CONTEXTS + BY_QUESTIONS} prompts; estimated time: unknown")


def test_questions_that_nobody_has_counted_are_named(tmp_path: Path) -> None:
    questions = {"source": "sample", "partitions": ["static"], "per_partition": None}
    listed = lines(selected(tmp_path, questions=questions))
    assert listed[-2] == NOT_COUNTED
    assert listed[-1].startswith(f"{BY_CONTEXTS} prompts; ")


def test_built_prompts_are_counted(tmp_path: Path) -> None:
    listed = lines(prepare(selected(tmp_path)))
    assert NOT_COUNTED not in listed
    assert listed[-1].startswith(f"{BY_CONTEXTS + BY_QUESTIONS} prompts; ")


@pytest.mark.parametrize(
    ("measures", "prompts"),
    [
        ({"fisher_susceptibility": {}}, 4 * ENTITIES),
        ({"memorization_ratio": {}}, OF_A_RELATION),
        ({"answer_set_persuasion": {}}, OF_A_RELATION),
        ({"entity_independent_persuasion": {}}, OF_A_RELATION),  # those of persuasion alone
        ({"precision": {"queries": 5}}, 2 * 5 * ENTITIES * KINDS),
        ({"precision": {"queries": 1000}}, 2 * OF_A_RELATION),
    ],
)
def test_every_measure_counts_its_prompts(measures: dict[str, Any], prompts: int, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu"}]
    study = prepare(selected(tmp_path, measures=measures, models=models, questions=None))
    assert lines(study, Selection(relations=("capital",), stages=("score",)))[-1].startswith(f"{prompts} prompts; ")


def test_only_a_querys_own_contexts_are_counted(tmp_path: Path) -> None:
    contexts = {"base": 1, "assertive": 1, "negation": 0, "per_query": {"contexts": 4, "relevant": 1}}
    study = selected(tmp_path, contexts=contexts, measures={"persuasion": {}}, questions=None)
    assert lines(study)[-1].startswith(f"{RELATIONS * 4 * ENTITIES * 4} prompts; ")


def test_what_is_done_counts_only_by_force(tmp_path: Path) -> None:
    study = score(prepare(selected(tmp_path)))
    assert lines(study) == ["everything is done: nothing would be computed"]
    *_, last = study.estimate(["score"], force=True)
    assert last.startswith(f"{BY_CONTEXTS + BY_QUESTIONS} prompts; estimated time: ")


def test_what_is_partly_done_counts_whole_by_force(tmp_path: Path) -> None:
    study = score(prepare(selected(tmp_path)))
    for file in study.workspace.root.glob("scores/**/clusters-*.parquet"):
        file.unlink()
    assert lines(again(study))[-1].startswith("0 prompts; ")
    *_, last = again(study).estimate(["score"], force=True)
    assert last.startswith(f"{BY_CONTEXTS + BY_QUESTIONS} prompts; estimated time: ")


def test_time_is_estimated_from_what_was_measured(tmp_path: Path) -> None:
    study = score(prepare(selected(tmp_path)), seconds=3.0, prompts=6)
    for file in study.workspace.root.glob("scores/capital/*/persuasion-*.parquet"):
        file.unlink()
    listed = lines(again(study))
    assert listed[-1] == f"{OF_A_RELATION} prompts; estimated time: {OF_A_RELATION * 0.5:.0f} s; files of scores: 1 MB"


def test_a_refresh_counts_what_changes_by_the_day(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    assert list(study.estimate(["fetch"])) == ["everything is done: nothing would be computed"]
    steps = [line.partition(":")[0] for line in study.estimate(["fetch"], refresh=True)][:-1]
    assert steps
    assert all(step.endswith("questions") for step in steps)


def test_hours_of_a_gpu_follow_from_known_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "identify_language_model", lambda name: SimpleNamespace(revision="1"))
    models = [{"name": "pythia-6.9b-deduped"}, {"name": "pythia-12b-deduped"}]
    sample = {"base": 1, "assertive": 1, "negation": 0, "per_query": {"contexts": 6, "relevant": 1}}
    listed = lines(selected(tmp_path, models=models, measures={"persuasion": {}}, questions=None))
    assert listed[-2].endswith("of the model: less than 0.01 GPU hours")
    monkeypatch.setattr("swaymeter.flows.stages.estimate.LEAST_HOURS", 0.0)
    hours = []
    for changes in ({}, {"contexts": sample}):
        listed = lines(selected(tmp_path, models=models, measures={"persuasion": {}}, questions=None, **changes))
        hours.append([float(line.rpartition("model: ")[2].split()[0]) for line in listed[-3:-1]])
        assert f"{2 * BY_CONTEXTS} prompts" in listed[-1]  # six contexts a query, too
    (small, large), (of_sample, _) = hours
    assert large == pytest.approx(small * 12 / 6.9, rel=0.01)
    assert of_sample == pytest.approx(small * 40 / 16, rel=0.01)


@pytest.mark.parametrize(
    ("thinking", "template", "said", "reckoned"),
    [
        (None, OPENED, "", 0),
        ({"max_new_tokens": 100}, None, "at most 9,900 tokens of thoughts", 1100),
        (WITHOUT_SWITCH, OPENED, "at most 9,900 tokens of thoughts", 1100),
        (WITHOUT_SWITCH, SWITCHED, "", 0),
        (WITHOUT_SWITCH, None, "at most 9,900 tokens of thoughts, not counted below; whether", 0),
    ],
)
def test_thoughts_are_reckoned_with(
    thinking: Any, template: str | None, said: str, reckoned: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model-of-a-hub"
    if template:
        byte_tokenizer(chat_template=template).save_pretrained(folder)
    identity = ModelIdentity("pythia-12b-deduped", template or "", "folder", str(folder))
    monkeypatch.setattr(plan, "identify_language_model", lambda name: identity)
    monkeypatch.setattr("swaymeter.flows.stages.estimate.LEAST_HOURS", 0.0)
    hours = []
    for asked in (None, thinking):
        measures = {"answers": {"samples": 10, "thinking": asked}, "context_utilisation": {}}
        *listed, last = lines(selected(tmp_path, models=[{"name": identity.name}], measures=measures, facts=None))
        hours.append(float(last.rpartition("model: ")[2].split()[0]))
        assert last.startswith(f"{2 * BY_QUESTIONS} prompts; ")
    words = [line.partition("/auto: ")[2] for line in listed if "thoughts" in line]
    assert len(words) == bool(said)
    assert all(line.startswith(said) for line in words)
    assert hours[1] == pytest.approx(hours[0] * (2 * 350 + reckoned) / (2 * 350), rel=0.02)


def test_requests_to_a_server(tmp_path: Path) -> None:
    endpoint = {"name": "served", "endpoint": "http://127.0.0.1:1/v1"}
    answers = {"answers": {"samples": 3, "max_new_tokens": 5}}
    study = prepare(selected(tmp_path, measures=answers, models=[endpoint]))
    requests = BY_QUESTIONS * 4 + 40  # those of the probe, and greedy answers that are asked for twice
    (line,) = [line for line in lines(study) if "requests" in line]
    assert line.startswith(f"served/auto: at most {requests} requests, about {requests * 150:,} tokens read")


def test_each_passage_that_is_left_out_counts(tmp_path: Path) -> None:
    passages = [{"kind": kind, "text": f"{kind} one", "answer": kind} for kind in ("supporting", "conflicting")]
    rows = [{"question": f"What {n}?", "answer": "supporting", "contexts": passages} for n in range(3)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    questions: dict[str, Any] = {"source": "file", "file": str(tmp_path / "mine.jsonl"), "per_partition": None}
    questions["passages"] = {"sets": ["supporting", "all"]}
    study = prepare(selected(tmp_path, facts=None, questions=questions, measures={"passage_persuasion": {}}))
    # Alone, with one passage, with two; and with each of the two left out.
    assert any("15 prompts" in line for line in study.estimate())
