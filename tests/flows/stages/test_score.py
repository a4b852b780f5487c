import json
import re
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import UsageError
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.stages.score import RUN_PASS, _queue
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.judged_answers import JudgedAnswersParameters
from swaymeter.tasks.measures.measure import Pass
from swaymeter.tasks.models.generation.decoding import decoding_of
from tests.flows.small_study import load_study, prepare


def test_each_model_has_its_chat_template(tmp_path: Path) -> None:
    models = [
        {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"},
        {"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu", "chat_template": "never"},
    ]
    study = prepare(load_study(tmp_path, models=models, facts=None, measures={"answers": {}}))
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    templates = {(step.arguments.model.dtype, step.arguments.inputs.answer_prompts.chat_template) for step in steps}
    assert templates == {("float32", "auto"), ("bfloat16", "never")}
    assert len({step.outputs["answers"].key_inputs["parameters"]["prompt"] for step in steps}) == 2
    database = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert database is not None
    variants = database.arguments.snapshot.variants
    assert {variant["dtype"]: json.loads(variant["prompt"])["chat_template"] for variant in variants} == dict(templates)


def test_a_pass_on_a_server_takes_no_device(tmp_path: Path) -> None:
    local_model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"}
    study = prepare(
        load_study(
            tmp_path,
            facts=None,
            models=[local_model, {"name": "served", "endpoint": "http://127.0.0.1:1"}],
            measures={"answers": {}, "accuracy": {}},
        )
    )
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    queues = {(step.id.model == "served", step.resource, step.device) for step in steps if step.id.product == "answers"}
    assert queues == {(False, "compute", "cpu"), (True, "server", "")}


@pytest.mark.parametrize(
    ("judge", "queue"),
    [
        ("large", ("compute", "cpu")),
        ("j@http://127.0.0.1:1", ("server", "")),
        (f"{__file__}:function", ("compute", "")),
    ],
)
def test_the_kind_of_judge_decides_its_queue(judge: str, queue: tuple[str, str]) -> None:
    parameters = {"judged_answers": JudgedAnswersParameters(judge=judge)}
    judging = Pass(MEASURES["judged_answers"], ("judged_answers",), ())
    judge_queue = _queue(judging, parameters, ModelPart(name="m", device="cpu"))
    assert (judge_queue["resource"] or RUN_PASS.resource, judge_queue["device"]) == queue


def test_each_prompt_is_a_variant(tmp_path: Path) -> None:
    prompts = {"strict": None, "mine": {"with_context": "{context} ? {question}"}}
    study = prepare(
        load_study(tmp_path, measures={"answers": {}, "whose_answer": {}, "persuasion": {}}, prompts=prompts)
    )
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    texts = {
        step.id.setup: step.arguments.inputs.answer_prompts.with_context
        for step in steps
        if step.id.product == "answers"
    }
    assert texts == {"strict": catalog.prompts("strict").with_context, "mine": "{context} ? {question}"}
    assert {step.id.setup for step in steps if step.id.product == "persuasion"} == {"mine"}, (
        "only the first prompt scores the queries; in the study file, mine stands before strict"
    )
    name = study.study.models[0].name
    database = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert database is not None
    assert {variant["variant"]: variant["prompt_name"] for variant in database.arguments.snapshot.variants} == {
        f"{name} · {prompt}/float32": prompt for prompt in prompts
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompts": ["strict", "strict"]}, "strict is named twice"),
        ({"prompts": ["stern"]}, "stern is no form of prompts; name one of the forms default, published, strict"),
        ({"prompts": {"a/b": {}}}, "'a/b' cannot be the name of a prompt"),
        ({"prompts": {"mine": {"with_context": "{question}"}}}, "neither this nor system_with_context has"),
        ({"prompts": ["strict"], "prompt": {"system": "Be brief."}}, "system: is not used beside `prompts`"),
        ({"prompts": []}, "may not be empty"),
    ],
)
def test_unusable_prompts_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        load_study(tmp_path, **changes)


def test_each_decoding_is_a_variant(tmp_path: Path) -> None:
    local_model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"}
    models = [local_model, {"name": "served", "endpoint": "http://127.0.0.1:1"}]
    measures = {"answers": {}, "accuracy": {}, "context_utilisation": {}}
    decodings = {"greedy": None, "cad": {"weight": 0.5}}
    study = prepare(
        load_study(
            tmp_path, facts=None, models=models, measures=measures, decodings=decodings, prompts=["cite", "role"]
        )
    )
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    decoding_of_step = {
        (step.id.model == "served", step.id.setup, step.id.product): step.arguments.inputs.decoding for step in steps
    }
    setups = {setup for is_served, setup, measure in decoding_of_step if measure == "answers" and not is_served}
    assert setups == {"cite · greedy", "cite · cad", "role · greedy", "role · cad"}
    assert {setup for is_served, setup, measure in decoding_of_step if is_served} == {"cite · greedy", "role · greedy"}
    assert {
        setup for is_served, setup, measure in decoding_of_step if measure == "context_utilisation" and not is_served
    } == {
        "cite · greedy",
        "role · greedy",
    }, "decodings do not apply to the next token"
    assert decoding_of_step[False, "cite · cad", "answers"] == decoding_of("cad", weight=0.5)
    assert decoding_of_step[False, "cite · greedy", "answers"] is None


@pytest.mark.parametrize(
    ("decodings", "message"),
    [
        (["beam"], "decodings"),
        (["cad", "cad"], "a decoding is named twice"),
        ({"cad": {"alpha": 1}}, "decodings.cad: the decoding cad has no parameter alpha"),
        (
            {"greedy": {"weight": 1}},
            "decodings.greedy: the decoding greedy has no parameter weight; leave all parameters out",
        ),
        ({"cad": {"weight": -1}}, "decodings.cad: "),
    ],
)
def test_unusable_decodings_are_refused(tmp_path: Path, decodings: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        prepare(load_study(tmp_path, facts=None, measures={"answers": {}}, decodings=decodings))
