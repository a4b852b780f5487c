from collections.abc import Callable
from pathlib import Path

from swaymeter.data import reasons
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import Clients, questions_of_property
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.faults import Asked
from tests.data.sources.servers.wiki_world import World, serving_world
from tests.data.sources.servers.wiki_world.asking import MONTHS, asking_world, embed, seeds_of


class TestAWorldThatMoves:
    """Between two requests a wiki's people go on."""

    def test_an_item_deleted_after_it_was_read(self, tmp_path: Path) -> None:
        moving = wiki_world.world()

        def before(asked: Asked) -> None:
            if asked.form.get("titles") == "Q401":
                moving.wikidata.delete("Q401")

        built = of_moving(moving, before, tmp_path)
        assert ("Q401", reasons.SUBJECT_MISSING) in {(drop.subject_id, drop.reason) for drop in built.rejected}

    def test_a_label_that_changes_meanwhile_stays_consistent(self, tmp_path: Path) -> None:
        moving = wiki_world.world()

        def before(asked: Asked) -> None:
            if asked.form.get("titles") == "Q402":
                moving.items["Q302"].calls("en", "Marek D.")

        question = next(one for one in of_moving(moving, before, tmp_path).questions if one.subject_id == "Q402")
        assert question.object == "Marek Dovelund"
        assert question.object in question.original_context
        assert question.object in question.answers

    def test_a_revision_saved_between_two_parts_of_a_history(self, tmp_path: Path) -> None:
        moving = wiki_world.world()
        said: list[str] = []

        def before(asked: Asked) -> None:
            if "rvcontinue" in asked.form and not said:
                said.append("changed")
                moving.items["Q402"].changes("P57", "Q302", "Q301")

        question = next(one for one in of_moving(moving, before, tmp_path, 1).questions if one.subject_id == "Q402")
        assert said
        assert question.edits == 3
        assert question.item_revision == moving.wikidata.pages["Q402"].latest.revision_id


def films(clients: Clients) -> BuiltQuestions:
    return questions_of_property(seeds_of("P57"), clients, months=MONTHS, embed=embed)


def of_moving(world: World, before: Callable[[Asked], None], folder: Path, revisions: int = 4) -> BuiltQuestions:
    limits = wiki_world.Limits(revisions=revisions)
    with serving_world(world, before=before, limits=limits) as here, asking_world(here.addresses, folder) as clients:
        return films(clients)
