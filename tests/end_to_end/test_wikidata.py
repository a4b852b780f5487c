"""Live questions of a world on real servers, all the way to the page; through failures, kills, changes and people."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import krippendorff
import pytest
import yaml

from data import reasons
from data.records import CONDITIONS
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.faults import Asked, Say
from tests.data.sources.servers.wiki_world import OUTCOME, WARS, Kept, Left, Served, Views, World, serving_world
from tests.data.sources.servers.wiki_world.trouble import ENDING
from tests.end_to_end.asking_model import QUESTION
from tests.end_to_end.tiny_study import ROOT, Run, TinyStudy
from tests.end_to_end.waiting import until
from tests.end_to_end.wiki_studies import Holding, Row, WikiStudies, fetched, kind_of, rows, sent

SKIRMISH, LEVY, VELM = "Skirmish of Ostrel", "Tidewater levy", 'Who owns "Velm"? / Question & answer'
UNWRITTEN = LEVY
"""The page that the writer's question is not about."""
BROKEN: Mapping[str, tuple[str, Say, str]] = {
    "director questions": ("Q401", Say("It is broken.", status=500), "answered 500 Internal Server Error"),
    f"page {LEVY}": (LEVY, ENDING["HTML"], "answered with something that is not JSON"),
    f"page {VELM}": (VELM, ENDING["half a JSON"], "answered with JSON cut short"),
}
"""Parts that fail at first: the page whose history cannot be had, what is answered in its place, and the reason."""
KILLED_AT = ((4, "items"), (3, "history", "page"), (4, "views"))
"""Which answers are held back at each kill: the so-maniest of a kind since the kill before, and those after it."""
AT_A_TIME = 3
SWAYMETER = ("-m", "flows.cli")


@dataclass(frozen=True)
class AtFirst:
    """What was said and done while some parts failed."""

    run: Run
    status: Run
    failed: tuple[Asked, ...]
    scored: frozenset[str]
    pages: frozenset[str]
    written: Mapping[Path, int]


@dataclass(frozen=True)
class Done:
    """A study that was run to its end, after some parts failed at first; its workspace is not to be changed.

    asked: what was answered until then.
    """

    study: TinyStudy
    at_first: AtFirst
    run: Run
    asked: tuple[Asked, ...]
    world: World
    served: Served
    holding: Holding


@dataclass(frozen=True)
class Killed:
    """A study that was killed while answers were held back, and then run to its end; asked: what was answered."""

    study: TinyStudy
    run: Run
    asked: tuple[Asked, ...]
    held: tuple[Asked, ...]


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory, api: str) -> WikiStudies:
    return WikiStudies.of(tmp_path_factory.mktemp("wiki-studies"), api)


@pytest.fixture(scope="session")
def done(studies: WikiStudies) -> Iterator[Done]:
    world, holding = wiki_world.world(), Holding()
    broken = {title: say for title, say, _ in BROKEN.values()}
    failed: list[Asked] = []

    def before(asked: Asked) -> Say | None:
        say = broken.get(asked.form.get("titles", "")) if kind_of(asked) == "history" else None
        if say:
            failed.append(asked)
        return say

    with serving_world(world, before=before, after=holding) as served:
        study = studies.study(served.addresses)
        run, status = study.run("run"), study.run("status")
        scored = frozenset(row["relation"] for row in rows(study, "answers"))
        at_first = AtFirst(run, status, tuple(failed), scored, frozenset(of_disputes(study)), study.written())
        broken.clear()
        run = study.run("run")
        asked = tuple(one for one in served.asked if one not in failed)
        yield Done(study, at_first, run, asked, world, served, holding)


@pytest.fixture(scope="session")
def killed(studies: WikiStudies) -> Killed:
    """A study whose fetch was killed three times."""
    holding = Holding()
    with serving_world(wiki_world.world(), after=holding) as served:
        study = studies.study(served.addresses)
        for held in KILLED_AT:
            kill_while_held(study, holding, held, "fetch")
        run = study.run("fetch")
        return Killed(study, run, holding.answered(served.asked), tuple(holding.held))


@pytest.fixture(scope="session")
def refreshed(done: Done, studies: WikiStudies) -> Killed:
    """A copy of the study, whose refresh was killed, after the world had changed.

    A film had another director for a while, a war went on for two more turns, and people read other pages.
    """
    film, turns = done.world.items["Q401"], done.world.wikipedia.pages[SKIRMISH].revisions[-2:]
    film.changes("P57", "Q301", "Q302")
    film.changes("P57", "Q302", "Q301")
    for turn in turns:
        done.world.wikipedia.save(SKIRMISH, turn.content, user=turn.user)
    done.world.views |= {"Adela Fenwick": Views(250), SKIRMISH: Views(900)}
    study, before, held = studies.copy(done.study), len(done.served.asked), len(done.holding.held)
    kill_while_held(study, done.holding, KILLED_AT[-1], "run", "--refresh")
    run = study.run("run")
    answered = done.holding.answered(done.served.asked[before:])
    return Killed(study, run, answered, tuple(done.holding.held[held:]))


def kill_while_held(study: TinyStudy, holding: Holding, held: tuple[int, *tuple[str, ...]], *command: str) -> None:
    """Starts a command, and kills it when every task waits for an answer: all that was answered is kept by then."""
    before = len(holding.held)
    holding.from_the(*held)
    with study.start(*command) as process:
        until(lambda: len(holding.held) == before + AT_A_TIME, process)
        os.kill(process.pid, signal.SIGKILL)
    for other in study.processes():
        other.kill()
    holding.go_on()


def diff(old: TinyStudy, new: TinyStudy) -> Run:
    command = [sys.executable, *SWAYMETER, "diff", str(old.workspace), str(new.workspace)]
    said = subprocess.run(command, cwd=ROOT, env=old.environment, text=True, capture_output=True, timeout=120)
    return Run(said.returncode, said.stdout + said.stderr)


def triple(row: Row) -> wiki_world.Fact:
    return row["subject_id"], row["property_id"], row["object_id"]


def of_facts(study: TinyStudy) -> dict[wiki_world.Fact, Row]:
    return {triple(row): row for row in rows(study, "questions") if row["partition"] != "disputable"}


def of_disputes(study: TinyStudy) -> dict[str, Row]:
    return {row["page"]: row for row in rows(study, "questions") if row["partition"] == "disputable"}


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

    def test_disputes_are_those_that_are_written_down_and_a_model_asks_about_them(self, done: Done) -> None:
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
                row["reversions"], tuple(row["edit_revisions"]), row["subject_popularity"],
            )
            for row in rows(done.study, "disputes")
        } == wars  # fmt: skip
        questions = of_disputes(done.study).values()
        assert {
            (row["page"], row["object"], row["replacement"], row["original_context"]): (
                row["edits"], tuple(row["edit_revisions"]), row["subject_popularity"],
            )
            for row in questions
        } == {war: counted for war, counted in wars.items() if war[0] != UNWRITTEN}  # fmt: skip
        assert {row["question"] for row in questions} == {QUESTION.strip()}

    def test_all_of_it_is_in_the_database_says_where_it_comes_from_and_is_scored(self, done: Done) -> None:
        assert sorted(map(triple, rows(done.study, "seeds"))) == sorted(OUTCOME)
        files, questions = fetched(done.study), rows(done.study, "questions")
        assert {row["question_id"] for row in questions} == {
            row["question_id"] for (table, *_), of_one in files.items() if table == "questions" for row in of_one
        }
        for row in questions:
            assert row["source"].endswith("Wikipedia")
            assert "CC BY-SA 4.0" in row["licence"]
            assert None not in (row["retrieved_at"], row["address"], row["page_revision"])
        asked = {(row["question_id"], row["condition"]) for row in rows(done.study, "answers")}
        assert asked == {(row["question_id"], condition) for row in questions for condition in CONDITIONS}

    def test_what_became_no_question_has_its_reason_and_is_counted_on_the_page(self, done: Done) -> None:
        left = {fact: one.why for fact, one in OUTCOME.items() if isinstance(one, Left)}
        dropped = rows(done.study, "dropped")
        assert {triple(row): row["reason"] for row in dropped if row["partition"] != "disputable"} == left
        expected = Counter(left.values())
        expected.update(reason for fought in WARS.values() for reason in fought.uncounted)
        # Of the list of pages: one that was never written, one that leads to another, one that the writer left out.
        expected.update([reasons.PAGE_MISSING, reasons.DOUBLED, reasons.NO_QUESTION_WRITTEN])
        assert Counter(row["reason"] for row in dropped) == expected
        page = (done.study.workspace / "report" / "index.html").read_text(encoding="utf-8")
        counted: Counter[str] = Counter()
        for code, count in re.findall(r"<bdi>(\w+)</bdi></td><td[^>]*><bdi>[^<]*</bdi></td><td[^>]*>(\d+)<", page):
            counted[code] += int(count) if code in reasons.REASONS else 0
        assert +counted == expected
        for partition in ("static", "temporal", "disputable"):
            assert f"<bdi>{partition}</bdi>" in page


class TestAServiceThatFailsForAPart:
    def test_is_named_with_its_reason_and_stops_no_other(self, done: Done) -> None:
        first = done.at_first
        assert first.run.code == 1
        for part, (_, _, reason) in BROKEN.items():
            said = rf"failed  fetch x {re.escape(part)}: [^\n]*{re.escape(reason)}"
            assert re.search(said, first.run.said), first.run.said
            told = rf"{re.escape(part)} [^\n]* failed [^\n]*{re.escape(reason)}"
            assert re.search(told, first.status.said), first.status.said
        assert len(first.failed) == len(BROKEN)
        assert first.scored == {"occupation", "birthPlace", "disputable"}
        assert first.pages == {SKIRMISH}

    def test_is_all_that_is_asked_and_scored_when_it_is_mended(self, done: Done) -> None:
        assert done.run.code == 0, done.run.said
        assert sent(done.asked).most_common(1)[0][1] == 1
        written = {path for path, when in done.study.written().items() if done.at_first.written.get(path) != when}
        assert {path.parts[1] for path in written} == {"director", "disputable"}
        assert done.run.prompts == 3 * (of_director(done.study) + len(of_disputes(done.study)))


class TestAKilledFetch:
    def test_ends_with_the_same_dataset(self, done: Done, killed: Killed) -> None:
        assert killed.run.code == 0, killed.run.said
        assert fetched(killed.study) == fetched(done.study)
        run = diff(done.study, killed.study)
        assert (run.code, "They are the same." in run.said) == (0, True), run.said

    def test_sends_no_answered_request_again(self, done: Done, killed: Killed) -> None:
        assert len(killed.held) == AT_A_TIME * len(KILLED_AT)
        assert {kind_of(one) for one in killed.held} >= {"items", "history", "page", "views"}
        assert sent(killed.asked) == sent(done.asked)


class TestARefresh:
    def test_tells_new_edits_and_views_though_it_was_killed(self, done: Done, refreshed: Killed) -> None:
        assert refreshed.run.code == 0, refreshed.run.said
        before, now = of_facts(done.study), of_facts(refreshed.study)
        film, person = ("Q401", "P57", "Q301"), ("Q501", "P106", "Q101")
        assert (before[film]["partition"], now[film]["partition"]) == ("static", "temporal")
        assert tuple(now[film]["edit_revisions"]) == done.world.wikidata.numbers("Q401", (2, 3, 4))
        assert (before[person]["subject_popularity"], now[person]["subject_popularity"]) == (100, 250)
        war = of_disputes(refreshed.study)[SKIRMISH]
        assert (war["object"], war["edits"], war["subject_popularity"]) == ("narrow victory", 5, 900)
        assert {row["reversions"] for row in rows(refreshed.study, "disputes") if row["page"] == SKIRMISH} == {5}

    def test_scores_only_the_property_that_has_changed(self, done: Done, refreshed: Killed) -> None:
        assert refreshed.run.prompts == 3 * of_director(done.study)
        new = refreshed.study.scores().keys() - done.study.scores().keys()
        assert {name.split("/")[1] for name in new} == {"director"}

    def test_asks_for_no_article_and_for_nothing_twice(self, refreshed: Killed) -> None:
        assert {kind_of(one) for one in refreshed.asked} == {"items", "history", "views"}
        assert sent(refreshed.asked).most_common(1)[0][1] == 1
        assert refreshed.held
        assert not list(refreshed.study.workspace.glob("downloads/refresh-*"))

    def test_is_told_by_diff(self, done: Done, refreshed: Killed) -> None:
        run = diff(done.study, refreshed.study)
        assert run.code == 1
        assert "The Paper Lighthouse: partition static → temporal; edits 1 → 3" in run.said
        assert f"{SKIRMISH} (narrow victory): edits 3 → 5; page views 700.0 → 900.0" in run.said
        assert "Adela Fenwick: page views 100.0 → 250.0" in run.said


NEW_QUESTION = "By which trade did Bram Okoto live?"
Choices = Mapping[str, tuple[str, str]]
ADA: Choices = {"Adela Fenwick": ("discard", ""), "Bram Okoto": ("change", NEW_QUESTION)}
BEN: Choices = {
    **ADA,
    "Ansel Brook": ("", ""),
    "Cora Ashdown": ("incomplete", ""),
    "The Salt Ledger": ("misinformation", ""),
}
CEM: Choices = {"Cora Ashdown": ("incomplete", "")}
"""What three people say of a subject's question, and its new words, where they do not accept it."""
LEFT_OUT = {
    "Adela Fenwick": reasons.ANNOTATORS_DISCARD,
    "Cora Ashdown": reasons.ANNOTATORS_INCOMPLETE,
    "Ansel Brook": reasons.NOT_ANNOTATED,
}


def test_only_what_annotators_accept_or_change_is_asked(done: Done, studies: WikiStudies, tmp_path: Path) -> None:
    content = yaml.safe_load(done.study.file.read_text())
    content["questions"]["annotated"] = True
    (tmp_path / "annotated.yaml").write_text(yaml.safe_dump(content))
    study = studies.copy(done.study, tmp_path / "annotated.yaml")
    sheets = {name: tmp_path / f"{name}.csv" for name in ("ada", "ben", "cem")}

    def annotate(verb: str, name: str, *options: str) -> None:
        run = study.run(verb, str(sheets[name]), "--annotator", name, *options, by=(*SWAYMETER, "annotate"))
        assert run.code == 0, run.said

    questions = {row["subject"] for row in rows(done.study, "questions")}
    said: dict[str, dict[str, str]] = {}
    for name, choices in (("ada", ADA), ("ben", BEN)):
        annotate("export", name)
        said[name] = judge(sheets[name], choices)
        assert said[name].keys() == questions
    for name in ("ada", "ben"):
        annotate("import", name)
    annotate("export", "cem", "--conflicts")
    assert judge(sheets["cem"], CEM).keys() == {"Cora Ashdown", "The Salt Ledger"}
    annotate("import", "cem")
    units = sorted(questions - {"Ansel Brook"})
    names = sorted({choice for one in said.values() for choice in one.values()})
    ratings = [[names.index(of_one[subject]) for subject in units] for of_one in said.values()]
    alpha = krippendorff.alpha(ratings, level_of_measurement="nominal")
    status = study.run("status", by=(*SWAYMETER, "annotate")).said
    assert f"Krippendorff's alpha: {alpha:.3f} over {len(units)} questions" in status
    for stage in ("build", "aggregate"):
        assert (run := study.run(stage)).code == 0, run.said
    asked = {row["subject"]: row for row in rows(study, "questions")}
    assert asked.keys() == questions - LEFT_OUT.keys()
    assert asked["Bram Okoto"]["question"] == NEW_QUESTION
    before, now = (
        Counter((row["subject"], row["reason"]) for row in rows(one, "dropped")) for one in (done.study, study)
    )
    assert now - before == Counter(LEFT_OUT.items())
    assert before <= now


def judge(sheet: Path, choices: Choices) -> dict[str, str]:
    """Fills a sheet in, which has each question once; what was chosen, by subject."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        listed = list(csv.DictReader(file))
    for row in listed:
        row["choice"], row["new question"] = choices.get(row["subject"], ("accept", ""))
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    chosen = {row["subject"]: row["choice"] for row in listed}
    assert len(chosen) == len(listed)
    return chosen


def test_offline_everything_comes_from_what_is_kept(done: Done, studies: WikiStudies) -> None:
    study, before = studies.copy(done.study), len(done.served.asked)
    shutil.rmtree(study.workspace / "facts")
    run = study.run("fetch", "--offline")
    assert run.code == 0, run.said
    assert len(done.served.asked) == before
    assert fetched(study) == fetched(done.study)


def test_without_a_contact_nobody_is_asked(done: Done, studies: WikiStudies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWAYMETER_CONTACT", raising=False)
    before = len(done.served.asked)
    run = studies.study(done.served.addresses, contact=False).run("fetch")
    assert run.code == 1
    assert re.search(
        r"failed  fetch x [^\n]*: Wikidata \([^\n]*give an e-mail address or a URL as `services.contact`", run.said
    )
    assert len(done.served.asked) == before
