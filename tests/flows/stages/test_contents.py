from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import MissingFile
from swaymeter.flows.graph.graph import StepId
from tests.flows.small_study import load_study, prepare, renew


def test_fetched_facts_names_and_questions_are_records(tmp_path: Path) -> None:
    contents = prepare(load_study(tmp_path)).contents
    assert {name: len(facts) for name, facts in contents.facts().items()} == {
        name: len(catalog.facts(name)) for name in ("capital", "father")
    }
    assert contents.names("capital") == list(catalog.invented_entities("country"))
    candidates, chosen = contents.candidates("static"), contents.chosen("static")
    assert len(candidates) == len(catalog.questions("static"))
    assert len(chosen) == 3
    assert {question.question_id for question in chosen} <= {question.question_id for question in candidates}
    assert contents.unfinished_steps() == []


def test_only_selected_relations_are_read(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    relation = study.contents.chosen("static")[0].relation
    contents = type(study.contents)(study.study, study.graph, (relation, "father"))
    assert set(contents.facts()) == {"father"}
    assert {question.relation for question in contents.chosen("static")} <= {relation, "father"}


def test_unfetched_questions_are_named(tmp_path: Path) -> None:
    contents = load_study(tmp_path).contents
    assert contents.unfinished_steps() == ["fetch · static · questions"]
    assert contents.unfinished_steps(["disputable"]) == []
    with pytest.raises(MissingFile, match=r"no question is fetched \(fetch · static · questions: missing\)"):
        contents.candidates("static")
    for read in (contents.facts, lambda: contents.chosen("static")):
        with pytest.raises(MissingFile, match="is not done"):
            read()


def test_deleted_questions_are_missing_and_their_choice_stays(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    study.graph.nodes[StepId("fetch", "static", "questions")].output("questions").artifact.discard()
    assert renew(study).contents.unfinished_steps() == ["fetch · static · questions"]
