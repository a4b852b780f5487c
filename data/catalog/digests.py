"""Digests (SHA-256, hex) of parts of the catalog: a change of one relation's texts, facts or questions leaves the rest.

They are of what was read, not of the files' bytes: a comment or an entry that was moved changes nothing.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from data.catalog.relation_file import relation, relations
from data.catalog.sample import facts, questions


def relation_digest(name: str) -> str:
    """The digest of all that decides about the texts of a relation: its entry in relations.yaml.

    Raises:
        UnknownName: the catalog has no such relation.
    """
    entry = relation(name)
    return _digest({**vars(entry), "contexts": dict(entry.contexts)})


def facts_digest(relation_name: str) -> str:
    """The digest of a relation's rows of facts.csv, in the file's order; raises UnknownName for another name."""
    return _digest([asdict(fact) for fact in facts(relation_name)])


def questions_digest(partition: str) -> str:
    """The digest of a partition's rows of questions.csv, in the file's order; raises UnknownName for another one."""
    return _digest([asdict(question) for question in questions(partition)])


def property_names_digest() -> str:
    """The digest of what relations are called and of their Wikidata properties: lists of facts are read by them."""
    return _digest(sorted([entry.name, entry.wikidata, entry.reverse] for entry in relations().values()))


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
