import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.errors import UsageError
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from swaymeter.data.sources.graph.qec import read_qec
from swaymeter.flows.api import Study
from swaymeter.flows.datasets.export import export_facts
from swaymeter.flows.stages.contents import Contents
from swaymeter.tasks.statistics.changes import dataset_changes
from tests.data.sources.graph.yago_graph import write_graph
from tests.flows.conftest import Command
from tests.flows.small_study import prepare, selected, small_study, write_study

RELATIONS = {"relations": ["capital", "officialLanguage"], "real_entities": 2, "invented_entities": 1}


@pytest.fixture
def study(tmp_path: Path) -> str:
    return write_study(tmp_path, small_study(tmp_path, facts=RELATIONS))


@pytest.fixture
def fetched(study: str) -> Contents:
    return prepare(Study.load(study)).contents


def without_yago(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """A catalog in which YAGO has no predicate for these relations."""
    found = {one.name: replace(one, yago=()) if one.name in names else one for one in catalog.relations().values()}
    monkeypatch.setattr(catalog, "relations", lambda: found)


def test_an_export_can_be_read_again(fetched: Contents, tmp_path: Path) -> None:
    counts, without = export_facts(fetched, tmp_path / "out" / "q.json", force=False)
    read = read_qec(tmp_path / "out" / "q.json")
    rows = fetched.facts()
    assert counts == {relation: len(listed) for relation, listed in rows.items()}
    assert without == ()
    written = json.loads((tmp_path / "out" / "q.json").read_text(encoding="utf-8"))
    names = catalog.invented_entities(catalog.relation("capital").subject_class)
    assert written[catalog.relation("capital").predicates[0]]["gpt_fake_entities"] == list(names)
    found = dataset_changes(Dataset.of(fetched.workspace.root), Dataset.of(tmp_path / "out" / "q.json"))
    assert [one.relation for one in found.relations if one.differs] == []
    assert len(found.relations) == len(rows)
    for relation, listed in rows.items():
        pairs = {(one.subject, one.object) for one in listed}
        assert {(one.subject, one.object) for one in read.facts[relation]} == pairs


def test_relations_without_predicate_are_left_out_and_named(
    swaymeter: Command, study: str, fetched: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = swaymeter("export", "facts", study, str(tmp_path / "all.json"), "--relation", "capital")
    facts = len(catalog.facts("capital"))
    assert (ended.code, ended.err, ended.out) == (0, "", f"{tmp_path / 'all.json'}: {facts} facts of 1 relation\n")
    without_yago(monkeypatch, "officialLanguage")
    ended = swaymeter("export", "facts", study, str(tmp_path / "q.json"))
    assert (ended.code, ended.err) == (
        0,
        "warning  left out, because YAGO has no predicate for these relations: officialLanguage\n",
    )
    assert ended.out.endswith("facts of 1 relation\n")
    without_yago(monkeypatch, "capital", "officialLanguage")
    ended = swaymeter("export", "facts", study, str(tmp_path / "none.json"))
    assert ended.code == 1
    assert "none of capital, officialLanguage has one" in ended.error
    assert not (tmp_path / "none.json").exists()


def test_a_file_is_written_over_only_by_force(
    swaymeter: Command, study: str, fetched: Contents, tmp_path: Path
) -> None:
    before = Path(study).read_bytes()
    ended = swaymeter("export", "facts", study, study)
    assert ended.code == 2
    assert ended.error == f"{study} exists; name another file, or write over it with --force"
    assert Path(study).read_bytes() == before
    (tmp_path / "q.json").write_text("older")
    assert swaymeter("export", "facts", study, str(tmp_path / "q.json"), "--force").code == 0
    assert read_qec(tmp_path / "q.json").facts["capital"]


def test_facts_that_are_not_fetched_are_named(swaymeter: Command, study: str, tmp_path: Path) -> None:
    ended = swaymeter("export", "facts", study, str(tmp_path / "q.json"))
    assert ended.code == 1
    assert ended.error == "fetch · capital · facts is not done (missing); run the study first"
    assert not (tmp_path / "q.json").exists()


@pytest.mark.parametrize("facts", [None, RELATIONS], ids=["no facts", "facts that no measure needs"])
def test_a_study_without_facts_has_nothing_to_export(facts: Any, tmp_path: Path) -> None:
    study = small_study(tmp_path, facts=facts, measures={"accuracy": {}})
    with pytest.raises(UsageError, match="the study small uses no facts, so there is nothing to export"):
        export_facts(Study.load(write_study(tmp_path, study)).contents, tmp_path / "q.json", force=False)


def test_exported_questions_can_be_read_again(swaymeter: Command, tmp_path: Path) -> None:
    contents = prepare(selected(tmp_path)).contents
    ended = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{tmp_path / 'out'}: 3 static questions\n"
    chosen = contents.chosen("static")
    read = dynamicqa.questions(tmp_path / "out", "static")
    assert [(one.question, one.object, one.replacement, one.original_context) for one in read] == [
        (one.question, one.object, one.replacement, one.original_context) for one in chosen
    ]
    again = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert again.code == 2
    assert again.error.endswith("exists; name another folder, or write over it with --force")
    assert swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"), "--force").code == 0


def test_questions_that_are_not_fetched_are_not_exported(swaymeter: Command, tmp_path: Path) -> None:
    selected(tmp_path)
    ended = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert ended.code == 2
    assert ended.error.startswith("questions are missing: fetch · static · questions; run the study with --stage fetch")
    ended = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"), "--incomplete")
    assert ended.code == 1
    assert not (tmp_path / "out").exists()


def test_predicates_come_with_triples_classes_and_relations(swaymeter: Command, tmp_path: Path) -> None:
    write_graph(tmp_path / "graph.ttl")
    facts = {"source": "yago", "dump": [str(tmp_path / "graph.ttl")], "relations": ["capital"]}
    ended = swaymeter("list", "predicates", write_study(tmp_path, small_study(tmp_path, facts=facts)))
    assert ended.code == 0, ended.err
    (line,) = [line for line in ended.out.splitlines() if "yago-knowledge.org/resource/capital " in line]
    cells = [cell.strip() for cell in line.strip("│").split("│")]
    assert cells[1:] == ["41", "Country", "capital, reverseCapital"]


def test_facts_of_no_graph_have_no_predicates(tmp_path: Path, swaymeter: Command) -> None:
    ended = swaymeter("list", "predicates", write_study(tmp_path, small_study(tmp_path)))
    assert ended.code == 2
    assert "do not come from a graph" in ended.error
