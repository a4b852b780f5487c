"""Bundled reference data and what reads it; no other code lives here.

Imports only the standard library, PyYAML and data.errors. Every file names its source and licence; a file that
breaks its own form is refused with its name and the key or line at fault.
"""

from data.catalog.classes import CLASSES, ENTITY_CLASSES, LITERAL_CLASSES
from data.catalog.digests import facts_digest, property_names_digest, questions_digest, relation_digest
from data.catalog.fact_file import FACT_COLUMNS, CatalogFact, facts
from data.catalog.invented import invented_entities
from data.catalog.model_file import MODEL_KINDS, CatalogModel, models
from data.catalog.prompt_file import CatalogPrompts, prompts
from data.catalog.question_file import OBJECT_SLOT, PARTITIONS, QUESTION_COLUMNS, CatalogQuestion, questions
from data.catalog.reading import digest
from data.catalog.relation_entry import CONTEXT_KINDS, Relation
from data.catalog.relation_file import relation, relations, relations_of_yago
from data.catalog.relation_page import describe
from data.catalog.templates import fill

__all__ = [
    "CLASSES", "CONTEXT_KINDS", "ENTITY_CLASSES", "FACT_COLUMNS", "LITERAL_CLASSES", "MODEL_KINDS", "OBJECT_SLOT",
    "PARTITIONS", "QUESTION_COLUMNS", "CatalogFact", "CatalogModel", "CatalogPrompts", "CatalogQuestion", "Relation",
    "describe", "digest", "facts", "facts_digest", "fill", "invented_entities", "models", "prompts",
    "property_names_digest", "questions", "questions_digest", "relation", "relation_digest", "relations",
    "relations_of_yago",
]  # fmt: skip
