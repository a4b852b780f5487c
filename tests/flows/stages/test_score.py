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
from tests.flows.small_study import prepare, selected


def test_model_has_setting_for_its_chat_template(tmp_path: Path) -> None:
    models = [
        {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"},
        {"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu", "chat_template": "never"},
    ]
    study = prepare(selected(tmp_path, models=models, facts=None, measures={"answers": {}}))
    scores = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    asked = {(one.arguments.model.dtype, one.arguments.inputs.answer_prompts.chat_template) for one in scores}
    assert asked == {("float32", "auto"), ("bfloat16", "never")}
    assert len({one.outputs["answers"].key_inputs["parameters"]["prompt"] for one in scores}) == 2
    database = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert database is not None
    variants = database.arguments.completion.variants
    assert {of["dtype"]: json.loads(of["prompt"])["chat_template"] for of in variants} == dict(asked)


def test_pass_that_asks_server_takes_no_device(tmp_path: Path) -> None:
    here = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"}
    study = prepare(
        selected(
            tmp_path,
            facts=None,
            models=[here, {"name": "there", "endpoint": "http://127.0.0.1:1"}],
            measures={"answers": {}, "accuracy": {}},
        )
    )
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    asked = {(one.id.model == "there", one.resource, one.device) for one in steps if one.id.product == "answers"}
    assert asked == {(False, "compute", "cpu"), (True, "server", "")}


@pytest.mark.parametrize(
    ("judge", "place"),
    [
        ("large", ("compute", "cpu")),
        ("j@http://127.0.0.1:1", ("server", "")),
        (f"{__file__}:mine", ("compute", "")),
    ],
)
def test_a_judge_has_a_place(judge: str, place: tuple[str, str]) -> None:
    parameters = {"judged_answers": JudgedAnswersParameters(judge=judge)}
    own = Pass(MEASURES["judged_answers"], ("judged_answers",), ())
    where = _queue(own, parameters, ModelPart(name="m", device="cpu"))
    assert (where["resource"] or RUN_PASS.resource, where["device"]) == place


def test_each_prompt_is_a_variant(tmp_path: Path) -> None:
    prompts = {"strict": None, "mine": {"with_context": "{context} ? {question}"}}
    study = prepare(selected(tmp_path, measures={"answers": {}, "whose_answer": {}, "persuasion": {}}, prompts=prompts))
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    texts = {
        one.id.setup: one.arguments.inputs.answer_prompts.with_context for one in steps if one.id.product == "answers"
    }
    assert texts == {"strict": catalog.prompts("strict").with_context, "mine": "{context} ? {question}"}
    assert {one.id.setup for one in steps if one.id.product == "persuasion"} == {"mine"}, "the first has the queries"
    name = study.study.models[0].name
    database = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert database is not None
    assert {of["variant"]: of["prompt_name"] for of in database.arguments.completion.variants} == {
        f"{name} · {way}/float32": way for way in prompts
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompts": ["strict", "strict"]}, "strict is named twice"),
        ({"prompts": ["stern"]}, "stern is no form; name one of default, published, strict"),
        ({"prompts": {"a/b": {}}}, "'a/b' cannot be a name"),
        ({"prompts": {"mine": {"with_context": "{question}"}}}, "neither this nor system_with_context has"),
        ({"prompts": ["strict"], "prompt": {"system": "Be brief."}}, "system: is not used beside `prompts`"),
        ({"prompts": []}, "may not be empty"),
    ],
)
def test_prompts_that_cannot_be(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        selected(tmp_path, **changes)


def test_each_decoding_is_a_variant(tmp_path: Path) -> None:
    here = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"}
    models = [here, {"name": "there", "endpoint": "http://127.0.0.1:1"}]
    measures = {"answers": {}, "accuracy": {}, "context_utilisation": {}}
    decodings = {"greedy": None, "cad": {"weight": 0.5}}
    study = prepare(
        selected(tmp_path, facts=None, models=models, measures=measures, decodings=decodings, prompts=["cite", "role"])
    )
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    asked = {(one.id.model == "there", one.id.setup, one.id.product): one.arguments.inputs.decoding for one in steps}
    ways = {way for there, way, group in asked if group == "answers" and not there}
    assert ways == {"cite · greedy", "cite · cad", "role · greedy", "role · cad"}
    assert {way for there, way, group in asked if there} == {"cite · greedy", "role · greedy"}
    assert {way for there, way, group in asked if group == "context_utilisation" and not there} == {
        "cite · greedy",
        "role · greedy",
    }, "the next token knows no decoding"
    assert asked[False, "cite · cad", "answers"] == decoding_of("cad", weight=0.5)
    assert asked[False, "cite · greedy", "answers"] is None


@pytest.mark.parametrize(
    ("decodings", "said"),
    [
        (["beam"], "decodings"),
        (["cad", "cad"], "a decoding is named twice"),
        ({"cad": {"alpha": 1}}, "decodings.cad: the decoding cad has no parameter alpha"),
        ({"greedy": {"weight": 1}}, "decodings.greedy: the decoding greedy has no parameter weight; it takes none"),
        ({"cad": {"weight": -1}}, "decodings.cad: "),
    ],
)
def test_decodings_that_cannot_be(tmp_path: Path, decodings: Any, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        prepare(selected(tmp_path, facts=None, measures={"answers": {}}, decodings=decodings))
