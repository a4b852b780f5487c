"""Changes of a wiki between two requests."""

from collections.abc import Callable
from pathlib import Path

from swaymeter.data import reasons
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.questions import questions_of_property
from tests.data.sources.servers.faults import ServedRequest
from tests.data.sources.servers.wiki_world.server import serving_world
from tests.data.sources.servers.wiki_world.world import FACTS, World, world
from tests.tasks.contexts.wikidata.live import MONTHS, clients, embedder, triple


def questions_of_films(
    wiki: World, before: Callable[[ServedRequest], None], folder: Path, limit: int = 4
) -> BuiltQuestions:
    """Return the questions of films.

    Args:
        wiki: World with the films.
        before: Sees each request before its response, and may change the wiki.
        folder: Folder of cached responses.
        limit: Limit of revisions and links in a response.
    """
    films = [triple(*fact) for fact in FACTS if fact[1] == "P57"]
    with serving_world(wiki, before=before, limit=limit) as served, clients(served.addresses, folder) as services:
        return questions_of_property(films, services, months=MONTHS, embed=embedder())


def test_item_deleted_after_reading_is_rejected(tmp_path: Path) -> None:
    wiki = world()

    def before(request: ServedRequest) -> None:
        if request.form.get("titles") == "Q401":
            wiki.wikidata.pages.pop("Q401", None)

    built = questions_of_films(wiki, before, tmp_path)
    assert ("Q401", reasons.SUBJECT_MISSING) in {(row.subject_id, row.reason) for row in built.rejected}


def test_changed_label_stays_consistent(tmp_path: Path) -> None:
    wiki = world()

    def before(request: ServedRequest) -> None:
        if request.form.get("titles") == "Q402":
            wiki.edit("Q302", "/* wbsetlabel-set:1|en */ Marek D.", label="Marek D.")

    question = next(row for row in questions_of_films(wiki, before, tmp_path).questions if row.subject_id == "Q402")
    assert question.object == "Marek Dovelund"
    assert question.object in question.original_context
    assert question.object in question.answers


def test_revision_between_parts_of_history_is_counted(tmp_path: Path) -> None:
    wiki = world()
    changes: list[str] = []

    def before(request: ServedRequest) -> None:
        if "rvcontinue" in request.form and not changes:
            changes.append("changed")
            wiki.edit("Q402", "/* wbsetclaimvalue:1| */ [[Property:P57]]: [[Q301]]", values={"P57": "Q301"})

    question = next(
        row for row in questions_of_films(wiki, before, tmp_path, limit=1).questions if row.subject_id == "Q402"
    )
    assert changes
    assert question.edits == 3
    assert question.item_revision == wiki.wikidata.pages["Q402"].latest["revid"]
