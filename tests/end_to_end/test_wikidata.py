"""Live questions of a world on real servers, all the way to the page; through failures, kills and changes."""

import re
import shutil
from collections import Counter

import pytest

from swaymeter.data import reasons
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.wiki_world import OUTCOME, WARS, Kept, Left
from tests.end_to_end.asking_model import QUESTION
from tests.end_to_end.tiny_study import Run, TinyStudy, started
from tests.end_to_end.wiki_runs import (
    AT_A_TIME,
    BROKEN,
    KILLED_AT,
    LEVY,
    SKIRMISH,
    Done,
    Killed,
    killed_fetch,
    killed_refresh,
)
from tests.end_to_end.wiki_studies import (
    WikiStudies,
    fetched,
    kind_of,
    of_disputes,
    of_facts,
    rows,
    sent,
    triple,
)

UNWRITTEN = LEVY
"""The page that the writer's question is not about."""


@pytest.fixture(scope="session")
def killed(studies: WikiStudies) -> Killed:
    return killed_fetch(studies)


@pytest.fixture(scope="session")
def refreshed(done: Done, studies: WikiStudies) -> Killed:
    return killed_refresh(done, studies)


def diff(old: TinyStudy, new: TinyStudy) -> Run:
    with started(["diff", str(old.workspace), str(new.workspace)], old.environment) as command:
        return command.ended()


def of_director(study: TinyStudy) -> int:
    return sum(row["relation"] == "director" for row in rows(study, "questions"))


class TestTheWholeWay:
    def test_facts_become_the_questions_that_are_written_down(self, done: Done) -> None:
        kept = {
            (fact if one.became is None else (one.became[0], fact[1], one.became[1])): one
            for fact, one in OUTCOME.items()
            if isinstance(one, Kept)
        }
        found = of_facts(done.study)
        assert found.keys() == kept.keys()
        for fact, one in kept.items():
            row = found[fact]
            edits = list(done.world.wikidata.numbers(fact[0], one.edits))
            assert (row["partition"], row["edits"], row["edit_revisions"]) == (one.partition, len(edits), edits), fact
            assert row["hidden_edits"] == len(one.hidden), fact
            assert (row["subject_popularity"], row["object_popularity"]) == one.views, fact
            assert row["page"] == (one.page or row["subject"]), fact
            if one.replacement == wiki_world.EMBEDDINGS:
                assert row["replacement_by"] == "embeddings", fact
            else:
                assert (row["replacement_by"], row["replacement_id"]) == ("wembedder", one.replacement), fact

    def test_disputes_are_those_written_down_and_model_asks(self, done: Done) -> None:
        wars = {
            (title, war.object, war.replacement, war.sentence): (
                len(war.pairs),
                done.world.wikipedia.numbers(title, [place for pair in war.pairs for place in pair]),
                war.views,
            )
            for title, fought in WARS.items()
            for war in fought.wars
        }
        assert {
            (row["page"], row["object"], row["replacement"], row["context"]): (
                row["reversions"],
                tuple(row["edit_revisions"]),
                row["subject_popularity"],
            )
            for row in rows(done.study, "disputes")
        } == wars
        questions = of_disputes(done.study).values()
        assert {
            (row["page"], row["object"], row["replacement"], row["contexts"][0]["passages"][0]["text"]): (
                row["edits"],
                tuple(row["edit_revisions"]),
                row["subject_popularity"],
            )
            for row in questions
        } == {war: counted for war, counted in wars.items() if war[0] != UNWRITTEN}
        assert {row["question"] for row in questions} == {QUESTION.strip()}

    def test_scored_questions_have_their_origins_in_the_database(self, done: Done) -> None:
        assert sorted(map(triple, rows(done.study, "triples"))) == sorted(OUTCOME)
        assert SKIRMISH in {row["page"] for row in rows(done.study, "pages")}
        files, questions = fetched(done.study), rows(done.study, "questions")
        assert {row["question_id"] for row in questions} == {
            row["question_id"] for (table, *_), of_one in files.items() if table == "questions" for row in of_one
        }
        for row in questions:
            assert row["source"].endswith("Wikipedia")
            assert "CC BY-SA 4.0" in row["licence"]
            assert None not in (row["retrieved_at"], row["address"], row["page_revision"])
        asked = {(row["question_id"], row["condition"]) for row in rows(done.study, "answers")}
        conditions = ("none", "original", "counter_memory")
        assert asked == {(row["question_id"], condition) for row in questions for condition in conditions}

    def test_what_is_rejected_has_reason_counted_on_page(self, done: Done) -> None:
        left = {fact: one.why for fact, one in OUTCOME.items() if isinstance(one, Left)}
        rejected = rows(done.study, "rejected")
        assert {triple(row): row["reason"] for row in rejected if row["partition"] != "disputable"} == left
        expected = Counter(left.values())
        expected.update(reason for fought in WARS.values() for reason in fought.uncounted)
        # Of pages: a red link, a second title of a page, and UNWRITTEN.
        expected.update([reasons.PAGE_MISSING, reasons.DOUBLED, reasons.NO_QUESTION_WRITTEN])
        assert len(rows(done.study, "disputes")) == sum(len(fought.wars) for fought in WARS.values())
        assert Counter(row["reason"] for row in rejected) == expected
        page = (done.study.workspace / "report" / "index.html").read_text(encoding="utf-8")
        counted: Counter[str] = Counter()
        for code, count in re.findall(r"<bdi>(\w+)</bdi></td><td[^>]*><bdi>[^<]*</bdi></td><td[^>]*>(\d+)<", page):
            counted[code] += int(count) if code in reasons.REASONS else 0
        assert +counted == expected
        for partition in ("static", "temporal", "disputable"):
            assert f"<bdi>{partition}</bdi>" in page


class TestAServiceThatFailsForAPart:
    def test_a_failure_has_its_reason_and_stops_nothing(self, done: Done) -> None:
        first = done.at_first
        assert first.run.code == 1
        for part, (_, _, reason) in BROKEN.items():
            for said in (first.run.said, first.status.said):
                assert re.search(rf"failed  [^\n]*{re.escape(part)}[^\n]*: [^\n]*{re.escape(reason)}", said), said
        assert len(first.failed) == len(BROKEN)
        assert first.scored == {"occupation", "birthPlace", "disputable"}
        assert first.pages == {SKIRMISH}

    def test_is_all_that_is_done_when_mended(self, done: Done) -> None:
        assert done.run.code == 0, done.run.said
        assert sent(done.received).most_common(1)[0][1] == 1
        written = {path for path, when in done.study.written().items() if done.at_first.written.get(path) != when}
        assert {path.parts[1] for path in written if path.parts[0] == "scores"} == {"director", "disputable"}
        assert done.run.prompts == 3 * (of_director(done.study) + len(of_disputes(done.study)))


class TestAKilledFetch:
    def test_ends_with_the_same_dataset(self, done: Done, killed: Killed) -> None:
        assert killed.run.code == 0, killed.run.said
        assert fetched(killed.study) == fetched(done.study)
        run = diff(done.study, killed.study)
        assert (run.code, "A and B are the same." in run.said) == (0, True), run.said

    def test_sends_no_answered_request_again(self, done: Done, killed: Killed) -> None:
        assert len(killed.held) == AT_A_TIME * len(KILLED_AT)
        assert {kind_of(one) for one in killed.held} >= {"items", "history", "page", "views"}
        assert sent(killed.received) == sent(done.received)


class TestARefresh:
    def test_a_killed_refresh_resumes_with_new_edits(self, done: Done, refreshed: Killed) -> None:
        assert refreshed.run.code == 0, refreshed.run.said
        before, now = of_facts(done.study), of_facts(refreshed.study)
        changed, read = ("Q505", "P106", "Q101"), ("Q501", "P106", "Q101")
        assert (before[changed]["partition"], now[changed]["partition"]) == ("static", "temporal")
        assert tuple(now[changed]["edit_revisions"]) == done.world.wikidata.numbers("Q505", (1, 4, 5))
        assert (before[read]["subject_popularity"], now[read]["subject_popularity"]) == (100, 250)
        war = of_disputes(refreshed.study)[SKIRMISH]
        assert (war["object"], war["edits"], war["subject_popularity"]) == ("narrow victory", 5, 900)
        assert {row["reversions"] for row in rows(refreshed.study, "disputes") if row["page"] == SKIRMISH} == {5}

    def test_scores_only_the_property_whose_texts_have_changed(self, done: Done, refreshed: Killed) -> None:
        assert refreshed.run.prompts == 3 * of_director(done.study)
        new = refreshed.study.scores().keys() - done.study.scores().keys()
        assert {name.split("/")[1] for name in new} == {"director"}

    def test_asks_for_no_article_again_and_nothing_twice(self, refreshed: Killed) -> None:
        assert {kind_of(one) for one in refreshed.received} == {"items", "history", "page", "views"}
        pages = {one.form["titles"] for one in refreshed.received if kind_of(one) == "page"}
        assert pages == {"Vito Red", "../../etc/passwd", "Wilma Blank"}  # two were not there, and one had no text
        assert sent(refreshed.received).most_common(1)[0][1] == 1
        assert refreshed.held
        assert not list(refreshed.study.workspace.glob("downloads/refresh-*"))

    def test_is_told_by_diff(self, done: Done, refreshed: Killed) -> None:
        run = diff(done.study, refreshed.study)
        assert run.code == 1
        assert "Edda Moss: partition static → temporal; edits 1 → 3" in run.said
        assert "Two Doors Down: name Two Doors Down → Two Doors Up" in run.said
        assert f"{SKIRMISH} (narrow victory): edits 3 → 5; page views 700.0 → 900.0" in run.said
        assert "Adela Fenwick: page views 100.0 → 250.0" in run.said


def test_offline_questions_come_from_what_is_kept(done: Done, studies: WikiStudies) -> None:
    study, before = studies.copy(done.study), len(done.served.received)
    shutil.rmtree(study.workspace / "facts")
    run = study.run("run", "--stage", "fetch", "--offline", "--relation", "birthPlace")
    assert run.code == 0, run.said
    assert len(done.served.received) == before
    made, whole = fetched(study), fetched(done.study)
    assert "birthPlace" in {part for *_, part, _ in made}
    assert made == {part: whole[part] for part in made}


def test_without_a_contact_nobody_is_asked(done: Done, studies: WikiStudies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWAYMETER_CONTACT", raising=False)
    before = len(done.served.received)
    run = studies.study(done.served.addresses, contact=False).run("run", "--stage", "fetch")
    assert run.code == 1
    said = r"failed  fetch · [^\n]*: Wikidata \([^\n]* give an e-mail address or a URL as `services.contact`"
    assert re.search(said, run.said), run.said
    assert len(done.served.received) == before
