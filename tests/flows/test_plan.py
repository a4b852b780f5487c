from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flows.items import Selection
from flows.plan import Plan

from data.errors import DamagedFile, ModelError, UnknownName, UsageError
from data.sources import dynamicqa
from tests.data.sources.dynamicqa.small_dynamicqa import ROW, write
from tests.flows.small_plan import build, fetch, small_plan, small_study, write_study


def files(plan: Plan) -> dict[str, Path]:
    """Where every score of a plan lies, by model, relation and measure."""
    return {
        f"{item.model.dtype} {item.relation} {name}": stored.path
        for item in plan.items()
        for name, stored in plan.work(item).wanted.items()
    }


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (Selection(relations=("capitol",)), "no relation is named 'capitol'; did you mean 'capital'?"),
        (Selection(measures=("persuation",)), "no measure is named 'persuation'; did you mean 'persuasion'?"),
        (Selection(measures=("persuaded",)), "no measure is named 'persuaded'"),
        (Selection(models=("smollm2",)), "no model is named 'smollm2'; did you mean 'smollm2-135m-instruct'?"),
    ],
)
def test_a_selection_of_what_is_not_there_is_answered_with_the_nearest(
    only: Selection, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UnknownName) as raised:
        small_plan(tmp_path, only, models=[{"name": "smollm2-135m-instruct"}])
    assert str(raised.value).startswith(said)


def test_a_relation_of_the_published_questions_can_be_selected_once_they_are_fetched(tmp_path: Path) -> None:
    write(tmp_path, "static", {**ROW, "prop_id": "P190", "prop": "twinned town"})
    questions = {"source": "dynamicqa", "folder": str(tmp_path), "partitions": ["static"], "per_partition": None}
    only = Selection(relations=("twinnedTown",))
    with pytest.raises(UnknownName, match="twinnedTown"):
        small_plan(tmp_path, only, questions=questions)
    fetch(small_plan(tmp_path, questions=questions))
    assert {item.relation for item in small_plan(tmp_path, only, questions=questions).items()} == {"twinnedTown"}


def test_the_workspace_is_the_one_asked_for_or_the_study_s_or_one_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = write_study(tmp_path, small_study(tmp_path))
    nameless = small_study(tmp_path / "other")
    del nameless["workspace"]
    assert Plan.of(file, "~/mine").workspace.root == tmp_path / "home" / "mine"
    assert Plan.of(file).workspace.root == tmp_path / "workspace"
    assert Plan.of(write_study(tmp_path / "other", nameless)).workspace.root == tmp_path / "workspaces" / "small"


def test_a_home_that_there_is_not_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="~nobody-of-that-name"):
        small_plan(tmp_path, workspace="~nobody-of-that-name/study")


def test_to_plan_makes_no_file(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    assert list(plan.items())
    assert not plan.workspace.root.exists()


def test_before_anything_is_fetched_only_what_the_study_names_is_planned(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    assert [(item.relation, item.family) for item in plan.items()] == [
        ("capital", "persuasion"),
        ("father", "persuasion"),
    ]
    assert plan.question_relations() == []
    with pytest.raises(DamagedFile, match="is not there"):
        plan.work(next(plan.items()))


def test_every_family_has_every_relation_of_its_inputs(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    asked = plan.question_relations()
    assert sum(len(questions) for questions in plan.chosen_questions.values()) == 3
    planned = {(item.family, item.relation): item.measures for item in plan.items()}
    assert planned == {
        **{("persuasion", name): ("persuasion", "susceptibility") for name in ("capital", "father")},
        **{("answers", name): ("answers", "semantic_entropy") for name in asked},
        **{("correctness", name): ("accuracy",) for name in asked},
    }


def test_no_two_scores_lie_in_the_same_file(tmp_path: Path) -> None:
    paths = files(build(fetch(small_plan(tmp_path)))).values()
    assert len(set(paths)) == len(paths) > 6


@pytest.mark.parametrize(
    ("only", "planned"),
    [
        (Selection(relations=("capital",)), {("persuasion", "capital")}),
        (Selection(measures=("persuasion",)), {("persuasion", "capital"), ("persuasion", "father")}),
    ],
)
def test_a_selection_plans_nothing_else(only: Selection, planned: set[tuple[str, str]], tmp_path: Path) -> None:
    build(fetch(small_plan(tmp_path)))
    chosen = small_plan(tmp_path, only)
    found = {(item.family, item.relation) for item in chosen.items() if item.relation in ("capital", "father")}
    assert found == planned
    whole = {(item.family, item.relation) for item in chosen.whole.items()}
    assert planned < whole


def test_a_selected_measure_brings_what_it_rests_on(tmp_path: Path) -> None:
    fetch(small_plan(tmp_path))
    chosen = small_plan(tmp_path, Selection(measures=("accuracy",)))
    assert {item.measures for item in chosen.items()} == {("answers",), ("accuracy",)}
    chosen = small_plan(tmp_path, Selection(measures=("entity_independent_susceptibility",)), **half(tmp_path))
    assert {item.measures for item in chosen.items()} == {("persuasion",), ("entity_independent_susceptibility",)}


NEW = {
    "entity_independent_susceptibility": {}, "memorization_ratio": {}, "answer_set_susceptibility": {},
    "fisher_susceptibility": {}, "precision": {},
}  # fmt: skip


def half(folder: Path, **changes: Any) -> dict[str, Any]:
    """The changes to the sound study under which its model computes in bfloat16 and what it says next is measured."""
    models = [{"name": str(folder / "model"), "dtype": "bfloat16", "device": "cpu"}]
    return {"models": models, "measures": NEW, "questions": None} | changes


def test_what_a_model_says_next_is_measured_in_the_order_in_which_it_rests_on_each_other(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, Selection(relations=("capital",)), **half(tmp_path))
    assert [(item.family, item.measures) for item in plan.items()] == [
        ("persuasion", ("persuasion",)),
        ("entity_independent", ("entity_independent_susceptibility",)),
        ("memorization", ("greedy_answers", "memorization_ratio")),
        ("answer_set", ("answer_set_persuasion", "answer_set_susceptibility")),
        ("fisher", ("fisher_susceptibility",)),
        ("precision", ("precision",)),
    ]


def test_a_family_reads_its_prompts_and_the_very_scores_that_another_one_makes(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path, **half(tmp_path))))
    works = {item.family: plan.work(item) for item in plan.items() if item.relation == "capital"}
    assert {family: set(work.inputs) for family, work in works.items()} == {
        "fisher": {"queries"},
        **{family: {"queries", "contexts"} for family in works.keys() - {"fisher"}},
    }
    assert works["entity_independent"].needs == {"persuasion": works["persuasion"].wanted["persuasion"]}
    assert all(not work.needs for family, work in works.items() if family != "entity_independent")
    both = build(fetch(small_plan(tmp_path)))
    asked = {item.family: both.work(item) for item in both.items() if item.relation == both.question_relations()[0]}
    assert asked["correctness"].needs == {"answers": asked["answers"].wanted["answers"]}


@pytest.mark.parametrize(
    ("dtype", "reference", "checked"),
    [
        ("float32", "float32", False), ("auto", "float32", False), ("bfloat16", "float32", True),
        ("float16", "float16", False), ("auto", "bfloat16", True),
    ],
)  # fmt: skip
def test_precision_is_measured_where_the_model_does_not_compute_in_the_reference(
    dtype: str, reference: str, checked: bool, tmp_path: Path
) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": dtype, "device": "cpu"}]
    plan = small_plan(tmp_path, models=models, measures={"precision": {"reference": reference}}, questions=None)
    assert {item.family for item in plan.items()} == ({"precision"} if checked else set())


def test_a_number_format_that_cannot_be_told_is_left_to_be_said_by_its_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_such_device(_: Any) -> str:
        raise ModelError("this machine has no CUDA device")

    plan = small_plan(tmp_path, **half(tmp_path))
    monkeypatch.setattr("flows.plan.resolved_dtype", no_such_device)
    assert "precision" in {item.family for item in plan.items()}


def _changed(folder: Path, **changes: Any) -> set[str]:
    """The measures whose files are other ones after a change of the study."""
    before = files(build(fetch(small_plan(folder))))
    after = files(build(fetch(small_plan(folder, **changes))))
    return {name.rpartition(" ")[2] for name in before.keys() & after.keys() if before[name] != after[name]}


BY_CONTEXTS = {"persuasion", "susceptibility"}
BY_QUESTIONS = {"answers", "semantic_entropy", "accuracy"}


def test_a_change_concerns_what_hangs_on_it_and_nothing_else(tmp_path: Path) -> None:
    measures = small_study(tmp_path)["measures"]
    answers = {**measures["answers"], "samples": 3}
    assert _changed(tmp_path) == set()
    assert _changed(tmp_path, asks="in other words") == set()
    assert _changed(tmp_path, seed=1) == BY_CONTEXTS | BY_QUESTIONS
    assert _changed(tmp_path, contexts={"base": 2}) == BY_CONTEXTS
    assert _changed(tmp_path, measures={**measures, "answers": answers}) == BY_QUESTIONS
    assert _changed(tmp_path, measures={**measures, "accuracy": {"rouge_threshold": 0.5}}) == {"accuracy"}
    assert _changed(tmp_path, facts={"relations": ["father", "capital", "genre"], "real_entities": 2, "invented_entities": 1}) == set()  # fmt: skip # noqa: E501


def test_a_change_concerns_what_a_model_says_next_only_where_it_hangs_on_it(tmp_path: Path) -> None:
    sound = half(tmp_path)
    build(fetch(small_plan(tmp_path, **sound)))
    before = files(small_plan(tmp_path, **sound))

    def changed(**changes: Any) -> set[str]:
        after = files(build(fetch(small_plan(tmp_path, **{**sound, **changes}))))
        return {name.rpartition(" ")[2] for name in before.keys() & after.keys() if before[name] != after[name]}

    def with_parameters(name: str, **parameters: Any) -> set[str]:
        return changed(measures={**NEW, name: parameters})

    everything = {name.rpartition(" ")[2] for name in before}
    assert changed() == set()
    assert changed(contexts={"base": 2}) == everything - {"fisher_susceptibility"}
    assert with_parameters("fisher_susceptibility", draws=0) == {"fisher_susceptibility"}
    assert with_parameters("greedy_answers", max_new_tokens=3) == {"greedy_answers", "memorization_ratio"}
    assert with_parameters("answer_set_persuasion", terminators=["."]) == {
        "answer_set_persuasion", "answer_set_susceptibility",
    }  # fmt: skip
    assert with_parameters("precision", queries=2) == {"precision"}


def test_other_weights_in_the_same_folder_give_other_files(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    before = files(plan)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"trained a little longer")
    after = files(plan)
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())


def test_two_dtypes_of_a_model_have_their_own_files(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    half = replace(plan, study=plan.study.model_copy(
        update={"models": (plan.study.models[0].model_copy(update={"dtype": "bfloat16"}),)}
    ))  # fmt: skip
    assert not set(files(plan).values()) & set(files(half).values())


def test_published_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, questions={"source": "dynamicqa", "folder": str(tmp_path / "missing")})
    with pytest.raises(DamagedFile, match=f"{dynamicqa.FILES['static']} cannot be read.*fetch the questions first"):
        plan.question_files.published("static")
