from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import MissingFile
from swaymeter.flows.graph.graph import StepId
from tests.flows.small_study import again, prepare, selected


def test_fetched_facts_names_and_questions_are_records(tmp_path: Path) -> None:
    contents = prepare(selected(tmp_path)).contents
    assert {name: len(facts) for name, facts in contents.facts().items()} == {
        name: len(catalog.facts(name)) for name in ("capital", "father")
    }
    assert contents.names("capital") == list(catalog.invented_entities("country"))
    candidates, chosen = contents.candidates("static"), contents.chosen("static")
    assert len(candidates) == len(catalog.questions("static"))
    assert len(chosen) == 3
    assert {one.question_id for one in chosen} <= {one.question_id for one in candidates}
    assert contents.unfinished_steps() == []


def test_only_selected_relations_are_read(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    relation = study.contents.chosen("static")[0].relation
    only = type(study.contents)(study.study, study.graph, (relation, "father"))
    assert set(only.facts()) == {"father"}
    assert {one.relation for one in only.chosen("static")} <= {relation, "father"}


def test_what_is_not_fetched_is_named(tmp_path: Path) -> None:
    contents = selected(tmp_path).contents
    assert contents.unfinished_steps() == ["fetch · static · questions"]
    assert contents.unfinished_steps(["disputable"]) == []
    with pytest.raises(MissingFile, match=r"no question is fetched \(fetch · static · questions: missing\)"):
        contents.candidates("static")
    for read in (contents.facts, lambda: contents.chosen("static")):
        with pytest.raises(MissingFile, match="is not done"):
            read()


def test_lost_questions_are_missing_and_their_choice_stays(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    study.graph.nodes[StepId("fetch", "static", "questions")].output("questions").artifact.discard()
    assert again(study).contents.unfinished_steps() == ["fetch · static · questions"]
