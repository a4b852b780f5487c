from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import (
    ALONE,
    Context,
    Dispute,
    Fact,
    Frequency,
    InventedName,
    Page,
    Passage,
    Query,
    Question,
    QuestionContext,
    Rejected,
    RelationName,
    Run,
    Shard,
    Triple,
    WikidataId,
    as_row,
    both_contexts,
    from_row,
    is_relevant,
)
from swaymeter.data.records.history import HistoryRow
from swaymeter.data.records.judgements import DecidedAnswer, Judgement
from swaymeter.data.records.row import table_of
from swaymeter.data.records.score import Variant
from swaymeter.data.records.statistics import Reliability
from swaymeter.data.records.tables import QUESTIONS, RECORD_TABLES

CAPITAL, NORWAY, OSLO = RelationName("capital"), WikidataId("Q20"), WikidataId("Q585")
QUERY = Query("q1", CAPITAL, "open", 1, "Norway", NORWAY, False, "Oslo", "The capital of Norway is")
CONTEXT = Context("c1", CAPITAL, "base", "Peru", False, "Oslo", "The capital of Peru is Oslo.\n")
QUESTION = Question(
    question_id="w1",
    relation=CAPITAL,
    partition="static",
    subject="Norway",
    subject_id=NORWAY,
    property_id=WikidataId("P36"),
    object="Oslo",
    object_id=None,
    answers=("Oslo", "Christiania"),
    replacement="Lima",
    question="What is the capital of Norway?",
    contexts=both_contexts("It is Oslo.", "It is Lima.", ("Oslo", "Christiania"), "Lima"),
    edits=1,
    subject_popularity=12.5,
    object_popularity=None,
    id_source="trex",
    source="here",
    licence="CC0",
    flags=("x",),
)
# At least one record of each table. Most values are arbitrary.
RECORDS = [
    QUERY,
    CONTEXT,
    QUESTION,
    Fact(CAPITAL, "Norway", "Oslo", NORWAY, OSLO, "trex", "Wikidata", "CC0 1.0"),
    InventedName("country", "Orvania", "catalog", ("https://www.wikidata.org",)),
    Triple(CAPITAL, NORWAY, WikidataId("P36"), OSLO, "a list", "CC0 1.0"),
    Page("Oslo", "a list", None),
    Dispute("Oslo", 7, "Oslo is old.", 0, "Oslo", "Bergen", 2, (8, 9), 0.4, None, 0, "Wikipedia", "CC", "x", "2026"),
    Rejected(None, CAPITAL, "P36", "Norway", "doubled", "a list", "CC0 1.0", revisions=(8, 9)),
    Variant("m · cad/float32", "m · cad", "m", None, "cad", None, "float32", None, "{}"),
    Judgement(1, "v.csv", 2, "Where?", "none", "verdict", "Oslo", "original", "Ada", sample="greedy"),
    DecidedAnswer("m", "float32", "capital", "q", "none", None, 2, "original", "person", "Ada", None, None),
    Run(
        relation="capital",
        model="m",
        variant="m/float32",
        measure="persuasion",
        measure_version=1,
        key="k",
        file="f",
        rows=3,
        dtype="float32",
        parameters=135,
        hardware="a CPU",
        reading=None,
        seed=1,
        started_at="a",
        finished_at="b",
        seconds=0.5,
        forward_passes=7,
        prompts=9,
        swaymeter_version="0",
        torch_version="2",
        transformers_version="5",
    ),
    Reliability(
        model="m",
        dtype="float32",
        relation="capital",
        query_type="open",
        measure="persuasion",
        over="seeds",
        compared="query and context",
        scores=3,
        n=0,
        of_first=8,
        mean_score=None,
        variance=None,
        median=None,
        percentile_95=None,
        largest=None,
        untestable="no context is in every sample",
    ),
    Shard(
        shard="a.jsonl",
        size=9,
        read=8,
        documents=2,
        words=5,
        tokens=None,
        unreadable=0,
        problem=None,
        digest="d",
        counted_at="a",
    ),
    Frequency(
        entity="Norway",
        answer="Oslo",
        entity_count=3,
        capitals_count=3,
        lower_case_count=0,
        pair_count=1,
        entity_counted="words",
        pair_counted="words",
        excluded=None,
        corpus="a corpus",
        window_words=50,
        shards=1,
        documents=2,
        words=5,
        tokens=None,
        counted_at="a",
    ),
    HistoryRow(2, "number", "m", "float32", "follows conflicting", None, "follows", "conflicting", "share", 28),
]


@pytest.mark.parametrize("nonsense", ["", "20", "q20", "Q", "Q0", "Q020", "L20", "Q20 ", "Q20\n", "Q-1", "Q1٣", "QQ2"])
def test_a_wikidata_id_refuses_nonsense(nonsense: str) -> None:
    with pytest.raises(InputError, match=r"not a Wikidata id.*Q20"):
        WikidataId(nonsense)


@pytest.mark.parametrize("nonsense", ["", "1st", "a b", "a-b", "../x", "a/b", "é", "a" * 65, "a\n", "Q٣"])
def test_a_relation_name_refuses_nonsense(nonsense: str) -> None:
    with pytest.raises(InputError, match=r"not a relation name.*officialLanguage"):
        RelationName(nonsense)


def test_the_records_cover_every_table() -> None:
    assert {table_of(type(record)).name for record in RECORDS} == {table.name for table in RECORD_TABLES}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_is_read_back_from_its_table(record: Any) -> None:
    row = table_of(type(record)).of([as_row(record)]).to_pylist()[0]
    again = from_row(type(record), row)
    assert again == record
    assert [type(value) for value in as_row(again).values()] == [type(value) for value in as_row(record).values()]


@pytest.mark.parametrize("broken", [{"relation": "../etc"}, {"subject_id": "Oslo"}])
def test_a_row_with_a_broken_identifier_is_refused(broken: dict[str, str]) -> None:
    with pytest.raises(InputError):
        from_row(Question, {**as_row(QUESTION), **broken})


def test_a_context_that_mentions_the_entity_is_relevant() -> None:
    assert is_relevant(replace(CONTEXT, entity="Norway"), QUERY)
    assert is_relevant(replace(CONTEXT, object="Norway"), QUERY)
    assert not is_relevant(CONTEXT, QUERY), "the answer alone is not enough"


def test_cases_are_question_alone_and_with_its_contexts() -> None:
    assert QUESTION.cases == (
        ALONE,
        QuestionContext("original", "original", (Passage("It is Oslo."),), QUESTION.forms),
        QuestionContext("counter_memory", "counter_memory", (Passage("It is Lima."),), ("Lima",)),
    )
    own = replace(QUESTION, contexts=(QuestionContext("a", "conflicting", (Passage("Lima!"), Passage("Rain."))),))
    assert [case.text for case in own.cases] == [None, "Lima!\n\nRain."]
    assert (QUESTION.is_own, own.is_own) == (False, True)
    (row,) = QUESTIONS.of([as_row(own)]).to_pylist()
    assert from_row(Question, row) == own
