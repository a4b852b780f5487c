"""Digests of the parts of the catalog: a change of one relation's texts, facts or questions leaves all others alone.

They are of what was read, not of the files' bytes: a comment or an entry that was moved changes nothing.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from data.catalog.fact_file import facts
from data.catalog.question_file import questions
from data.catalog.relation_file import relation, relations


def relation_digest(name: str) -> str:
    """The SHA-256 (hex) of a relation's entry in relations.yaml: its identifiers, classes and templates.

    Nothing else of the catalog decides which queries and contexts are written about a fact of the relation.

    Raises:
        UnknownName: the catalog has no such relation.
    """
    entry = relation(name)
    return _digest({**vars(entry), "contexts": dict(entry.contexts)})


def facts_digest(relation_name: str) -> str:
    """The SHA-256 (hex) of a relation's rows of facts.csv, in the file's order.

    Raises:
        UnknownName: the catalog has no such relation.
    """
    return _digest([asdict(fact) for fact in facts(relation_name)])


def questions_digest(partition: str) -> str:
    """The SHA-256 (hex) of a partition's rows of questions.csv, in the file's order.

    Raises:
        UnknownName: the study does not have this partition.
    """
    return _digest([asdict(question) for question in questions(partition)])


def property_names_digest() -> str:
    """The SHA-256 (hex) of what relations are called and of their Wikidata properties: lists of facts are read so."""
    return _digest(sorted([entry.name, entry.wikidata, entry.reverse] for entry in relations().values()))


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
