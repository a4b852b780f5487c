from dataclasses import replace

import pytest

from data.errors import InputError
from data.records import (
    Context,
    Fact,
    Query,
    Question,
    RelationName,
    WikidataId,
    as_row,
    identity,
    is_relevant,
    of_row,
)
from data.records.tables import CONTEXTS, FACTS, QUERIES, QUESTIONS, Table

CAPITAL = RelationName("capital")
FACT = Fact(CAPITAL, "Norway", "Oslo", WikidataId("Q20"), WikidataId("Q585"), "trex", "Wikidata", "CC0 1.0")
QUERY = Query("q1", CAPITAL, "open", 1, "Norway", WikidataId("Q20"), False, "Oslo", "The capital of Norway is")
CONTEXT = Context("c1", CAPITAL, "base", "Peru", False, "Oslo", "The capital of Peru is Oslo.\n")
QUESTION = Question(
    "w1", CAPITAL, "static", "Norway", WikidataId("Q20"), WikidataId("P36"), "Oslo", None, ("Oslo", "Christiania"),
    "Lima", "What is the capital of Norway?", "It is Oslo.", "It is Lima.", 1, 12.5, None, "trex", "here", "CC0", ("x",)
)  # fmt: skip


@pytest.mark.parametrize("nonsense", ["", "20", "q20", "Q", "Q0", "Q020", "L20", "Q20 ", "Q20\n", "Q-1", "Q1٣", "QQ2"])
def test_a_wikidata_id_refuses_nonsense(nonsense: str) -> None:
    with pytest.raises(InputError, match=r"no Wikidata id.*Q20"):
        WikidataId(nonsense)


@pytest.mark.parametrize("name", ["Q20", "P36", "Q1"])
def test_a_wikidata_id_is_the_text_it_was_made_from(name: str) -> None:
    assert WikidataId(name) == name


@pytest.mark.parametrize("nonsense", ["", "1st", "a b", "a-b", "../x", "a/b", "é", "a" * 65, "a\n", "Q٣"])
def test_a_relation_name_refuses_nonsense(nonsense: str) -> None:
    with pytest.raises(InputError, match=r"no relation name.*officialLanguage"):
        RelationName(nonsense)


@pytest.mark.parametrize(
    ("record", "table"), [(FACT, FACTS), (QUERY, QUERIES), (CONTEXT, CONTEXTS), (QUESTION, QUESTIONS)]
)
def test_a_record_comes_back_from_its_table_as_it_was(record: Fact | Query | Context | Question, table: Table) -> None:
    row = table.of([as_row(record)]).to_pylist()[0]
    again = of_row(type(record), row)
    assert again == record
    assert type(again.relation) is RelationName


def test_ids_come_back_as_ids() -> None:
    again = of_row(Question, as_row(QUESTION))
    assert type(again.subject_id) is WikidataId
    assert again.object_id is None
    assert again.answers == ("Oslo", "Christiania")


@pytest.mark.parametrize("broken", [{"relation": "../etc"}, {"subject_id": "Oslo"}])
def test_a_row_with_a_broken_identifier_is_refused(broken: dict[str, str]) -> None:
    with pytest.raises(InputError):
        of_row(Fact, {**as_row(FACT), **broken})


def test_a_context_is_relevant_where_it_mentions_the_entity_on_either_side() -> None:
    assert is_relevant(replace(CONTEXT, entity="Norway"), QUERY)
    assert is_relevant(replace(CONTEXT, object="Norway"), QUERY)
    assert not is_relevant(CONTEXT, QUERY)


def test_the_answer_alone_does_not_make_a_context_relevant() -> None:
    assert CONTEXT.object == QUERY.answer
    assert not is_relevant(CONTEXT, QUERY)


def test_a_condition_has_its_context_and_the_answer_that_it_states() -> None:
    assert QUESTION.context("none") is None
    assert QUESTION.context("original") == "It is Oslo."
    assert QUESTION.context("counter_memory") == "It is Lima."
    assert [QUESTION.context_answer(one) for one in ("none", "original", "counter_memory")] == ["Oslo", "Oslo", "Lima"]


def test_an_identity_tells_its_parts_apart() -> None:
    assert identity("a", "b") == identity("a", "b")
    assert len({identity("a", "b"), identity("ab"), identity("b", "a"), identity("a", "b", "")}) == 4
