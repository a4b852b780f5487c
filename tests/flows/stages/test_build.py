"""A user's facts, relations and contexts in the graph: a change to one relation concerns no other relation."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import Graph, StepId
from swaymeter.flows.stages.refusals import refusals
from tests.data.catalog.test_relation_rules import SOUND as SOUND_RELATION
from tests.flows.small_study import load_study, prepare, score

FACTS = """\
relation,subject,object
capital,Norway,Oslo
capital,Peru,Lima
capital,Kenya,Nairobi
seat,Norvania,Tesk
seat,Bellamarca,Quorin
seat,Ulm Vale,Sarrow
"""
CONTEXTS = """\
relation,text,kind,entity,object
seat,Tesk it is not.,negation,Norvania,Tesk
father,It is Lord Byron.,,,
"""
RELATIONS: Any = {"source": "A test.", "licence": "None.", "relations": {"seat": {**SOUND_RELATION, "yago": None}}}


def own_study(
    folder: Path, facts: str = FACTS, contexts: str = CONTEXTS, relations: Any = RELATIONS, **more: Any
) -> Study:
    """Load the small study with these files; `more` are further keys of its contexts."""
    (folder / "facts.csv").write_text(facts, encoding="utf-8")
    (folder / "contexts.csv").write_text(contexts, encoding="utf-8")
    (folder / "relations.yaml").write_text(yaml.safe_dump(relations), encoding="utf-8")
    section = {"source": "file", "file": "facts.csv", "relations_file": "relations.yaml", "relations": "all"}
    return load_study(
        folder,
        facts={**section, "real_entities": 3, "invented_entities": 1},
        questions=None,
        contexts={"base": 1, "assertive": 1, "negation": 0, "file": "contexts.csv", **more},
        measures={"persuasion": {}, "susceptibility": {}},
    )


@pytest.mark.parametrize(("templates", "count"), [("varied", 0), ("published-form", 1)])
def test_replaced_sentences_are_named(templates: str, count: int, tmp_path: Path) -> None:
    study = own_study(tmp_path, templates=templates)
    assert sum("sentences of seat in relations_file are not used" in line for line in study.estimate()) == count


def undone(graph: Graph) -> set[tuple[str, str]]:
    """Return the stage and subject of unfinished steps, without steps of the whole study."""
    return {(node.id.stage, node.id.subject) for node in graph if node.state != "done" and node.id.subject != "study"}


OTHER_QUERIES = {
    **RELATIONS,
    "relations": {
        "seat": {
            **RELATIONS["relations"]["seat"],
            "open": ["Q: Where is the government of {entity}?\nA:", "The government of {entity} is in"],
        }
    },
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"facts": FACTS.replace("Sarrow", "Ostrak")}, {("fetch", "seat"), ("build", "seat"), ("score", "seat")}),
        ({"facts": FACTS.replace("Oslo", "Bergen")}, {(stage, "capital") for stage in ("fetch", "build", "score")}),
        # A further column changes nothing.
        ({"facts": FACTS.replace("relation,", "no,relation,").replace("\nc", "\n1,c").replace("\ns", "\n2,s")}, set()),
        ({"contexts": CONTEXTS.replace("Tesk it", "Norvania it")}, {("build", "seat"), ("score", "seat")}),
        ({"contexts": CONTEXTS + "capital,It is Rome.,,,\n"}, {("build", "capital"), ("score", "capital")}),
        # The study does not have the relation father.
        ({"contexts": CONTEXTS.replace("Lord", "George")}, set()),
        ({"relations": OTHER_QUERIES}, {("build", "seat"), ("score", "seat")}),
    ],
)
def test_a_change_concerns_only_its_relation(change: Any, expected: set[tuple[str, str]], tmp_path: Path) -> None:
    assert undone(score(prepare(own_study(tmp_path))).graph) == set()
    assert undone(own_study(tmp_path, **change).graph) == expected


def test_own_contexts_replace_written_contexts(tmp_path: Path) -> None:
    graph = prepare(own_study(tmp_path)).graph
    contexts = {
        name: graph.nodes[StepId("build", name, "queries and contexts")].output("contexts").read().to_pylist()
        for name in ("capital", "seat")
    }
    assert [(row["kind"], row["entity"], row["text"]) for row in contexts["seat"]] == [
        ("negation", "Norvania", "Tesk it is not.\n")
    ]
    assert len(contexts["capital"]) == 8  # for 3 real entities and 1 invented entity, a base and an assertive context


def test_steps_of_own_relations_can_be_pickled(tmp_path: Path) -> None:
    study = prepare(own_study(tmp_path))
    (tmp_path / "relations.yaml").unlink()
    for node in study.graph:
        assert pickle.loads(pickle.dumps(node.step)) == node.step


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"contexts": "relation,text\nseat,\n"}, r"contexts\.csv: 1 of 1 rows cannot be used: line 2: text: "),
        (
            {"facts": FACTS.replace("seat,Ulm Vale,Sarrow\n", "")},
            "relation seat: 3 real entities are requested, but the f",
        ),
    ],
)
def test_insufficient_files_are_refused_before_a_run(files: Any, problem: str, tmp_path: Path) -> None:
    study = own_study(tmp_path, **files)
    reasons = set(refusals(study.graph, study.plan, {node.id for node in study.graph}))
    assert reasons
    assert [reason for reason in reasons if re.search(problem, reason)] == list(reasons)


@pytest.mark.parametrize("is_built", [False, True])
def test_refusal_of_too_few_contexts_names_the_relation(is_built: bool, tmp_path: Path) -> None:
    contexts = {"base": 1, "assertive": 1, "negation": 0}
    if is_built:  # prompts do not depend on `per_query`
        prepare(load_study(tmp_path, contexts=contexts))
    study = load_study(tmp_path, contexts={**contexts, "per_query": {"contexts": 5, "relevant": 4}})
    reasons = list(refusals(study.graph, study.plan, {node.id for node in study.graph}))
    assert all(reason.startswith("contexts.per_query: relation ") for reason in reasons)
    assert {reason.split()[2] for reason in reasons} == {"capital", "father"}
    assert " contexts that mention " in reasons[0]


def test_only_drawn_questions_have_evidence_sets(tmp_path: Path) -> None:
    right, other = ({"kind": kind, "text": f"It is {kind}."} for kind in ("supporting", "irrelevant"))
    passages = [right, {"kind": "conflicting", "text": "It is red.", "answer": "red"}, other]
    rows = [
        {"id": f"q{number}", "question": f"What {number}?", "answer": "supporting", "contexts": passages}
        for number in range(5)
    ]
    rows.append({"id": "few", "question": "What?", "answer": "supporting", "contexts": [other]})
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def study(*orders: str) -> Study:
        sets = {"sets": ["supporting+conflicting"], "orders": orders}
        questions = {"source": "file", "file": str(tmp_path / "mine.jsonl"), "per_partition": 2, "passages": sets}
        return load_study(tmp_path, facts=None, questions=questions, measures={"passage_persuasion": {}})

    nodes = [node for node in prepare(study("right_first", "wrong_first")).graph if node.id.stage in ("fetch", "build")]
    fetched, chosen, built = (node.output("questions").artifact.read().to_pylist() for node in nodes)
    assert [[len(row["contexts"]) for row in rows] for rows in (fetched, chosen)] == [[3, 3, 3, 3, 3, 1], [2, 2]]
    assert {context["evidence_set"] for row in chosen for context in row["contexts"]} == {None}
    assert [[context["passage_order"] for context in row["contexts"]] for row in built] == [
        ["right_first", "wrong_first"],
        ["right_first", "wrong_first"],
    ]
    assert nodes[1].output("rejected").artifact.read()["part"].to_pylist() == ["few"]
    assert {stage for stage, _ in undone(study("given").graph)} == {"build", "score"}
