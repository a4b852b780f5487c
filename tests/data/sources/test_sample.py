import pytest

from data import catalog
from data.records import PARTITIONS, SLOT, Partition, RelationName
from data.sources import sample


def test_facts_are_those_of_the_relation_with_source_and_licence() -> None:
    facts = sample.facts("capital")
    assert len(facts) == len(catalog.facts("capital")) > 0
    for fact in facts:
        assert fact.relation == "capital"
        assert type(fact.relation) is RelationName
        assert fact.source
        assert fact.licence == sample.LICENCE


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_context_holds_its_answer_and_no_slot(partition: Partition) -> None:
    for question in sample.questions(partition):
        assert question.object in question.original_context
        assert question.replacement in question.counter_memory_context
        assert SLOT not in question.original_context + question.counter_memory_context
