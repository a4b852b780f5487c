"""Bundled facts, questions and invented names: their numbers, and rules for each entry."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import PARTITIONS, SLOT

FACTS = catalog.facts()
QUESTIONS = catalog.questions()


def has_name(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text.casefold()) is not None


# ---- facts -----------------------------------------------------------------------------------------------------------


def test_ten_relations_have_twenty_pairs_with_both_ids() -> None:
    pairs = Counter(fact.relation for fact in FACTS if fact.subject_id and fact.object_id)
    assert sum(count >= 20 for count in pairs.values()) >= 10
    for name in {fact.relation for fact in FACTS}:
        assert len({fact.object for fact in catalog.facts(name)}) >= 10


def test_ids_have_source_and_belong_to_one_name() -> None:
    for fact in FACTS:
        assert bool(fact.id_source) == bool(fact.subject_id or fact.object_id), fact
    assert max(Counter((fact.relation, fact.subject.casefold()) for fact in FACTS).values()) == 1
    assert max(Counter((fact.relation, fact.subject_id) for fact in FACTS if fact.subject_id).values()) == 1
    assert not [fact for fact in FACTS if fact.subject == fact.object or fact.subject_id == fact.object_id]
    objects = {(fact.relation, fact.object, fact.object_id) for fact in FACTS}
    assert len(objects) == len({(relation, label) for relation, label, _ in objects})
    assert len(objects) == len({(relation, identifier) for relation, _, identifier in objects})


def test_each_class_has_twenty_invented_names() -> None:
    real = {name.casefold() for fact in FACTS for name in (fact.subject, fact.object)}
    for question in QUESTIONS:
        names = (question.subject, question.object, question.replacement, *question.answers)
        real |= {name.casefold() for name in names}
    for entity_class in catalog.ENTITY_CLASSES:
        invented = catalog.invented_entities(entity_class)
        assert len({name.casefold() for name in invented}) == len(invented) >= 20, entity_class
        assert all(name == name.strip() for name in invented), entity_class
        assert real.isdisjoint(name.casefold() for name in invented), entity_class


# ---- questions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partition", PARTITIONS)
def test_every_partition_has_thirty_different_questions(partition: str) -> None:
    questions = catalog.questions(partition)
    assert len({question.question for question in questions}) == len(questions) >= 30
    assert len({question.snippet for question in questions}) == len(questions)
    assert partition == "disputable" or len({question.relation for question in questions}) >= 4


def test_a_question_its_snippet_and_its_answers_fit() -> None:
    for question in QUESTIONS:
        assert question.snippet.count(SLOT) == 1, question
        rest = question.snippet.replace(SLOT, "")
        article = re.search(r"\b(an?) \[ENTITY\]", question.snippet)
        for name in (question.object, question.replacement):
            assert not has_name(rest, name), question
            assert article is None or article[1] == ("an" if name[0].lower() in "aeiou" else "a"), question
        assert question.question[-1] in "?.", question
        assert not any(has_name(question.question, name) for name in (*question.answers, question.replacement)), (
            question
        )
        assert question.object in question.answers, question
        assert len(set(question.answers)) == len(question.answers), question
        assert question.replacement.casefold() not in [answer.casefold() for answer in question.answers], question
        if question.partition == "disputable":
            assert (question.subject_id, question.property_id, question.object_id) == (None, None, None), question
        else:
            assert question.property_id == catalog.relation(question.relation).wikidata, question
            assert all((question.subject_id, question.object_id, question.id_source)), question


def test_static_questions_have_one_edit_temporal_several() -> None:
    assert {question.edits for question in catalog.questions("static")} == {1}
    assert all(question.edits > 1 for question in catalog.questions("temporal"))
    assert all(question.edits >= 1 for question in catalog.questions("disputable"))


def test_no_sentence_of_the_published_data_is_copied() -> None:
    folder = os.environ.get("SWAYMETER_DYNAMICQA")
    if not folder:
        pytest.skip("SWAYMETER_DYNAMICQA does not name the folder of the published CSV files")

    def bare(text: str) -> str:
        return re.sub(r"\W+", " ", text).strip().casefold()

    def sentences(text: str) -> Iterator[str]:
        pieces = (bare(sentence) for sentence in re.split(r"(?<=[.?!])\s+", text))
        return (piece for piece in pieces if len(piece.split()) > 2)  # initials are no sentences

    published: set[str] = set()
    for file in sorted(Path(folder).glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                published |= {bare(row["question"]), bare(row["context"]), *sentences(row["context"])}
    assert published, f"no rows in the CSV files of {folder}"
    for question in QUESTIONS:
        assert published.isdisjoint({bare(question.question), bare(question.snippet)}), question
        assert published.isdisjoint(sentences(question.snippet)), question
