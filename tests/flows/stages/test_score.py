import json
from pathlib import Path

from swaymeter.flows.graph.step import StepId
from tests.flows.small_study import prepare, selected


def test_a_model_has_a_setting_for_its_chat_template(tmp_path: Path) -> None:
    models = [
        {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"},
        {"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu", "chat_template": "never"},
    ]
    study = prepare(selected(tmp_path, models=models, facts=None, measures={"answers": {}}))
    scores = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    asked = {(one.arguments.model.dtype, one.arguments.answer_prompts.chat_template) for one in scores}
    assert asked == {("float32", "auto"), ("bfloat16", "never")}
    assert len({one.outputs["answers"].made_from["parameters"]["prompt"] for one in scores}) == 2
    database = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert database is not None
    variants = database.arguments.variants
    assert {of["dtype"]: json.loads(of["prompt"])["chat_template"] for of in variants} == dict(asked)


def test_a_pass_that_asks_a_server_takes_no_device(tmp_path: Path) -> None:
    here = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cpu"}
    study = prepare(selected(tmp_path, facts=None, models=[here, {"name": "there", "endpoint": "http://127.0.0.1:1"}],
                             measures={"answers": {}, "accuracy": {}}))  # fmt: skip
    steps = [node.step for node in study.graph if node.id.stage == "score" and node.step is not None]
    asked = {(one.id.model == "there", one.resource, one.device) for one in steps if one.id.group == "answers"}
    assert asked == {(False, "compute", "cpu"), (True, "server", "")}
