"""Between two requests a wiki's people go on."""

from collections.abc import Callable
from pathlib import Path

from swaymeter.data import reasons
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import questions_of_property
from tests.data.sources.servers.faults import ServedRequest
from tests.data.sources.servers.wiki_world import OUTCOME, Limits, World, serving_world, world
from tests.tasks.contexts.wikidata.live import MONTHS, by_words, clients, seed


def of_moving(
    moving: World, before: Callable[[ServedRequest], None], folder: Path, revisions: int = 4
) -> BuiltQuestions:
    """The questions of films, where each request is seen before it is answered."""
    films = [seed(*fact) for fact in OUTCOME if fact[1] == "P57"]
    limits = Limits(revisions=revisions)
    with serving_world(moving, before=before, limits=limits) as here, clients(here.addresses, folder) as services:
        return questions_of_property(films, services, months=MONTHS, embed=by_words())


def test_an_item_deleted_after_it_was_read(tmp_path: Path) -> None:
    moving = world()

    def before(asked: ServedRequest) -> None:
        if asked.form.get("titles") == "Q401":
            moving.wikidata.delete("Q401")

    built = of_moving(moving, before, tmp_path)
    assert ("Q401", reasons.SUBJECT_MISSING) in {(drop.subject_id, drop.reason) for drop in built.rejected}


def test_a_label_that_changes_meanwhile_stays_consistent(tmp_path: Path) -> None:
    moving = world()

    def before(asked: ServedRequest) -> None:
        if asked.form.get("titles") == "Q402":
            moving.items["Q302"].calls("en", "Marek D.")

    question = next(one for one in of_moving(moving, before, tmp_path).questions if one.subject_id == "Q402")
    assert question.object == "Marek Dovelund"
    assert question.object in question.original_context
    assert question.object in question.answers


def test_revision_saved_between_two_parts_of_history(tmp_path: Path) -> None:
    moving = world()
    said: list[str] = []

    def before(asked: ServedRequest) -> None:
        if "rvcontinue" in asked.form and not said:
            said.append("changed")
            moving.items["Q402"].changes("P57", "Q302", "Q301")

    question = next(one for one in of_moving(moving, before, tmp_path, 1).questions if one.subject_id == "Q402")
    assert said
    assert question.edits == 3
    assert question.item_revision == moving.wikidata.pages["Q402"].latest.revision_id
