from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from data import reasons
from data.errors import ServiceError
from tasks.contexts.questions import BuiltQuestions
from tasks.contexts.wikidata.questions import Clients, questions_of_property
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.faults import Asked, Say
from tests.data.sources.servers.wiki_world import World, repeated, service_of, serving_world
from tests.data.sources.servers.wiki_world.asking import MONTHS, asking_world, embed, seeds_of
from tests.data.sources.servers.wiki_world.trouble import ENDING, TRANSIENT, TRANSIENT_OF_A_WIKI

SERVICES = ("wikidata_api", "wikipedia", "pageviews", "wembedder")
WIKIS = ("wikidata_api", "wikipedia")


@pytest.fixture(scope="module")
def untroubled(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[BuiltQuestions, int]:
    """What the films become, and with how many requests."""
    with serving_world(world) as (addresses, asked):
        with asking_world(addresses, tmp_path_factory.mktemp("kept")) as clients:
            built = films(clients)
        return built, len(asked)


class TestTroubleThatPasses:
    @pytest.mark.parametrize("trouble", [*TRANSIENT, *TRANSIENT_OF_A_WIKI])
    def test_the_outcome_is_the_same(
        self, world: World, untroubled: tuple[BuiltQuestions, int], tmp_path: Path, trouble: str
    ) -> None:
        said, troubled = (
            {**TRANSIENT, **TRANSIENT_OF_A_WIKI}[trouble],
            WIKIS if trouble in TRANSIENT_OF_A_WIKI else SERVICES,
        )
        fault = first_of_each(troubled, said)
        with serving_world(world, before=fault) as (addresses, asked), asking_world(addresses, tmp_path) as clients:
            built = films(clients)
        assert told(built) == told(untroubled[0])
        assert len(asked) == untroubled[1] + len(troubled)


class TestTroubleThatEndsThePart:
    @pytest.mark.parametrize("trouble", ENDING)
    def test_a_later_run_asks_only_what_was_not_answered(
        self, world: World, untroubled: tuple[BuiltQuestions, int], tmp_path: Path, trouble: str
    ) -> None:
        with serving_world(world, before=first_of_each(SERVICES, ENDING[trouble])) as (addresses, asked):
            for _ in SERVICES:  # each run comes as far as the next service
                with asking_world(addresses, tmp_path) as clients, pytest.raises(ServiceError, match="The service"):
                    films(clients)
            with asking_world(addresses, tmp_path) as clients:
                built = films(clients)
        assert told(built) == told(untroubled[0])
        assert len(asked) == untroubled[1] + len(SERVICES)
        assert sorted(repeated(asked).values()) == [2] * len(SERVICES)


class TestAWorldThatMoves:
    """Between two requests a wiki's people go on."""

    def test_an_item_deleted_after_it_was_read(self, tmp_path: Path) -> None:
        moving = wiki_world.world()

        def before(asked: Asked) -> None:
            if asked.form.get("titles") == "Q401":
                moving.wikidata.delete("Q401")

        built = of_moving(moving, before, tmp_path)
        assert ("Q401", reasons.SUBJECT_MISSING) in {(drop.subject_id, drop.reason) for drop in built.rejected}

    def test_a_page_deleted_after_its_item_was_read(self, tmp_path: Path) -> None:
        moving = wiki_world.world()

        def before(asked: Asked) -> None:
            if asked.form.get("titles") == "The Salt Ledger":
                moving.wikipedia.pages.pop("The Salt Ledger", None)

        built = of_moving(moving, before, tmp_path)
        assert ("Q402", reasons.PAGE_MISSING) in {(drop.subject_id, drop.reason) for drop in built.rejected}

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


def first_of_each(services: Collection[str], said: Say) -> Callable[[Asked], Say | None]:
    left = set(services)

    def before(asked: Asked) -> Say | None:
        service = service_of(asked)
        if service not in left:
            return None
        left.remove(service)
        return said

    return before


def told(built: BuiltQuestions) -> object:
    """All but the time."""
    questions = [replace(one, retrieved_at=None) for one in built.questions]
    return questions, [replace(one, retrieved_at=None) for one in built.rejected]
