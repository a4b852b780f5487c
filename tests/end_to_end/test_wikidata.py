"""Questions from servers of an invented world, from the fetch to the page, with failures, kills and changes."""

import json
import os
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from swaymeter.data import reasons
from tests.data.sources.servers.faults import ServedRequest
from tests.data.sources.servers.wiki_world.server import serving_world
from tests.data.sources.servers.wiki_world.world import EXPECTED, FACTS, UNCOUNTED, UNUSABLE, WARS, Fact, world
from tests.end_to_end.constant_model import QUESTION
from tests.end_to_end.tiny_study import Run, TinyStudy, start_command, wait_until
from tests.end_to_end.wiki_runs import (
    BROKEN,
    LEVY,
    SKIRMISH,
    NewStudy,
    RepairedStudy,
    ResponseGate,
    Row,
    request_kind,
    rows,
)

KILL_MOMENTS = ((4, "items"), (3, "history", "page"), (4, "views"))
"""Arguments of `ResponseGate.close` before each kill: the first kill comes at the fourth request for items."""
PARALLEL_REQUESTS = 3
QUIET_SECONDS = 5
_REQUEST_COLUMNS = ("address", "retrieved_at")
UNWRITTEN = LEVY
"""The page that has no question, because the question of the writer model is about another page."""

CONDITIONS = ("none", "original", "counter_memory")


@dataclass(frozen=True)
class Killed:
    """A study that was killed while responses were held back, and then run to its end.

    Attributes:
        study: the study.
        run: the last run.
        answered: requests with a response.
        unanswered: requests without a response.
    """

    study: TinyStudy
    run: Run
    answered: tuple[ServedRequest, ...]
    unanswered: tuple[ServedRequest, ...]


@pytest.fixture(scope="session")
def killed(new_study: NewStudy) -> Killed:
    """Kill the fetch of a study three times, and run it to its end."""
    gate = ResponseGate()
    with serving_world(world(), after=gate) as served:
        study = new_study(served.addresses)
        for moment in KILL_MOMENTS:
            _kill_while_waiting(study, gate, moment, "run", "--stage", "fetch")
        run = study.run("run", "--stage", "fetch")
        return Killed(study, run, gate.answered(served.received), tuple(gate.unanswered))


@pytest.fixture(scope="session")
def refreshed(repaired: RepairedStudy, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """Change the world, kill the refresh of a copy of the study, and run it to its end.

    A lanternist was a bell tuner for a while, a film gets another name, an edit war has two more edits, and two
    pages have other views.
    """
    last_edits = repaired.world.wikipedia.pages[SKIRMISH].revisions[-2:]
    for occupation in ("Q103", "Q101"):
        repaired.world.edit(
            "Q505", f"/* wbsetclaimvalue:1| */ [[Property:P106]]: [[{occupation}]]", values={"P106": occupation}
        )
    repaired.world.edit("Q405", "/* wbsetlabel-set:1|en */ Two Doors Up", label="Two Doors Up")
    for edit in last_edits:
        repaired.world.wikipedia.save(SKIRMISH, edit["slots"]["main"]["content"], user=edit["user"])
    repaired.world.views |= {"Adela Fenwick": [250], SKIRMISH: [900]}
    study = repaired.study.copy(tmp_path_factory.mktemp("refreshed") / "workspace")
    received_count, unanswered_count = len(repaired.served.received), len(repaired.gate.unanswered)
    _kill_while_waiting(study, repaired.gate, KILL_MOMENTS[-1], "run", "--refresh")
    run = study.run("run")
    answered = repaired.gate.answered(repaired.served.received[received_count:])
    return Killed(study, run, answered, tuple(repaired.gate.unanswered[unanswered_count:]))


def _kill_while_waiting(
    study: TinyStudy, gate: ResponseGate, moment: tuple[int, *tuple[str, ...]], *command: str
) -> None:
    """Start a command, and kill it when every task waits for a response and has stored all earlier responses.

    At most `PARALLEL_REQUESTS` tasks run at a time, and fewer if the others have ended before the gate closed.
    """
    count_before = len(gate.unanswered)
    gate.close(*moment)

    def tasks_wait() -> bool:
        waiting = len(gate.unanswered) - count_before
        return waiting == PARALLEL_REQUESTS or (waiting > 0 and time.monotonic() - gate.last_request > QUIET_SECONDS)

    with study.start(*command) as running:
        wait_until(tasks_wait, running)
        os.kill(running.pid, signal.SIGKILL)
    for other in study.processes():
        other.kill()
    gate.open()


def count_requests(requests: Iterable[ServedRequest]) -> Counter[str]:
    """Count equal requests; addresses of servers do not matter."""
    return Counter(f"{request.method} {request.path} {sorted(request.form.items())}" for request in requests)


def fetched_rows(study: TinyStudy) -> dict[tuple[str, ...], list[Row]]:
    """Return the rows of each fetched file, without columns of the request.

    A key has the table, the stage and product of the step, the subject, and the file's part of the subject.
    """
    fetched = {}
    for path in sorted(study.workspace.glob("facts/*.parquet")):
        table = pq.read_table(path, partitioning=None)
        about = json.loads(table.schema.metadata[b"swaymeter"])
        origin = about["made_from"]
        key = (about["table"], *origin["step"], *origin["subject"])
        assert key not in fetched, f"{path} has the same table, step and subject as another file"
        fetched[key] = [
            {name: value for name, value in row.items() if name not in _REQUEST_COLUMNS} for row in table.to_pylist()
        ]
    return fetched


def triple(row: Row) -> Fact:
    """Return the ids of the fact that a row is about."""
    return row["subject_id"], row["property_id"], row["object_id"]


def fact_questions(study: TinyStudy) -> dict[Fact, Row]:
    """Return the static and temporal questions in the study's database, by fact."""
    return {triple(row): row for row in rows(study, "questions") if row["partition"] != "disputable"}


def disputable_questions(study: TinyStudy) -> dict[str, Row]:
    """Return the disputable questions in the study's database, by page."""
    return {row["page"]: row for row in rows(study, "questions") if row["partition"] == "disputable"}


def diff(old: TinyStudy, new: TinyStudy) -> Run:
    with start_command(["diff", str(old.workspace), str(new.workspace)], old.environment) as command:
        return command.wait()


def count_director_questions(study: TinyStudy) -> int:
    return sum(row["relation"] == "director" for row in rows(study, "questions"))


class TestQuestions:
    def test_facts_become_the_expected_questions(self, repaired: RepairedStudy) -> None:
        expected_questions = {}
        for (subject, property_id, answer), result in EXPECTED.items():
            subject, answer = result.current_ids or (subject, answer)  # in place of the id of a merged item
            expected_questions[subject, property_id, answer] = result
        questions = fact_questions(repaired.study)
        assert questions.keys() == expected_questions.keys()
        for fact, expected in expected_questions.items():
            row, partition = questions[fact], expected.partition
            edits = list(repaired.world.wikidata.numbers(fact[0], expected.edits))
            assert (row["partition"], row["edits"], row["edit_revisions"]) == (partition, len(edits), edits), fact
            assert row["hidden_edits"] == len(expected.hidden), fact
            assert [row["subject_popularity"], row["object_popularity"]] == expected.views, fact
            assert row["page"] == (expected.page or row["subject"]), fact
            if expected.replacement == "embeddings":
                assert row["replacement_by"] == "embeddings", fact
            else:
                assert (row["replacement_by"], row["replacement_id"]) == ("wembedder", expected.replacement), fact

    def test_disputes_become_the_expected_questions(self, repaired: RepairedStudy) -> None:
        wars = {
            (title, war.object, war.replacement, war.sentence): (
                len(war.pairs),
                repaired.world.wikipedia.numbers(title, [number for pair in war.pairs for number in pair]),
                war.views,
            )
            for title, wars_of_page in WARS.items()
            for war in wars_of_page
        }
        assert {
            (row["page"], row["object"], row["replacement"], row["context"]): (
                row["reversions"],
                tuple(row["edit_revisions"]),
                row["subject_popularity"],
            )
            for row in rows(repaired.study, "disputes")
        } == wars
        questions = disputable_questions(repaired.study).values()
        assert {
            (row["page"], row["object"], row["replacement"], row["contexts"][0]["passages"][0]["text"]): (
                row["edits"],
                tuple(row["edit_revisions"]),
                row["subject_popularity"],
            )
            for row in questions
        } == {war: counts for war, counts in wars.items() if war[0] != UNWRITTEN}
        assert {row["question"] for row in questions} == {QUESTION.strip()}

    def test_scored_questions_have_their_origins_in_the_database(self, repaired: RepairedStudy) -> None:
        assert sorted(map(triple, rows(repaired.study, "triples"))) == sorted(FACTS)
        assert SKIRMISH in {row["page"] for row in rows(repaired.study, "pages")}
        files, questions = fetched_rows(repaired.study), rows(repaired.study, "questions")
        assert {row["question_id"] for row in questions} == {
            row["question_id"] for (table, *_), fetched in files.items() if table == "questions" for row in fetched
        }
        for row in questions:
            assert row["source"].endswith("Wikipedia")
            assert "CC BY-SA 4.0" in row["licence"]
            assert None not in (row["retrieved_at"], row["address"], row["page_revision"])
        prompts = {(row["question_id"], row["condition"]) for row in rows(repaired.study, "answers")}
        assert prompts == {(row["question_id"], condition) for row in questions for condition in CONDITIONS}

    def test_rejections_have_reasons_counted_on_page(self, repaired: RepairedStudy) -> None:
        rejected = rows(repaired.study, "rejected")
        assert {triple(row): row["reason"] for row in rejected if row["partition"] != "disputable"} == UNUSABLE
        expected = Counter(UNUSABLE.values())
        expected.update(reason for counts in UNCOUNTED.values() for reason in counts)
        # Rejected pages: a red link, a redirect to another page, and UNWRITTEN.
        expected.update([reasons.PAGE_MISSING, reasons.DOUBLED, reasons.NO_QUESTION_WRITTEN])
        assert len(rows(repaired.study, "disputes")) == sum(map(len, WARS.values()))
        assert Counter(row["reason"] for row in rejected) == expected
        html = (repaired.study.workspace / "report" / "index.html").read_text(encoding="utf-8")
        counted: Counter[str] = Counter()
        for code, count in re.findall(r"<bdi>(\w+)</bdi></td><td[^>]*><bdi>[^<]*</bdi></td><td[^>]*>(\d+)<", html):
            counted[code] += int(count) if code in reasons.REASONS else 0
        assert +counted == expected  # + removes counts of 0
        for partition in ("static", "temporal", "disputable"):
            assert f"<bdi>{partition}</bdi>" in html


class TestFailureOfParts:
    def test_failures_have_reasons_and_stop_no_others(self, repaired: RepairedStudy) -> None:
        assert repaired.broken_run.code == 1
        status = repaired.broken_study.run("status")
        for part, (_, _, reason) in BROKEN.items():
            for output in (repaired.broken_run.output, status.output):
                assert re.search(rf"failed  [^\n]*{re.escape(part)}[^\n]*: [^\n]*{re.escape(reason)}", output), output
        assert len(repaired.failed) == len(BROKEN)
        scored = {row["relation"] for row in rows(repaired.broken_study, "answers")}
        assert scored == {"occupation", "birthPlace", "disputable"}
        assert disputable_questions(repaired.broken_study).keys() == {SKIRMISH}

    def test_run_after_repair_computes_only_failed_parts(self, repaired: RepairedStudy) -> None:
        assert repaired.run.code == 0, repaired.run.output
        assert count_requests(repaired.answered).most_common(1)[0][1] == 1  # no request is repeated
        before, after = repaired.broken_study.write_times(), repaired.study.write_times()
        changed = {path for path, time in after.items() if before.get(path) != time}
        assert {path.parts[1] for path in changed if path.parts[0] == "scores"} == {"director", "disputable"}
        questions = count_director_questions(repaired.study) + len(disputable_questions(repaired.study))
        assert repaired.run.prompts == len(CONDITIONS) * questions


class TestKilledFetch:
    def test_dataset_equals_dataset_without_kills(self, repaired: RepairedStudy, killed: Killed) -> None:
        assert killed.run.code == 0, killed.run.output
        assert fetched_rows(killed.study) == fetched_rows(repaired.study)
        run = diff(repaired.study, killed.study)
        assert (run.code, "A and B are the same." in run.output) == (0, True), run.output

    def test_no_answered_request_is_repeated(self, repaired: RepairedStudy, killed: Killed) -> None:
        assert len(killed.unanswered) >= 2 * len(KILL_MOMENTS)  # several tasks waited at a time
        assert {request_kind(request) for request in killed.unanswered} >= {"items", "history", "page", "views"}
        assert count_requests(killed.answered) == count_requests(repaired.answered)


class TestRefresh:
    def test_killed_refresh_resumes_with_new_edits(self, repaired: RepairedStudy, refreshed: Killed) -> None:
        assert refreshed.run.code == 0, refreshed.run.output
        before, now = fact_questions(repaired.study), fact_questions(refreshed.study)
        changed, viewed = ("Q505", "P106", "Q101"), ("Q501", "P106", "Q101")
        assert (before[changed]["partition"], now[changed]["partition"]) == ("static", "temporal")
        assert tuple(now[changed]["edit_revisions"]) == repaired.world.wikidata.numbers("Q505", (1, 4, 5))
        assert (before[viewed]["subject_popularity"], now[viewed]["subject_popularity"]) == (100, 250)
        war = disputable_questions(refreshed.study)[SKIRMISH]
        assert (war["object"], war["edits"], war["subject_popularity"]) == ("narrow victory", 5, 900)
        assert {row["reversions"] for row in rows(refreshed.study, "disputes") if row["page"] == SKIRMISH} == {5}

    def test_only_property_of_renamed_film_is_scored(self, repaired: RepairedStudy, refreshed: Killed) -> None:
        assert refreshed.run.prompts == len(CONDITIONS) * count_director_questions(repaired.study)
        new = refreshed.study.scores().keys() - repaired.study.scores().keys()
        assert {name.split("/")[1] for name in new} == {"director"}

    def test_refresh_requests_no_article_again(self, refreshed: Killed) -> None:
        assert {request_kind(request) for request in refreshed.answered} == {"items", "history", "page", "views"}
        pages = {request.form["titles"] for request in refreshed.answered if request_kind(request) == "page"}
        assert pages == {"Vito Red", "../../etc/passwd", "Wilma Blank"}  # two missing pages, and a page without text
        assert count_requests(refreshed.answered).most_common(1)[0][1] == 1  # no request is repeated
        assert refreshed.unanswered
        assert not list(refreshed.study.workspace.glob("downloads/refresh-*"))

    def test_diff_lists_the_changes(self, repaired: RepairedStudy, refreshed: Killed) -> None:
        run = diff(repaired.study, refreshed.study)
        assert run.code == 1
        assert "Edda Moss: partition static → temporal; edits 1 → 3" in run.output
        assert "Two Doors Down: name Two Doors Down → Two Doors Up" in run.output
        assert f"{SKIRMISH} (narrow victory): edits 3 → 5; page views 700.0 → 900.0" in run.output
        assert "Adela Fenwick: page views 100.0 → 250.0" in run.output


def test_offline_questions_come_from_cached_responses(repaired: RepairedStudy, tmp_path: Path) -> None:
    study, before = repaired.study.copy(tmp_path / "workspace"), len(repaired.served.received)
    shutil.rmtree(study.workspace / "facts")
    run = study.run("run", "--stage", "fetch", "--offline", "--relation", "birthPlace")
    assert run.code == 0, run.output
    assert len(repaired.served.received) == before
    offline, expected = fetched_rows(study), fetched_rows(repaired.study)
    assert "birthPlace" in {subject for *_, subject, _ in offline}
    assert offline == {key: expected[key] for key in offline}


def test_no_request_is_sent_without_contact(
    repaired: RepairedStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWAYMETER_CONTACT", raising=False)
    content = yaml.safe_load(repaired.study.file.read_text())
    del content["services"]["contact"]
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content))
    study = replace(repaired.study.copy(tmp_path / "workspace", with_files=False), file=tmp_path / "study.yaml")
    before = len(repaired.served.received)
    run = study.run("run", "--stage", "fetch")
    assert run.code == 1
    message = r"failed  fetch · [^\n]*: Wikidata \([^\n]* set `services.contact`"
    assert re.search(message, run.output), run.output
    assert len(repaired.served.received) == before
