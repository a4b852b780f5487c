"""The bundled sample: real facts and DynamicQA-style questions that come with the package."""

from data import catalog
from data.records import Fact, Partition, Question, RelationName, WikidataId, identity
from data.sources.slots import fill_slot, flags_of

LICENCE = "facts: CC0 1.0; texts: Apache-2.0"


def facts(relation: str) -> list[Fact]:
    """The bundled facts of a relation; UnknownName where the catalog has no such relation."""
    return [
        Fact(
            relation=RelationName(row.relation),
            subject=row.subject,
            object=row.object,
            subject_id=WikidataId(row.subject_id) if row.subject_id else None,
            object_id=WikidataId(row.object_id) if row.object_id else None,
            id_source=row.id_source,
            source=row.source,
            licence=LICENCE,
        )
        for row in catalog.facts(relation)
    ]


def questions(partition: Partition) -> list[Question]:
    """The bundled questions of a partition."""
    return [_question(row, partition) for row in catalog.questions(partition)]


def _question(row: catalog.CatalogQuestion, partition: Partition) -> Question:
    return Question(
        question_id=identity("sample", row.partition, row.relation, row.subject, row.object),
        relation=RelationName(row.relation),
        partition=partition,
        subject=row.subject,
        subject_id=WikidataId(row.subject_id) if row.subject_id else None,
        property_id=WikidataId(row.property_id) if row.property_id else None,
        object=row.object,
        object_id=WikidataId(row.object_id) if row.object_id else None,
        answers=row.answers,
        replacement=row.replacement,
        question=row.question,
        original_context=fill_slot(row.snippet, row.object),
        counter_memory_context=fill_slot(row.snippet, row.replacement),
        edits=row.edits,
        subject_popularity=row.subject_popularity,
        object_popularity=row.object_popularity,
        id_source=row.id_source,
        source=row.source,
        licence=LICENCE,
        flags=flags_of(row.question, row.answers, row.object, row.replacement),
    )
