"""Bundled reference data, such as relations, facts and prompts, and the functions that read it.

Every file names its source and licence. A malformed file is refused with its name and the key or line at fault.
"""

from swaymeter.data.catalog.group_texts import GroupTexts, Sentence, group_texts
from swaymeter.data.catalog.language_models import (
    AnswerPrompts,
    CatalogModel,
    dispute_prompt,
    judge_prompt,
    models,
    names_prompt,
    prompts,
)
from swaymeter.data.catalog.name_parts import invented_entities
from swaymeter.data.catalog.papers import Item, Paper, PublishedValue, paper_items, papers, published
from swaymeter.data.catalog.reading import digest
from swaymeter.data.catalog.relation_file import (
    ENTITY_CLASSES,
    LITERAL_CLASSES,
    Relation,
    own_relations,
    property_names_digest,
    published_form,
    relation,
    relation_digest,
    relations,
    relations_of_yago,
)
from swaymeter.data.catalog.sample import CatalogFact, CatalogQuestion, facts, facts_digest, questions, questions_digest
from swaymeter.data.catalog.templates import fill

__all__ = [
    "ENTITY_CLASSES",
    "LITERAL_CLASSES",
    "AnswerPrompts",
    "CatalogFact",
    "CatalogModel",
    "CatalogQuestion",
    "GroupTexts",
    "Item",
    "Paper",
    "PublishedValue",
    "Relation",
    "Sentence",
    "digest",
    "dispute_prompt",
    "facts",
    "facts_digest",
    "fill",
    "group_texts",
    "invented_entities",
    "judge_prompt",
    "models",
    "names_prompt",
    "own_relations",
    "paper_items",
    "papers",
    "prompts",
    "property_names_digest",
    "published",
    "published_form",
    "questions",
    "questions_digest",
    "relation",
    "relation_digest",
    "relations",
    "relations_of_yago",
]
