from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import reasons
from swaymeter.data.errors import InputError, ServiceError, ServiceTimeout
from swaymeter.data.records import Question, Rejected, Triple, as_row
from swaymeter.data.records.tables import QUESTIONS, REJECTED
from swaymeter.data.sources.slots import ANSWER_LEFT_IN_CONTEXT, QUESTION_CONTAINS_ANSWER
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import questions_of_property
from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.servers.wiki_world.server import service_of, serving_world
from tests.data.sources.servers.wiki_world.world import EXPECTED, FACTS, UNUSABLE, World, world
from tests.tasks.contexts.wikidata.live import MONTHS, clients, embedder, never, triple

FactIds = tuple[str, str, str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, BuiltQuestions]]:
    """Return the small world, and the questions of each property, built separately."""
    wiki, by_property = world(), {}
    with serving_world(wiki) as (addresses, _), clients(addresses, tmp_path_factory.mktemp("answers")) as services:
        for property_id in sorted({fact[1] for fact in FACTS}):
            triples = [triple(*fact, list_id=fact[0]) for fact in FACTS if fact[1] == property_id]
            by_property[property_id] = questions_of_property(triples, services, months=MONTHS, embed=embedder())
    return wiki, by_property


def question_of(built: BuiltQuestions, fact: FactIds) -> Question:
    subject, answer = EXPECTED[fact].current_ids or (fact[0], fact[2])
    (question,) = [row for row in built.questions if (row.subject_id, row.object_id) == (subject, answer)]
    return question


@pytest.mark.parametrize("fact", EXPECTED, ids="-".join)
def test_usable_fact_becomes_a_question(built: tuple[World, dict[str, BuiltQuestions]], fact: FactIds) -> None:
    wiki, by_property = built
    expected, question = EXPECTED[fact], question_of(by_property[fact[1]], fact)
    revisions = [revision["revid"] for revision in wiki.wikidata.pages[question.subject_id or ""].revisions]
    assert question.partition == expected.partition
    assert question.edit_revisions == tuple(revisions[number - 1] for number in expected.edits)
    assert (question.edits, question.hidden_edits) == (len(expected.edits), len(expected.hidden))
    assert question.item_revision == revisions[-1]
    assert [question.subject_popularity, question.object_popularity] == expected.views
    assert question.list_id == fact[0]
    if expected.replacement == "embeddings":
        assert question.replacement_by == "embeddings"
    else:
        assert (question.replacement_id, question.replacement_by) == (expected.replacement, "wembedder")
    page = expected.page or question.subject
    assert question.page == page
    assert question.page_revision == wiki.wikipedia.pages[page].latest["revid"]


@pytest.mark.parametrize("fact", UNUSABLE, ids="-".join)
def test_unusable_fact_is_rejected_with_its_reason(
    built: tuple[World, dict[str, BuiltQuestions]], fact: FactIds
) -> None:
    rows = [row for row in built[1][fact[1]].rejected if row.subject_id == fact[0]]
    assert UNUSABLE[fact] in [row.reason for row in rows]


def test_all_rows_are_consistent(built: tuple[World, dict[str, BuiltQuestions]]) -> None:
    for property_id, result in built[1].items():
        assert len(result.questions) + len(result.rejected) == sum(fact[1] == property_id for fact in FACTS)
        assert len({question.question_id for question in result.questions}) == len(result.questions)
        assert len(QUESTIONS.of([as_row(question) for question in result.questions])) == len(result.questions)
        assert len(REJECTED.of([as_row(row) for row in result.rejected])) == len(result.rejected)
        assert {row.reason for row in result.rejected} <= reasons.REASONS.keys()
        for question in result.questions:
            assert question.object in question.original_context
            replaced = question.original_context.replace(question.object, question.replacement)
            assert replaced in question.counter_memory_context
            assert question.replacement not in question.answers
            assert question.flags == ()


def test_questions_and_rejections_have_their_origin(built: tuple[World, dict[str, BuiltQuestions]]) -> None:
    question = question_of(built[1]["P106"], ("Q527", "P106", "Q101"))
    assert question.source == "a list, Wikidata, Wikipedia"
    assert question.licence == "list: CC0 1.0; facts: Wikidata CC0 1.0; texts: Wikipedia CC BY-SA 4.0"
    assert question.address == "https://wiki.example.org/wiki/Zelda_Lamp"
    assert question.id_source == "wikidata"
    assert question.retrieved_at is not None
    assert (question.property, question.answers) == ("occupation", ("lanternist", "lamp keeper", "lantern lighter"))
    for row in built[1]["P106"].rejected:
        assert (row.part, row.property_id, row.relation) == ("P106", "P106", "occupation")
        assert row.source == "a list, Wikidata, Wikipedia"
        assert row.partition == ("static" if row.revisions else None)


def small_world() -> World:
    """Return a world with a painter, her page, and an occupation similar to hers."""
    wiki = World()
    wiki.property("P106", "occupation")
    wiki.property("P4000", "has a liking for")
    for trade, name in (("Q10", "painter"), ("Q11", "chemist")):
        wiki.item(trade, name, description="trade", values={"P31": "Q6"})
    wiki.item("Q1", "Ada Example", article="Ada Example", values={"P106": "Q10", "P4000": "Q10"})
    wiki.article("Ada Example", "Ada Example was a painter. She was old.", item_id="Q1", views=[7])
    wiki.similar_items["Q10"] = ("Q11",)
    return wiki


Build = Callable[..., BuiltQuestions]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that builds the questions of triples in a world."""

    def build_questions(wiki: World, *triples: Triple, wembedder: bool = True, **options: Any) -> BuiltQuestions:
        with serving_world(wiki) as (addresses, _), clients(addresses, tmp_path, wembedder=wembedder) as services:
            return questions_of_property(triples, services, **{"months": MONTHS, "embed": never, **options})

    return build_questions


def test_question_and_answers_of_the_list_are_used(build: Build) -> None:
    listed = triple(
        "Q1", "P106", "Q10", question=" What did Ada do? ", answers=("painter", "dauber", " "), property="job"
    )
    (question,) = build(small_world(), listed, words=6).questions
    assert (question.question, question.property) == ("What did Ada do?", "job")
    assert question.answers == ("painter", "dauber")
    assert question.original_context == "Ada Example was a painter."


def test_accepted_answers_are_no_replacement(build: Build) -> None:
    result = build(small_world(), triple("Q1", "P106", "Q10", answers=("Chemist",)), embed=embedder())
    assert [row.reason for row in result.rejected] == [reasons.NO_REPLACEMENT]


def test_without_wembedder_other_answers_of_property_are_candidates(build: Build) -> None:
    wiki = small_world()
    wiki.item("Q2", "Bo Example", article="Bo Example", values={"P106": "Q11"})
    result = build(wiki, triple("Q1", "P106", "Q10"), triple("Q2", "P106", "Q11"), wembedder=False, embed=embedder())
    (question,) = result.questions
    assert (question.replacement, question.replacement_by) == ("chemist", "embeddings")
    assert question.replacement_quality == pytest.approx(0.5)  # "painter: trade", "chemist: trade"
    assert [row.reason for row in result.rejected] == [reasons.PAGE_MISSING]


def test_rejection_without_replacement_counts_its_candidates(build: Build) -> None:
    wiki = small_world()
    wiki.similar_items.clear()
    (row,) = build(wiki, triple("Q1", "P106", "Q10")).rejected
    assert row.detail == "no candidate fits (0 by Wembedder, 1 among the answers of the property)"
    assert (row.reason, row.partition, len(row.revisions)) == (reasons.NO_REPLACEMENT, "static", 1)
    (row,) = build(small_world(), triple("Q1", "P106", "Q10"), wembedder=False).rejected
    assert (row.reason, row.detail) == (
        reasons.NO_REPLACEMENT,
        "no candidate fits (1 among the answers of the property)",
    )


@pytest.mark.parametrize(
    ("response", "error"),
    [(ServedResponse("<html>ill</html>", status=403), ServiceError), (ServedResponse(status=504), ServiceTimeout)],
)
def test_error_of_wembedder_gives_advice(tmp_path: Path, response: ServedResponse, error: type[Exception]) -> None:
    def before(request: ServedRequest) -> ServedResponse | None:
        return response if service_of(request) == "wembedder" else None

    with (
        serving_world(small_world(), before=before) as (addresses, _),
        clients(addresses, tmp_path) as services,
        pytest.raises(
            ServiceError, match="; to do without Wembedder, set `counter_memory: embeddings` under `questions`"
        ) as raised,
    ):
        questions_of_property([triple("Q1", "P106", "Q10")], services, months=MONTHS, embed=never)
    assert raised.type is error


def test_a_fact_with_hidden_beginning_is_rejected(build: Build) -> None:
    wiki = small_world()
    hidden = ("user", "comment", "content")
    wiki.item("Q2", "Bo Example", article="Bo Example", values={"P106": "Q10"}, hidden=hidden)
    (row,) = build(wiki, triple("Q2", "P106", "Q10")).rejected
    assert (row.reason, row.detail, row.partition) == (reasons.NOT_EDITED, "hidden revisions: 1", None)


def test_page_of_a_merged_item_is_found(build: Build) -> None:
    wiki = small_world()
    wiki.edit("Q1", "/* wbmergeitems-from:0||Q3 */")
    wiki.wikidata.redirects["Q3"] = "Q1"
    wiki.wikipedia.pages["Ada Example"].item_id = "Q3"
    assert len(build(wiki, triple("Q1", "P106", "Q10")).questions) == 1


def test_facts_of_two_properties_are_refused(build: Build) -> None:
    assert build(World()) == BuiltQuestions([], [])
    with pytest.raises(InputError, match="P106, P4000"):
        build(small_world(), triple("Q1", "P106", "Q10"), triple("Q1", "P4000", "Q10"))


@pytest.mark.parametrize("service", ["wikidata_api", "wikipedia", "pageviews", "wembedder"])
def test_a_failing_service_rejects_nothing(service: str, tmp_path: Path) -> None:
    triples = [triple(*fact) for fact in FACTS if fact[1] == "P57"]

    def before(request: ServedRequest) -> ServedResponse | None:
        return ServedResponse("<html>ill</html>", status=403) if service_of(request) == service else None

    with (
        serving_world(world(), before=before) as (addresses, _),
        clients(addresses, tmp_path) as services,
        pytest.raises(ServiceError),
    ):
        questions_of_property(triples, services, months=MONTHS, embed=embedder())


def test_order_of_facts_does_not_change_questions(tmp_path: Path) -> None:
    triples = [triple(*fact) for fact in FACTS if fact[1] == "P57"]

    def without_time(row: Question | Rejected) -> Question | Rejected:
        return replace(row, retrieved_at=None)

    with serving_world(world()) as (addresses, _), clients(addresses, tmp_path) as services:
        forward = questions_of_property(triples, services, months=MONTHS, embed=embedder())
        backward = questions_of_property(triples[::-1], services, months=MONTHS, embed=embedder())
    assert {without_time(row) for row in forward.questions} == {without_time(row) for row in backward.questions}
    assert {without_time(row) for row in forward.rejected} == {without_time(row) for row in backward.rejected}


@pytest.mark.parametrize(
    ("text", "answers", "is_rejected"),
    [
        ("Is she a painter?", (), True),
        ("Is she the Painter-in-chief?", (), True),
        ("Is she one who daubs walls?", ("daubs walls",), True),
        ("Did she go in?", ("in",), False),  # a short form is usually another word
        ("Does she own paintings?", (), False),
    ],
)
def test_a_question_that_names_the_answer_is_rejected(
    build: Build, text: str, answers: tuple[str, ...], is_rejected: bool
) -> None:
    result = build(small_world(), triple("Q1", "P106", "Q10", question=text, answers=answers))
    assert [(row.reason, row.detail) for row in result.rejected] == [(QUESTION_CONTAINS_ANSWER, text)] * is_rejected
    assert [question.flags for question in result.questions] == [()] * (not is_rejected)


def test_answer_within_the_subject_is_rejected(build: Build) -> None:
    wiki = small_world()
    wiki.item("Q20", "Oslo", aliases=["Kristiania"], values={"P31": "Q7"})
    wiki.item("Q2", "Kristiania Opera House", article="Opera", values={"P4000": "Q20"})
    (row,) = build(wiki, triple("Q2", "P4000", "Q20")).rejected
    assert row.reason == QUESTION_CONTAINS_ANSWER
    assert row.detail == "What is the has a liking for of Kristiania Opera House?"
    assert row.reason in reasons.REASONS


@pytest.mark.parametrize(
    ("subject", "answer", "reason"),
    [
        ("Metallica (album)", "Metallica", reasons.OBJECT_IS_SUBJECT),
        ("Metallica", "METALLICA (band)", reasons.OBJECT_IS_SUBJECT),
        ("Metallica (album)", "Metallica (band)", reasons.OBJECT_IS_SUBJECT),
        ("\u200b", "Metallica", reasons.SUBJECT_UNNAMED),
        ("Load", " \u2060 ", reasons.OBJECT_UNNAMED),
        ("Load", "A", reasons.NOT_MENTIONED),
        ("(untitled)", "(unknown)", reasons.NOT_MENTIONED),
    ],
)
def test_facts_with_unusable_names_are_rejected(build: Build, subject: str, answer: str, reason: str) -> None:
    wiki = small_world()
    wiki.item("Q20", answer, values={"P31": "Q7"})
    wiki.item("Q2", subject, article="Load", values={"P4000": "Q20"})
    wiki.article("Load", "A record was made by Metallica. A Record, that is.", item_id="Q2")
    (row,) = build(wiki, triple("Q2", "P4000", "Q20", question="Who made it?")).rejected
    assert row.reason == reason


@pytest.mark.parametrize(
    ("answer", "aliases", "replacement", "page", "context"),
    [
        (
            "Reading",
            [],
            "Swindon",
            "As a boy he enjoyed reading books. He was born in Reading, England.",
            "As a boy he enjoyed reading books. He was born in Swindon, England.",
        ),
        (
            "India",
            ["in", "Bharat"],
            "Nepal",
            "Bo lives in India, that is in Bharat.",
            "Bo lives in Nepal, that is in Nepal.",
        ),
    ],
)
def test_common_words_and_codes_are_not_replaced(
    build: Build, answer: str, aliases: list[str], replacement: str, page: str, context: str
) -> None:
    wiki = small_world()
    wiki.item("Q20", answer, aliases=aliases, values={"P31": "Q7"})
    wiki.item("Q21", replacement, values={"P31": "Q7"})
    wiki.item("Q2", "Bo Example", article="Bo Example", values={"P106": "Q20"})
    wiki.article("Bo Example", page, item_id="Q2")
    wiki.similar_items["Q20"] = ("Q21",)
    (question,) = build(wiki, triple("Q2", "P106", "Q20")).questions
    assert (question.counter_memory_context, question.flags) == (context, ())


def test_answer_in_the_subjects_name_is_flagged(build: Build) -> None:
    wiki = small_world()
    wiki.item("Q2", "Painter of Ships", article="Painter of Ships", values={"P106": "Q10"})
    wiki.article("Painter of Ships", "Painter of Ships was a painter.", item_id="Q2")
    (question,) = build(wiki, triple("Q2", "P106", "Q10", question="What did she do?")).questions
    assert question.counter_memory_context == "Painter of Ships was a chemist."
    assert ANSWER_LEFT_IN_CONTEXT in question.flags
