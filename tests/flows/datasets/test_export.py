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
from tests.data.sources.graph.yago_graph import GRAPH
from tests.flows.conftest import Command
from tests.flows.small_study import load_study, prepare, small_study, write_study

FACTS = {"relations": ["capital", "officialLanguage"], "real_entities": 2, "invented_entities": 1}


@pytest.fixture
def study(tmp_path: Path) -> str:
    return write_study(tmp_path, small_study(tmp_path, facts=FACTS))


@pytest.fixture
def fetched(study: str) -> Contents:
    return prepare(Study.load(study)).contents


def without_yago(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Remove YAGO's predicates of these relations from the catalog."""
    relations = {
        relation.name: replace(relation, yago=()) if relation.name in names else relation
        for relation in catalog.relations().values()
    }
    monkeypatch.setattr(catalog, "relations", lambda: relations)


def test_exported_facts_can_be_read_again(fetched: Contents, tmp_path: Path) -> None:
    counts, left_out = export_facts(fetched, tmp_path / "out" / "q.json", force=False)
    exported = read_qec(tmp_path / "out" / "q.json")
    facts = fetched.facts()
    assert counts == {relation: len(rows) for relation, rows in facts.items()}
    assert left_out == ()
    written = json.loads((tmp_path / "out" / "q.json").read_text(encoding="utf-8"))
    names = catalog.invented_entities(catalog.relation("capital").subject_class)
    assert written[catalog.relation("capital").predicates[0]]["gpt_fake_entities"] == list(names)
    changes = dataset_changes(Dataset.of(fetched.workspace.root), Dataset.of(tmp_path / "out" / "q.json"))
    assert [changed.relation for changed in changes.relations if changed.differs] == []
    assert len(changes.relations) == len(facts)
    for relation, rows in facts.items():
        pairs = {(fact.subject, fact.object) for fact in rows}
        assert {(fact.subject, fact.object) for fact in exported.facts[relation]} == pairs


def test_relations_without_predicate_are_left_out_and_named(
    swaymeter: Command, study: str, fetched: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = swaymeter("export", "facts", study, str(tmp_path / "all.json"), "--relation", "capital")
    facts = len(catalog.facts("capital"))
    assert (result.code, result.err, result.out) == (0, "", f"{tmp_path / 'all.json'}: {facts} facts of 1 relation\n")
    without_yago(monkeypatch, "officialLanguage")
    result = swaymeter("export", "facts", study, str(tmp_path / "q.json"))
    assert (result.code, result.err) == (
        0,
        "warning  left out, because YAGO has no predicate for these relations: officialLanguage\n",
    )
    assert result.out.endswith("facts of 1 relation\n")
    without_yago(monkeypatch, "capital", "officialLanguage")
    result = swaymeter("export", "facts", study, str(tmp_path / "none.json"))
    assert result.code == 1
    assert "none of the relations capital, officialLanguage has a predicate" in result.error
    assert not (tmp_path / "none.json").exists()


def test_a_file_is_overwritten_only_with_force(
    swaymeter: Command, study: str, fetched: Contents, tmp_path: Path
) -> None:
    before = Path(study).read_bytes()
    result = swaymeter("export", "facts", study, study)
    assert result.code == 2
    assert result.error == f"{study} exists; name another file, or overwrite this file with --force"
    assert Path(study).read_bytes() == before
    (tmp_path / "q.json").write_text("older")
    assert swaymeter("export", "facts", study, str(tmp_path / "q.json"), "--force").code == 0
    assert read_qec(tmp_path / "q.json").facts["capital"]


def test_facts_that_are_not_fetched_are_named(swaymeter: Command, study: str, tmp_path: Path) -> None:
    result = swaymeter("export", "facts", study, str(tmp_path / "q.json"))
    assert result.code == 1
    assert result.error == "fetch · capital · facts is not done (missing); run the study first"
    assert not (tmp_path / "q.json").exists()


@pytest.mark.parametrize("facts", [None, FACTS], ids=["no facts", "facts that no measure needs"])
def test_a_study_without_facts_has_nothing_to_export(facts: Any, tmp_path: Path) -> None:
    study = small_study(tmp_path, facts=facts, measures={"accuracy": {}})
    with pytest.raises(UsageError, match="the study small uses no facts, so there is nothing to export"):
        export_facts(Study.load(write_study(tmp_path, study)).contents, tmp_path / "q.json", force=False)


def test_exported_questions_can_be_read_again(swaymeter: Command, tmp_path: Path) -> None:
    contents = prepare(load_study(tmp_path)).contents
    result = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert (result.code, result.err) == (0, "")
    assert result.out == f"{tmp_path / 'out'}: 3 static questions\n"
    chosen = contents.chosen("static")
    exported = dynamicqa.questions(tmp_path / "out", "static")
    assert [(row.question, row.object, row.replacement, row.original_context) for row in exported] == [
        (row.question, row.object, row.replacement, row.original_context) for row in chosen
    ]
    refused = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert refused.code == 2
    assert refused.error.endswith("exists; name another folder, or overwrite this file with --force")
    assert swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"), "--force").code == 0


def test_questions_that_are_not_fetched_are_not_exported(swaymeter: Command, tmp_path: Path) -> None:
    load_study(tmp_path)
    result = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert result.code == 2
    assert result.error.startswith(
        "questions are missing, because steps are not done: fetch · static · questions; run the study with --stage"
    )
    result = swaymeter("export", "questions", str(tmp_path / "study.yaml"), str(tmp_path / "out"), "--incomplete")
    assert result.code == 1
    assert not (tmp_path / "out").exists()


def test_predicates_come_with_triples_classes_and_relations(swaymeter: Command, tmp_path: Path) -> None:
    facts = {"source": "yago", "dump": [str(GRAPH)], "relations": ["capital"]}
    result = swaymeter("list", "predicates", write_study(tmp_path, small_study(tmp_path, facts=facts)))
    assert result.code == 0, result.err
    (line,) = [line for line in result.out.splitlines() if "yago-knowledge.org/resource/capital " in line]
    cells = [cell.strip() for cell in line.strip("│").split("│")]
    assert cells[1:] == ["41", "Country", "capital, reverseCapital"]


def test_predicates_need_facts_of_a_graph(tmp_path: Path, swaymeter: Command) -> None:
    result = swaymeter("list", "predicates", write_study(tmp_path, small_study(tmp_path)))
    assert result.code == 2
    assert "do not come from a knowledge graph" in result.error
