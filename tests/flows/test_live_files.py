"""The files of live questions: what is looked at, what makes them others, what a failed part leaves to the rest."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flows.items import Selection
from flows.live_files import LiveFiles
from flows.live_names import page_work
from flows.live_works import LiveWorks
from flows.model_checks import check_helpers
from flows.plan import Plan
from flows.status import cells

from data import catalog
from data.errors import MissingFile, UnknownName, UsageError
from data.records import Dispute, Question, Rejected, RelationName, Triple, WikidataId, as_row
from data.storage.workspace import Stored
from flows.datasets.export import export_questions
from flows.study.services import ServicesPart
from tests.flows.small_plan import small_plan

PAGES = ["Café/../War", "Tea"]
TIME = "2026-01-02T03:04:05+00:00"


def live_plan(
    folder: Path, only: Selection | None = None, facts: dict[str, Any] | None = None, **questions: Any
) -> Plan:
    (folder / "list.csv").write_text("a list")
    (folder / "embedder").mkdir(exist_ok=True)
    (folder / "embedder" / "config.json").write_text("{}")
    (folder / "embedder" / "model.safetensors").write_bytes(b"embedder")
    said = {
        "source": "wikidata", "per_partition": None, "embedder": str(folder / "embedder"),
        "triples": {
            "source": "file", "file": str(folder / "list.csv"), "properties": ["P36", "P999999"], "per_property": 2,
        },
        "disputes": {"pages": PAGES}, **questions,
    }  # fmt: skip
    measures: dict[str, Any] = {"accuracy": {}, "answers": {"samples": 2, "entailment": str(folder / "judge")}}
    known = {"facts": facts} if facts else {}
    return small_plan(folder, only, **known, questions=said, measures=measures)


def files_of(plan: Plan) -> LiveFiles:
    files = plan.question_files.live
    assert files is not None
    return files


def seed(number: int, relation: str, property_id: str) -> Triple:
    ids = [WikidataId(f"Q{number}"), WikidataId(property_id), WikidataId(f"Q{100 + number}")]
    return Triple(RelationName(relation), *ids, "a list", "CC0 1.0")


def question(name: str, relation: str, partition: Any, **other: Any) -> Question:
    plain = Question(
        question_id=name, relation=RelationName(relation), partition=partition, subject="Tea", subject_id=None,
        property_id=None, object="leaf", object_id=None, answers=("leaf",), replacement="root", question="What is tea?",
        original_context="Tea is a leaf.", counter_memory_context="Tea is a root.", edits=1, subject_popularity=None,
        object_popularity=None, id_source=None, source="a wiki", licence="CC BY-SA 4.0", flags=(),
    )  # fmt: skip
    return replace(plain, **other)


def dispute(reversions: int) -> Dispute:
    return Dispute(
        page="Tea", page_revision=reversions, context="Tea is a leaf.", place=9, object="leaf", replacement="root",
        reversions=reversions, edit_revisions=(1, 2), similarity=0.5, subject_popularity=2.0 * reversions,
        hidden_edits=0, source="a wiki", licence="CC BY-SA 4.0", address="http://a.example", retrieved_at=TIME,
    )  # fmt: skip


def write(stored: Stored, *rows: Any) -> None:
    stored.write(stored.table.of([as_row(row) for row in rows]))


def works_of(plan: Plan) -> LiveWorks:
    works = plan.live_works
    assert works is not None
    return works


def with_seeds(plan: Plan) -> LiveFiles:
    files = files_of(plan)
    capitals = [seed(number, "capital", "P36") for number in (1, 2, 3)]
    write(files.seeds()["seeds"], *capitals, seed(4, "twinnedTown", "P999999"), seed(5, "spouse", "P26"))
    return files


def write_page(files: LiveFiles, *written: Question, reversions: int = 3) -> None:
    disputes, dropped = files.disputes("Tea")
    write(disputes, dispute(reversions))
    write(dropped)
    if written:
        part = files.of_page("Tea")
        write(part.questions, *written)
        write(part.dropped)


def test_so_many_facts_of_each_property_are_looked_at_and_no_others(tmp_path: Path) -> None:
    files = with_seeds(live_plan(tmp_path))
    assert {name: len(seeds) for name, seeds in files.chosen_seeds.items()} == {"capital": 2, "twinnedTown": 1}
    assert files.properties() == ["capital", "twinnedTown"]


def test_which_facts_depends_on_the_seed_alone(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    chosen = with_seeds(plan).chosen_seeds["capital"]
    assert files_of(plan).chosen_seeds["capital"] == chosen
    drawn = set()
    for number in range(20):
        files = replace(files_of(plan), study=plan.study.model_copy(update={"seed": number}))
        with_seeds(Plan(files.study, plan.workspace))
        drawn.add(tuple(one.subject_id for one in files.chosen_seeds["capital"]))
    assert len(drawn) > 3


def test_without_the_list_of_facts_it_is_missing_and_named(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    with pytest.raises(MissingFile, match="seeds"):
        files_of(plan).properties()
    assert set(plan.refused_partitions) == {"static", "temporal", "disputable"}
    assert ("seeds", "missing") in [(cell.relation, cell.state) for cell in cells(plan)]


@pytest.mark.parametrize(
    "change",
    [
        {"snippet_words": 9},
        {"months": 3},
        {"disputes": {"pages": PAGES, "max_span_words": 2}, "embedder": "all-minilm-l6-v2"},
    ],
)
def test_a_change_of_what_a_property_is_made_from_makes_it_another_file(change: Any, tmp_path: Path) -> None:
    before = with_seeds(live_plan(tmp_path)).of_property("capital")
    after = with_seeds(live_plan(tmp_path, **change)).of_property("capital")
    assert before.questions.path != after.questions.path
    assert before.dropped.path != after.dropped.path


def test_another_address_of_a_service_makes_every_part_another_file(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    there = ServicesPart.model_validate({"wikipedia": {"address": "http://a.example/w/api.php"}})
    elsewhere = Plan(plan.study.model_copy(update={"services": there}), plan.workspace)
    assert with_seeds(plan).of_property("capital") != files_of(elsewhere).of_property("capital")
    assert files_of(plan).disputes("Tea") != files_of(elsewhere).disputes("Tea")


def test_a_title_never_leads_out_of_the_workspace(tmp_path: Path) -> None:
    files = files_of(live_plan(tmp_path))
    for title in PAGES:
        assert files.disputes(title)[0].path.parent == files.workspace.root / "facts"


def test_questions_of_all_parts_that_are_there_are_candidates_of_their_partition(tmp_path: Path) -> None:
    files = with_seeds(live_plan(tmp_path))
    part = files.of_property("capital")
    write(part.questions, question("a", "capital", "static"), question("b", "capital", "temporal"))
    write(part.dropped)
    assert [one.question_id for one in files.candidates("static")] == ["a"]
    assert [one.question_id for one in files.candidates("temporal")] == ["b"]
    with pytest.raises(MissingFile):
        files.candidates("disputable")


def test_a_part_that_failed_is_said_and_stops_no_other(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    part = with_seeds(plan).of_property("capital")
    write(part.questions, question("a", "capital", "static"))
    write(part.dropped)
    plan.workspace.note_failure("fetch x twinnedTown questions", "Wikidata was silent")
    assert list(plan.chosen_questions) == ["capital"]
    said = {cell.relation: (cell.state, cell.reason) for cell in cells(plan)}
    assert said["twinnedTown questions"] == ("failed", "Wikidata was silent")
    assert said["page Tea"][0] == "missing"


def test_a_question_of_a_page_has_the_numbers_that_were_counted_last(tmp_path: Path) -> None:
    files = files_of(live_plan(tmp_path, partitions=["disputable"]))
    write_page(files, question("d", "disputable", "disputable", page="Tea", edits=3))
    write_page(files, reversions=8)  # refreshed
    (found,) = files.candidates("disputable")
    assert (found.edits, found.subject_popularity, found.page_revision) == (8, 16.0, 8)
    assert (found.edit_revisions, found.retrieved_at) == ((1, 2), TIME)


def test_other_numbers_of_a_dispute_do_not_let_its_question_be_written_again(tmp_path: Path) -> None:
    files = files_of(live_plan(tmp_path, partitions=["disputable"]))
    write_page(files, reversions=3)
    before = files.of_page("Tea")
    write_page(files, reversions=4)
    assert files.of_page("Tea") == before


def test_other_edits_and_views_leave_the_scores_as_they_are(tmp_path: Path) -> None:
    def scored(partition: str = "static", **numbers: Any) -> tuple[Path, Path]:
        plan = live_plan(tmp_path, partitions=["static", "temporal"])
        part = with_seeds(plan).of_property("capital")
        others = [question("0", "capital", "temporal"), question("b", "capital", "static")]
        write(part.questions, question("a", "capital", partition, **numbers), *others)
        write(part.dropped)
        (questions,) = [plan.questions(name) for name in plan.question_relations()]
        write(questions, *plan.chosen_questions["capital"])
        (item,) = [item for item in plan.items() if item.family == "accuracy" or "accuracy" in item.measures]
        return questions.path, plan.work(item).wanted["accuracy"].path

    before, after = scored(edits=1), scored(edits=1, subject_popularity=9.0, retrieved_at=TIME, page_revision=3)
    assert before[0] != after[0]
    assert before[1] == after[1]
    assert scored("temporal", edits=2)[1] == before[1]
    assert scored(question="What is tea made of?")[1] != before[1]


def test_a_selected_relation_is_fetched_alone(tmp_path: Path) -> None:
    with_seeds(live_plan(tmp_path))
    works = works_of(live_plan(tmp_path, Selection(("twinnedTown",))))
    assert works.properties() == ["twinnedTown"]
    assert list(works.titles()) == []
    works = works_of(live_plan(tmp_path, Selection(("disputable",))))
    assert works.properties() == []
    assert list(works.titles()) == PAGES


def test_what_became_none_is_found_of_properties_and_pages(tmp_path: Path) -> None:
    plan = live_plan(tmp_path)
    files = with_seeds(plan)
    part = files.of_property("capital")
    gone = Rejected(None, RelationName("capital"), "P36", "Q1", "no_page", "a list", "CC0 1.0")
    write(part.dropped, gone)
    write(part.questions)
    write_page(files, question("d", "disputable", "disputable"))
    dropped = works_of(plan).dropped()
    assert sum(stored.read().num_rows for stored in dropped) == 1
    assert len(dropped) == 3


def test_properties_that_are_drawn_from_have_a_list_each_and_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    drawn = {"source": "wikidata", "properties": ["P36", "P26"], "per_property": 1}
    plan = live_plan(tmp_path, partitions=["static"], triples=drawn)
    files = files_of(plan)
    write(files.seeds()["P26"], seed(5, "spouse", "P26"))
    plan.workspace.note_failure("fetch x P36 facts", "the query service is silent")
    assert files.properties() == ["spouse"]
    said = {cell.relation: (cell.state, cell.reason) for cell in cells(plan)}
    assert said["P36 facts"] == ("failed", "the query service is silent")
    assert said["spouse questions"][0] == "missing"


def two_properties(folder: Path, only: Selection | None = None, **questions: Any) -> Plan:
    """Three static questions of one property, one of another."""
    plan = live_plan(folder, only, partitions=["static", "temporal", "disputable"], **questions)
    files = with_seeds(plan)
    for relation, names in (("capital", "abc"), ("twinnedTown", "x")):
        part = files.of_property(relation)
        write(part.questions, *(question(name, relation, "static") for name in names))
        write(part.dropped)
    return live_plan(folder, only, partitions=["static", "temporal", "disputable"], **questions)


def test_a_selection_asks_the_questions_that_the_whole_study_asks(tmp_path: Path) -> None:
    whole = two_properties(tmp_path, per_partition=2)
    for relation in ("capital", "twinnedTown"):
        chosen = two_properties(tmp_path, Selection((relation,)), per_partition=2)
        assert chosen.chosen_questions == whole.chosen_questions
        assert chosen.question_relations() == [name for name in whole.question_relations() if name == relation]


def test_a_selection_does_not_ask_for_partitions_that_it_has_nothing_of(tmp_path: Path) -> None:
    assert two_properties(tmp_path, Selection(("disputable",))).partitions() == ["disputable"]
    assert two_properties(tmp_path, Selection(("capital",))).partitions() == ["static", "temporal"]


@pytest.mark.parametrize("name", ["capital", "disputable", "twinnedTown"])
def test_a_relation_of_the_study_can_be_selected_before_anything_is_fetched(name: str, tmp_path: Path) -> None:
    seeds = {"source": "wikidata", "properties": ["P36"], "per_property": 1}
    if name == "twinnedTown":
        with pytest.raises(UnknownName):
            live_plan(tmp_path, Selection((name,)), triples=seeds)
    else:
        live_plan(tmp_path, Selection((name,)), triples=seeds)


def test_a_partition_of_which_nothing_was_made_says_why(tmp_path: Path) -> None:
    plan = two_properties(tmp_path)
    gone = [Rejected(None, RelationName("capital"), "P36", f"Q{number}", "no_page", "a", "b") for number in range(3)]
    write(files_of(plan).of_property("capital").dropped, *gone)
    assert str(plan.refused_partitions["temporal"]).startswith(
        "partition temporal: nothing became a question (3 no_page); leave the partition out"
    )


def test_without_its_embedder_a_study_says_what_stands(tmp_path: Path) -> None:
    plan = live_plan(tmp_path, embedder="no-such-embedder", facts={"relations": ["capital"]})
    with_seeds(plan)
    states = {cell.relation: cell.state for cell in cells(plan)}
    assert states["capital questions"] == "missing"
    assert works_of(plan).dropped() == []
    with pytest.raises(UnknownName):
        check_helpers(plan)


def test_another_catalog_makes_other_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = with_seeds(live_plan(tmp_path)).of_property("capital")
    monkeypatch.setattr(catalog, "relation_digest", lambda name: f"another {name}")
    assert with_seeds(live_plan(tmp_path)).of_property("capital").questions.path != before.questions.path


def test_titles_that_look_alike_are_two_pieces_of_work() -> None:
    alike = ["Tea", "Tea\u200e", "Tea" * 40, "Tea" * 40 + "s", "A b", "A  b"]
    assert len({page_work(title) for title in alike}) == len(alike)
    assert page_work("Tea") == "fetch x page Tea"


def test_a_question_under_two_titles_is_there_once(tmp_path: Path) -> None:
    plan = live_plan(tmp_path, partitions=["static"])
    files = with_seeds(plan)
    for relation in ("capital", "twinnedTown"):
        part = files.of_property(relation)
        write(part.questions, question("a", "capital", "static"))
        write(part.dropped)
    assert [one.question_id for one in plan.question_files.candidates("static")] == ["a"]


def test_questions_that_are_missing_are_named_before_they_are_exported(tmp_path: Path) -> None:
    plan = two_properties(tmp_path)
    files_of(plan).of_property("twinnedTown").questions.remove()
    with pytest.raises(UsageError, match="questions are missing: fetch x twinnedTown questions"):
        export_questions(plan, tmp_path / "out", force=False)
    assert not (tmp_path / "out").exists()
