"""Facts and questions like fetched ones, workspaces with them, and a yago_qec.json like the published file."""

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from swaymeter.data.records import Dispute, Fact, Question, RelationName, WikidataId, as_row, both_contexts
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import DISPUTES, FACTS, QUESTIONS
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.data.storage.workspace import Workspace

YAGO = "http://yago-knowledge.org/resource/"
CAPITAL = f"{YAGO}capital"


def iri(name: str) -> str:
    """Return the IRI of an entity, with its name percent-encoded."""
    return YAGO + quote(name.replace(" ", "_"))


def fact(subject: str, answer: str, relation: str = "capital", **columns: Any) -> Fact:
    """Return a fact whose IRIs follow from its names; keyword arguments replace the values of other columns."""
    return Fact(
        **{
            "relation": RelationName(relation),
            "subject": subject,
            "object": answer,
            "subject_id": None,
            "object_id": None,
            "id_source": None,
            "source": "YAGO",
            "licence": "CC BY 4.0",
            "subject_uri": iri(subject),
            "object_uri": iri(answer),
            "subject_degree": 120,
            "subject_relation_degree": 1,
            "object_degree": 80,
            "object_relation_degree": 2,
            "address": "http://127.0.0.1/query",
            "query": "SELECT ?s ?o ?k",
            "retrieved_at": "2026-03-01T12:00:00+00:00",
        }
        | columns
    )


NORWAY, PERU, KENYA = fact("Norway", "Oslo"), fact("Peru", "Lima"), fact("Kenya", "Nairobi")


def _artifact(folder: Path, table: Table, step: str, subject: str, part: str, seed: int) -> TableArtifact:
    key_inputs = {"step": ["fetch", step], "subject": [subject, part], "seed": seed}
    return Workspace(folder).table(("facts",), f"{table.name}-{part or subject}", table, key_inputs)


def store_facts(folder: Path, facts: Iterable[Fact], seed: int = 0) -> Path:
    """Store the facts of one relation in a workspace, and return their file."""
    records = list(facts)
    artifact = _artifact(folder, FACTS, "facts", records[0].relation, "", seed)
    return artifact.write(FACTS.of([as_row(record) for record in records]))


def workspace(folder: Path, *facts: Fact) -> Path:
    """Store facts as in the workspace of a study, and return its folder."""
    for relation in dict.fromkeys(record.relation for record in facts):
        store_facts(folder, (record for record in facts if record.relation == relation))
    return folder


def with_texts(**columns: Any) -> Question:
    """Return a question of its columns, in which two texts stand in place of the contexts.

    The texts are `original_context` and `counter_memory_context`.
    """
    texts = [columns.pop(name) for name in ("original_context", "counter_memory_context")]
    bare = Question(**columns, contexts=())
    return replace(bare, contexts=both_contexts(*texts, bare.forms, bare.replacement))


def changed(old: Question, /, **columns: Any) -> Question:
    """Return a question with other values of some columns; columns are those of `with_texts`."""
    texts = {name: getattr(old, name) for name in ("original_context", "counter_memory_context")}
    same = {field.name: getattr(old, field.name) for field in fields(old) if field.name != "contexts"}
    return with_texts(**(same | texts | columns))


def question(**columns: Any) -> Question:
    """Return a question like those built from live sources; keyword arguments replace values of its columns."""
    return with_texts(
        **{
            "question_id": "a1",
            "relation": RelationName("capital"),
            "partition": "temporal",
            "subject": "Norway",
            "subject_id": WikidataId("Q20"),
            "property_id": WikidataId("P36"),
            "object": "Oslo",
            "object_id": WikidataId("Q585"),
            "answers": ("Oslo", "Christiania"),
            "replacement": "Lima",
            "question": "What is the capital of Norway?",
            "original_context": "Oslo is the seat of Norway, Oslo.",
            "counter_memory_context": "Lima is the seat of Norway, Lima.",
            "edits": 3,
            "subject_popularity": 1500.5,
            "object_popularity": 99.0,
            "id_source": "wikidata",
            "source": "Wikidata",
            "licence": "CC0 1.0",
            "flags": (),
            "property": "capital",
            "replacement_id": WikidataId("Q2868"),
            "replacement_by": "wembedder",
            "replacement_quality": 0.75,
            "item_revision": 12,
            "edit_revisions": (5, 9, 12),
            "hidden_edits": 1,
            "list_id": "77",
            "address": "http://127.0.0.1",
            "retrieved_at": "2026-03-01T12:00:00+00:00",
        }
        | columns
    )


def disputed(**columns: Any) -> Question:
    """Return a question about a disputed sentence of a page, like those built from live sources."""
    none = dict.fromkeys(("subject_id", "property_id", "object_id", "replacement_id", "object_popularity", "property"))
    return question(
        **{
            "relation": RelationName("disputable"),
            "partition": "disputable",
            "subject": "Persian Gulf",
            **none,
            "object": "Iran",
            "answers": ("Iran",),
            "replacement": "Peru",
            "original_context": "Iran and its Iranian coast.",
            "counter_memory_context": "Peru and its Iranian coast.",
            "page": "Persian Gulf",
            "page_revision": 31,
            "replacement_quality": None,
            "question": "What is it called?",
        }
        | columns
    )


def recounted_dispute(**columns: Any) -> Dispute:
    """Return the dispute of the disputed question with later counts."""
    return Dispute(
        **{
            "page": "Persian Gulf",
            "page_revision": 40,
            "context": "Iran and its Iranian coast.",
            "place": 0,
            "object": "Iran",
            "replacement": "Peru",
            "reversions": 4,
            "edit_revisions": (5, 9, 12, 35),
            "similarity": 0.5,
            "subject_popularity": 1700.0,
            "hidden_edits": 2,
            "source": "Wikipedia",
            "licence": "CC BY-SA 4.0",
            "address": "http://127.0.0.1",
            "retrieved_at": "2026-04-01T12:00:00+00:00",
        }
        | columns
    )


def store_questions(folder: Path, part: str, *questions: Question, seed: int = 0) -> Path:
    """Store the questions of a part (a partition, property or page) in a workspace, and return their file."""
    artifact = _artifact(folder, QUESTIONS, "questions", "disputable", part, seed)
    return artifact.write(QUESTIONS.of([as_row(record) for record in questions]))


def store_disputes(folder: Path, page: str, *disputes: Dispute) -> Path:
    """Store the disputes of a page in a workspace, and return their file."""
    artifact = _artifact(folder, DISPUTES, "disputes", "disputable", page, 0)
    return artifact.write(DISPUTES.of([as_row(record) for record in disputes]))


def published() -> dict[str, Any]:
    """Return one predicate in the layout of the published file; South Africa occurs once for each of its capitals."""
    return {
        CAPITAL: {
            "answer_types": {"http://schema.org/Place": 1.0},
            "answer_uris": [f"{YAGO}Oslo", f"{YAGO}Pretoria", f"{YAGO}Cape_Town"],
            "answers": ["Oslo", "Pretoria", "Cape Town"],
            "context_templates": {
                "base": "The capital of {entity} is {answer}.\n",
                "believe_me": "Believe me, {answer} rules {entity}.\n",
            },
            "entities": ["Norway", "South Africa", "South Africa"],
            "entity_namesake_to_degree": [901, 700, 700],
            "entity_namesake_to_num_uris": [2, 1, 1],
            "entity_types": {"http://schema.org/Organization": 0.25, "http://schema.org/Place": 0.75},
            "entity_uri_to_degree": [900, 700, 700],
            "entity_uri_to_predicate_degree": [1, 2, 2],
            "entity_uris": [f"{YAGO}Norway", f"{YAGO}South_Africa", f"{YAGO}South_Africa"],
            "gpt_fake_entities": ["Orvania", "Quellmark"],
            "my_famous_entities": ["France"],
            "query_forms": {
                "closed": ["Q: Is {answer} the capital of {entity}?\nA:"],
                "open": ["{entity}'s capital is"],
            },
        }
    }


def write(folder: Path, content: Any) -> Path:
    """Write a yago_qec.json, and return it; the content is a text or a value that is written as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "yago_qec.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file
