from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data import reasons
from swaymeter.data.errors import InputError, ServiceError, ServiceTimeout
from swaymeter.data.records import Question, Rejected, as_row
from swaymeter.data.records.tables import QUESTIONS, REJECTED
from swaymeter.data.sources.slots import ANSWER_LEFT_IN_CONTEXT, QUESTION_CONTAINS_ANSWER
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import questions_of_property
from tests.data.sources.servers.faults import Say, ServedRequest
from tests.data.sources.servers.wiki_world import (
    EMBEDDINGS,
    OUTCOME,
    Kept,
    Left,
    World,
    service_of,
    serving_world,
    world,
)
from tests.tasks.contexts.wikidata.live import MONTHS, Building, building, by_words, clients, never, seed, small_world

Facts = tuple[str, str, str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, BuiltQuestions]]:
    """The small world, and what becomes of each property's facts there, each property alone."""
    made, found = world(), {}
    with serving_world(made) as (addresses, _), clients(addresses, tmp_path_factory.mktemp("answers")) as services:
        for property_id in sorted({fact[1] for fact in OUTCOME}):
            seeds = [seed(*fact, list_id=fact[0]) for fact in OUTCOME if fact[1] == property_id]
            found[property_id] = questions_of_property(seeds, services, months=MONTHS, embed=by_words())
    return made, found


def question_of(built: BuiltQuestions, fact: Facts) -> Question:
    expected = OUTCOME[fact]
    assert isinstance(expected, Kept)
    subject, answer = expected.became or (fact[0], fact[2])
    (question,) = [one for one in built.questions if (one.subject_id, one.object_id) == (subject, answer)]
    return question


KEPT = [fact for fact, outcome in OUTCOME.items() if isinstance(outcome, Kept)]
LEFT = [fact for fact, outcome in OUTCOME.items() if isinstance(outcome, Left)]


@pytest.mark.parametrize("fact", KEPT, ids="-".join)
def test_what_becomes_a_question(built: tuple[World, dict[str, BuiltQuestions]], fact: Facts) -> None:
    made, found = built
    expected, question = OUTCOME[fact], question_of(found[fact[1]], fact)
    assert isinstance(expected, Kept)
    revisions = [revision.revision_id for revision in made.wikidata.pages[question.subject_id or ""].revisions]
    assert question.partition == expected.partition
    assert question.edit_revisions == tuple(revisions[number - 1] for number in expected.edits)
    assert (question.edits, question.hidden_edits) == (len(expected.edits), len(expected.hidden))
    assert question.item_revision == revisions[-1]
    assert (question.subject_popularity, question.object_popularity) == expected.views
    assert question.list_id == fact[0]
    if expected.replacement == EMBEDDINGS:
        assert question.replacement_by == "embeddings"
    else:
        assert (question.replacement_id, question.replacement_by) == (expected.replacement, "wembedder")
    page = expected.page or question.subject
    assert question.page == page
    assert question.page_revision == made.wikipedia.pages[page].latest.revision_id


@pytest.mark.parametrize("fact", LEFT, ids="-".join)
def test_what_becomes_none_and_why(built: tuple[World, dict[str, BuiltQuestions]], fact: Facts) -> None:
    expected = OUTCOME[fact]
    assert isinstance(expected, Left)
    rows = [row for row in built[1][fact[1]].rejected if row.subject_id == fact[0]]
    assert expected.why in [row.reason for row in rows]


def test_every_row_is_sound(built: tuple[World, dict[str, BuiltQuestions]]) -> None:
    for property_id, found in built[1].items():
        assert len(found.questions) + len(found.rejected) == sum(fact[1] == property_id for fact in OUTCOME)
        assert len({question.question_id for question in found.questions}) == len(found.questions)
        assert len(QUESTIONS.of([as_row(question) for question in found.questions])) == len(found.questions)
        assert len(REJECTED.of([as_row(row) for row in found.rejected])) == len(found.rejected)
        assert {row.reason for row in found.rejected} <= reasons.REASONS.keys()
        for question in found.questions:
            assert question.object in question.original_context
            replaced = question.original_context.replace(question.object, question.replacement)
            assert replaced in question.counter_memory_context
            assert question.replacement not in question.answers
            assert question.flags == ()


def test_everything_says_where_it_comes_from(built: tuple[World, dict[str, BuiltQuestions]]) -> None:
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


@pytest.fixture
def build(tmp_path: Path) -> Building:
    return building(tmp_path)


def test_the_lists_question_and_answers_are_kept(build: Building) -> None:
    listed = seed(
        "Q1", "P106", "Q10", question=" What did Ada do? ", answers=("painter", "dauber", " "), property="job"
    )
    (question,) = build(small_world(), listed, words=6).questions
    assert (question.question, question.property) == ("What did Ada do?", "job")
    assert question.answers == ("painter", "dauber")
    assert question.original_context == "Ada Example was a painter."


def test_accepted_answers_are_no_replacement(build: Building) -> None:
    found = build(small_world(), seed("Q1", "P106", "Q10", answers=("Chemist",)), embed=by_words())
    assert [row.reason for row in found.rejected] == [reasons.NO_REPLACEMENT]


def test_without_wembedder_other_answers_of_property_are_candidates(build: Building) -> None:
    made = small_world()
    made.item("Q2", "Bo Example", article="Bo Example", claims=[("P106", "Q11")])
    found = build(made, seed("Q1", "P106", "Q10"), seed("Q2", "P106", "Q11"), wembedder=False, embed=by_words())
    (question,) = found.questions
    assert (question.replacement, question.replacement_by) == ("chemist", "embeddings")
    assert question.replacement_quality == pytest.approx(0.5)  # "painter: trade", "chemist: trade"
    assert [row.reason for row in found.rejected] == [reasons.PAGE_MISSING]


def test_a_rejection_for_want_of_replacement_says_why(build: Building) -> None:
    made = small_world()
    made.similar_items.clear()
    (row,) = build(made, seed("Q1", "P106", "Q10")).rejected
    assert row.detail == "no candidate fits (0 by Wembedder, 1 among the answers of the property)"
    assert (row.reason, row.partition, len(row.revisions)) == (reasons.NO_REPLACEMENT, "static", 1)
    (row,) = build(small_world(), seed("Q1", "P106", "Q10"), wembedder=False).rejected
    assert (row.reason, row.detail) == (
        reasons.NO_REPLACEMENT,
        "no candidate fits (1 among the answers of the property)",
    )


@pytest.mark.parametrize(
    ("said", "kind"), [(Say("<html>ill</html>", status=403), ServiceError), (Say(status=504), ServiceTimeout)]
)
def test_a_failing_wembedder_comes_with_advice(tmp_path: Path, said: Say, kind: type[Exception]) -> None:
    def before(asked: ServedRequest) -> Say | None:
        return said if service_of(asked) == "wembedder" else None

    with (
        serving_world(small_world(), before=before) as (addresses, _),
        clients(addresses, tmp_path) as services,
        pytest.raises(ServiceError, match="; or set `counter_memory: embeddings` under `questions`") as raised,
    ):
        questions_of_property([seed("Q1", "P106", "Q10")], services, months=MONTHS, embed=never)
    assert raised.type is kind


def test_a_fact_with_hidden_beginning_is_rejected(build: Building) -> None:
    made = small_world()
    bo = made.item("Q2", "Bo Example", article="Bo Example", claims=[("P106", "Q10")])
    bo.hides()
    (row,) = build(made, seed("Q2", "P106", "Q10")).rejected
    assert (row.reason, row.detail, row.partition) == (reasons.NOT_EDITED, "hidden revisions: 1", None)


def test_page_under_old_id_is_subjects(build: Building) -> None:
    made = small_world()
    made.item("Q3", "Example, Ada").merges_into(made.items["Q1"])
    made.wikipedia.pages["Ada Example"].item_id = "Q3"
    assert len(build(made, seed("Q1", "P106", "Q10")).questions) == 1


def test_facts_of_one_property_are_needed(build: Building) -> None:
    assert build(World()) == BuiltQuestions([], [])
    with pytest.raises(InputError, match="P106, P4000"):
        build(small_world(), seed("Q1", "P106", "Q10"), seed("Q1", "P4000", "Q10"))


@pytest.mark.parametrize("service", ["wikidata_api", "wikipedia", "pageviews", "wembedder"])
def test_a_failing_service_rejects_nothing(service: str, tmp_path: Path) -> None:
    seeds = [seed(*fact) for fact in OUTCOME if fact[1] == "P57"]

    def before(asked: ServedRequest) -> Say | None:
        return Say("<html>ill</html>", status=403) if service_of(asked) == service else None

    with (
        serving_world(world(), before=before) as (addresses, _),
        clients(addresses, tmp_path) as services,
        pytest.raises(ServiceError),
    ):
        questions_of_property(seeds, services, months=MONTHS, embed=by_words())


def test_same_facts_make_same_questions_in_any_order(tmp_path: Path) -> None:
    seeds = [seed(*fact) for fact in OUTCOME if fact[1] == "P57"]

    def timeless(row: Question | Rejected) -> Question | Rejected:
        return replace(row, retrieved_at=None)

    with serving_world(world()) as (addresses, _), clients(addresses, tmp_path) as services:
        one = questions_of_property(seeds, services, months=MONTHS, embed=by_words())
        other = questions_of_property(seeds[::-1], services, months=MONTHS, embed=by_words())
    assert {timeless(row) for row in one.questions} == {timeless(row) for row in other.questions}
    assert {timeless(row) for row in one.rejected} == {timeless(row) for row in other.rejected}


@pytest.mark.parametrize(
    ("asked", "answers", "is_rejected"),
    [
        ("Is she a painter?", (), True),
        ("Is she the Painter-in-chief?", (), True),
        ("Is she one who daubs walls?", ("daubs walls",), True),
        ("Did she go in?", ("in",), False),  # a short form is as a rule another word
        ("Does she own paintings?", (), False),
    ],
)
def test_a_question_that_names_the_answer_is_rejected(
    build: Building, asked: str, answers: tuple[str, ...], is_rejected: bool
) -> None:
    found = build(small_world(), seed("Q1", "P106", "Q10", question=asked, answers=answers))
    assert [(row.reason, row.detail) for row in found.rejected] == [(QUESTION_CONTAINS_ANSWER, asked)] * is_rejected
    assert [question.flags for question in found.questions] == [()] * (not is_rejected)


def test_answer_within_subject_is_not_asked_about(build: Building) -> None:
    made = small_world()
    made.item("Q20", "Oslo", aliases=["Kristiania"], claims=[("P31", "Q7")])
    made.item("Q2", "Kristiania Opera House", article="Opera", claims=[("P4000", "Q20")])
    (row,) = build(made, seed("Q2", "P4000", "Q20")).rejected
    assert row.reason == QUESTION_CONTAINS_ANSWER
    assert row.detail == "What is the has a liking for of Kristiania Opera House?"
    assert row.reason in reasons.REASONS


@pytest.mark.parametrize(
    ("subject", "answer", "why"),
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
def test_names_that_no_question_can_be_asked_with(build: Building, subject: str, answer: str, why: str) -> None:
    made = small_world()
    made.item("Q20", answer, claims=[("P31", "Q7")])
    made.item("Q2", subject, article="Load", claims=[("P4000", "Q20")])
    made.article("Load", "A record was made by Metallica. A Record, that is.", item_id="Q2")
    (row,) = build(made, seed("Q2", "P4000", "Q20", question="Who made it?")).rejected
    assert row.reason == why


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
def test_common_words_and_codes_are_no_answer_left(
    build: Building, answer: str, aliases: list[str], replacement: str, page: str, context: str
) -> None:
    made = small_world()
    made.item("Q20", answer, aliases=aliases, claims=[("P31", "Q7")])
    made.item("Q21", replacement, claims=[("P31", "Q7")])
    made.item("Q2", "Bo Example", article="Bo Example", claims=[("P106", "Q20")])
    made.article("Bo Example", page, item_id="Q2")
    made.similar_items["Q20"] = ("Q21",)
    (question,) = build(made, seed("Q2", "P106", "Q20")).questions
    assert (question.counter_memory_context, question.flags) == (context, ())


def test_an_answer_in_the_subjects_name_is_flagged(build: Building) -> None:
    made = small_world()
    made.item("Q2", "Painter of Ships", article="Painter of Ships", claims=[("P106", "Q10")])
    made.article("Painter of Ships", "Painter of Ships was a painter.", item_id="Q2")
    (question,) = build(made, seed("Q2", "P106", "Q10", question="What did she do?")).questions
    assert question.counter_memory_context == "Painter of Ships was a chemist."
    assert ANSWER_LEFT_IN_CONTEXT in question.flags
