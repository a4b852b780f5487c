"""The bundled sample: real facts and DynamicQA-style questions that come with the package."""

from typing import ClassVar, Literal

from pydantic import field_validator

from swaymeter.data import catalog
from swaymeter.data.records import Fact, Partition, Question, RelationName, WikidataId, both_contexts, identity
from swaymeter.data.sources.slots import fill_slot, flags_of
from swaymeter.data.sources.source import (
    Choice,
    FactsOptions,
    FactSource,
    FetchedFacts,
    FetchedQuestions,
    QuestionsOptions,
    QuestionSource,
)

LICENCE = "facts: CC0 1.0; texts: Apache-2.0"
VERSION = 4


def facts(relation: str) -> list[Fact]:
    """Return the bundled facts of a relation; UnknownName for a relation that the catalog lacks."""
    return [
        Fact(
            RelationName(row.relation),
            row.subject,
            row.object,
            _id(row.subject_id),
            _id(row.object_id),
            row.id_source,
            row.source,
            LICENCE,
        )
        for row in catalog.facts(relation)
    ]


def questions(partition: Partition) -> list[Question]:
    """Return the bundled questions of a partition."""
    return [_question(row, partition) for row in catalog.questions(partition)]


def _question(row: catalog.CatalogQuestion, partition: Partition) -> Question:
    return Question(
        question_id=identity("sample", row.partition, row.relation, row.subject, row.object),
        relation=RelationName(row.relation),
        partition=partition,
        subject=row.subject,
        subject_id=_id(row.subject_id),
        property_id=_id(row.property_id),
        object=row.object,
        object_id=_id(row.object_id),
        answers=row.answers,
        replacement=row.replacement,
        question=row.question,
        contexts=both_contexts(
            fill_slot(row.snippet, row.object),
            fill_slot(row.snippet, row.replacement),
            (row.object, *row.answers),
            row.replacement,
        ),
        edits=row.edits,
        subject_popularity=row.subject_popularity,
        object_popularity=row.object_popularity,
        id_source=row.id_source,
        source=row.source,
        licence=LICENCE,
        flags=flags_of(row.question, row.answers, row.object, row.replacement),
    )


def _id(value: str | None) -> WikidataId | None:
    return WikidataId(value) if value else None


class SampleFacts(FactsOptions):
    """The facts that come with the package."""

    display_name: ClassVar[str] = "the bundled sample"

    source: Literal["sample"] = "sample"
    """The facts that come with the package."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return the relations with bundled facts."""
        return tuple(name for name in catalog.relations() if catalog.facts(name))

    @field_validator("choice")
    @classmethod
    def _without_degrees(cls, choice: Choice) -> Choice:
        if choice == "degree":
            raise ValueError("the bundled sample has no degrees; use `choice: random` or `source: yago`")
        return choice


class SampleQuestions(QuestionsOptions):
    """The questions that come with the package."""

    source: Literal["sample"] = "sample"
    """The questions that come with the package."""


SAMPLE_FACTS = FactSource(
    "sample",
    SampleFacts,
    key=lambda options, relation, seed, access: {
        "source": "sample",
        "version": VERSION,
        "relation": relation,
        "digest": catalog.facts_digest(relation),
    },
    fetch=lambda options, relation, seed, access: FetchedFacts(facts(relation)),
    at_hand=True,
)
SAMPLE_QUESTIONS = QuestionSource(
    "sample",
    SampleQuestions,
    key=lambda options, partition, access: {
        "source": "sample",
        "version": VERSION,
        "partition": partition,
        "digest": catalog.questions_digest(partition),
    },
    fetch=lambda options, partition, access: FetchedQuestions(questions(partition)),
)
