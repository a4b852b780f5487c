"""The bundled sample: real facts and DynamicQA-style questions that come with the package."""

from typing import Any, ClassVar, Literal

from pydantic import field_validator

from data import catalog
from data.records import Fact, Partition, Question, RelationName, WikidataId, identity
from data.sources.access import Access
from data.sources.slots import fill_slot, flags_of
from data.sources.source import Choice, FactsOptions, FactSource, FetchedFacts, QuestionsOptions, QuestionSource

LICENCE = "facts: CC0 1.0; texts: Apache-2.0"
VERSION = 4


def facts(relation: str) -> list[Fact]:
    """The bundled facts of a relation; UnknownName where the catalog has no such relation."""
    return [_fact(row) for row in catalog.facts(relation)]


def questions(partition: Partition) -> list[Question]:
    """The bundled questions of a partition."""
    return [_question(row, partition) for row in catalog.questions(partition)]


def _fact(row: catalog.CatalogFact) -> Fact:
    return Fact(
        RelationName(row.relation), row.subject, row.object, _id(row.subject_id), _id(row.object_id), row.id_source,
        row.source, LICENCE,
    )  # fmt: skip


def _question(row: catalog.CatalogQuestion, partition: Partition) -> Question:
    return Question(
        question_id=identity("sample", row.partition, row.relation, row.subject, row.object),
        relation=RelationName(row.relation), partition=partition, subject=row.subject, subject_id=_id(row.subject_id),
        property_id=_id(row.property_id), object=row.object, object_id=_id(row.object_id), answers=row.answers,
        replacement=row.replacement, question=row.question, original_context=fill_slot(row.snippet, row.object),
        counter_memory_context=fill_slot(row.snippet, row.replacement), edits=row.edits,
        subject_popularity=row.subject_popularity, object_popularity=row.object_popularity, id_source=row.id_source,
        source=row.source, licence=LICENCE, flags=flags_of(row.question, row.answers, row.object, row.replacement),
    )  # fmt: skip


def _id(value: str | None) -> WikidataId | None:
    return WikidataId(value) if value else None


class SampleFacts(FactsOptions):
    """The facts that come with the package."""

    title: ClassVar[str] = "the bundled sample"

    source: Literal["sample"] = "sample"
    """The facts that come with the package."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """The relations that have bundled facts."""
        return tuple(name for name in catalog.relations() if catalog.facts(name))

    @field_validator("choice")
    @classmethod
    def _without_degrees(cls, choice: Choice) -> Choice:
        if choice == "degree":
            raise ValueError("the bundled sample has no degrees; use `choice: random` or source yago")
        return choice


class SampleQuestions(QuestionsOptions):
    """The questions that come with the package."""

    source: Literal["sample"] = "sample"
    """The questions that come with the package."""


def _facts_key(options: SampleFacts, relation: str, seed: int, access: Access) -> dict[str, Any]:
    return {"source": "sample", "version": VERSION, "relation": relation, "digest": catalog.facts_digest(relation)}


def _fetch_facts(options: SampleFacts, relation: str, seed: int, access: Access) -> FetchedFacts:
    return FetchedFacts(facts(relation), {}, 0)


def _questions_key(options: SampleQuestions, partition: Partition, access: Access) -> dict[str, Any]:
    return {
        "source": "sample", "version": VERSION, "partition": partition, "digest": catalog.questions_digest(partition),
    }  # fmt: skip


def _fetch_questions(options: SampleQuestions, partition: Partition, access: Access) -> list[Question]:
    return questions(partition)


SAMPLE_FACTS = FactSource("sample", SampleFacts, _facts_key, _fetch_facts)
SAMPLE_QUESTIONS = QuestionSource("sample", SampleQuestions, _questions_key, _fetch_questions)
