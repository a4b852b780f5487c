"""Facts and questions as they are fetched, a workspace that holds them, and a yago_qec.json as it is published."""

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
    """The IRI of an entity of that name, whatever signs are in it."""
    return YAGO + quote(name.replace(" ", "_"))


def fact(subject: str, answer: str, relation: str = "capital", **said: Any) -> Fact:
    """A fact of the graph: IRIs made from the names, degrees, when it was fetched; and whatever is said otherwise."""
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
        | said
    )


NORWAY, PERU, KENYA = fact("Norway", "Oslo"), fact("Peru", "Lima"), fact("Kenya", "Nairobi")


def _artifact(folder: Path, table: Table, step: str, subject: str, part: str, seed: int) -> TableArtifact:
    made_from = {"step": ["fetch", step], "subject": [subject, part], "seed": seed}
    return Workspace(folder).table(("facts",), f"{table.name}-{part or subject}", table, made_from)


def keep(folder: Path, facts: Iterable[Fact], seed: int = 0) -> Path:
    """The facts of one relation, in a file of the workspace that is this folder."""
    listed = list(facts)
    artifact = _artifact(folder, FACTS, "facts", listed[0].relation, "", seed)
    return artifact.write(FACTS.of([as_row(one) for one in listed]))


def workspace(folder: Path, *facts: Fact) -> Path:
    """A folder that holds the facts as a study's workspace does."""
    for relation in dict.fromkeys(one.relation for one in facts):
        keep(folder, (one for one in facts if one.relation == relation))
    return folder


def with_texts(**columns: Any) -> Question:
    """A question of these columns, and of the texts `original_context` and `counter_memory_context`."""
    texts = [columns.pop(name) for name in ("original_context", "counter_memory_context")]
    bare = Question(**columns, contexts=())
    return replace(bare, contexts=both_contexts(*texts, bare.forms, bare.replacement))


def changed(old: Question, /, **columns: Any) -> Question:
    """The question with other columns, some of which may be these texts."""
    texts = {name: getattr(old, name) for name in ("original_context", "counter_memory_context")}
    same = {of.name: getattr(old, of.name) for of in fields(old) if of.name != "contexts"}
    return with_texts(**(same | texts | columns))


def question(**said: Any) -> Question:
    """A question as it is made from live sources."""
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
        | said
    )


def disputed(**said: Any) -> Question:
    """A disputed sentence of a page, as it is made from live sources."""
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
        | said
    )


def a_dispute(**said: Any) -> Dispute:
    """The dispute that the disputed question was made from, counted later."""
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
        | said
    )


def keep_questions(folder: Path, part: str, *questions: Question, seed: int = 0) -> Path:
    """The questions of one part (a partition, a property, a page) in a file of the workspace that is this folder."""
    artifact = _artifact(folder, QUESTIONS, "questions", "disputable", part, seed)
    return artifact.write(QUESTIONS.of([as_row(one) for one in questions]))


def keep_disputes(folder: Path, page: str, *disputes: Dispute) -> Path:
    """The disputes of a page in a file of the workspace that is this folder."""
    artifact = _artifact(folder, DISPUTES, "disputes", "disputable", page, 0)
    return artifact.write(DISPUTES.of([as_row(one) for one in disputes]))


def published() -> dict[str, Any]:
    """One predicate as the published file has it: South Africa is there once for each of its capitals."""
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
    """A yago_qec.json with that content, which is JSON or text."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "yago_qec.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file
