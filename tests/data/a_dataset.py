"""Facts as they are fetched, a workspace that holds them, and a yago_qec.json as it is published."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from data.records import Fact, RelationName
from data.sources.fetch import write_facts
from data.tables import FACTS
from data.workspace import Stored, Workspace

YAGO = "http://yago-knowledge.org/resource/"
CAPITAL = f"{YAGO}capital"


def iri(name: str) -> str:
    """The IRI of an entity of that name, whatever signs are in it."""
    return YAGO + quote(name.replace(" ", "_"))


def fact(subject: str, answer: str, relation: str = "capital", **said: Any) -> Fact:
    """A fact of the graph: IRIs made from the names, degrees, when it was fetched; and whatever is said otherwise."""
    return Fact(**{
        "relation": RelationName(relation), "subject": subject, "object": answer, "subject_id": None,
        "object_id": None, "id_source": None, "source": "YAGO", "licence": "CC BY 4.0", "subject_uri": iri(subject),
        "object_uri": iri(answer), "subject_degree": 120, "subject_relation_degree": 1, "object_degree": 80,
        "object_relation_degree": 2, "address": "http://127.0.0.1/query", "query": "SELECT ?s ?o ?k",
        "retrieved_at": "2026-03-01T12:00:00+00:00",
    } | said)  # fmt: skip


NORWAY, PERU, KENYA = fact("Norway", "Oslo"), fact("Peru", "Lima"), fact("Kenya", "Nairobi")


def keep(folder: Path, facts: Iterable[Fact], seed: int = 0) -> Stored:
    """The facts of one relation, in a file of the workspace that is this folder."""
    listed = list(facts)
    stored = Workspace(folder).facts(
        listed[0].relation, FACTS, {"step": "fetch", "relation": listed[0].relation, "seed": seed}
    )
    write_facts(listed[0].relation, listed, stored)
    return stored


def workspace(folder: Path, *facts: Fact) -> Path:
    """A folder that holds the facts as a study's workspace does."""
    for relation in dict.fromkeys(one.relation for one in facts):
        keep(folder, (one for one in facts if one.relation == relation))
    return folder


def published() -> dict[str, Any]:
    """One predicate as the published file has it: South Africa is there once for each of its capitals."""
    return {CAPITAL: {
        "answer_types": {"http://schema.org/Place": 1.0},
        "answer_uris": [f"{YAGO}Oslo", f"{YAGO}Pretoria", f"{YAGO}Cape_Town"],
        "answers": ["Oslo", "Pretoria", "Cape Town"],
        "context_templates": {
            "base": "The capital of {entity} is {answer}.\n", "believe_me": "Believe me, {answer} rules {entity}.\n",
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
        "query_forms": {"closed": ["Q: Is {answer} the capital of {entity}?\nA:"], "open": ["{entity}'s capital is"]},
    }}  # fmt: skip


def write(folder: Path, content: Any) -> Path:
    """A yago_qec.json with that content, which is JSON or text."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "yago_qec.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file
