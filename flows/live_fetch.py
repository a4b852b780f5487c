"""Live questions, fetched: first the lists of facts and pages, then every property and page, then what is written."""

import functools
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State

from data.errors import InputError, SwaymeterError
from data.reasons import DOUBLED
from data.records import Rejected, as_row
from data.sources.wikimedia.wikipedia import LICENCE, SOURCE
from data.storage.workspace import Stored, read_metadata
from flows.anew import is_wanted
from flows.live_files import LiveFiles, Part
from flows.live_names import PAGES_WORK, page_work, property_work, seeds_work, writing_work
from flows.live_sources import LiveSources
from flows.live_works import LiveWorks
from flows.plan import Plan
from flows.sources import Sources
from flows.stage import fan_out
from tasks.contexts.disputes.of_page import RELATION, Found

Works = list[tuple[str, Callable[[], None]]]


def fetch_live(plan: Plan, works: LiveWorks, sources: Sources, *, began: datetime | None) -> list[State[Any]]:
    """Fetches what is not there, or older than the forced fetch or the refresh; how each piece of work ended.

    What fails stops nothing else: the others' files are there, and the next run asks for what failed alone.
    """
    files = works.files
    live = LiveSources(sources, files)
    anew = max((when for when in (began, sources.refreshed) if when), default=None)
    lists: Works = [
        (seeds_work(name), functools.partial(_fetch_seeds, files, live, name, began)) for name in works.seed_lists()
    ]
    if works.lists_pages():
        lists.append((PAGES_WORK, functools.partial(_fetch_pages, files, live, began)))
    states = fan_out("lists", plan, lists) if lists else []
    parts: Works = [
        (property_work(name), functools.partial(_fetch_property, files, live, name, anew))
        for name in works.properties()
    ]
    parts += [
        (page_work(title), functools.partial(_fetch_disputes, files, live, title, anew)) for title in works.titles()
    ]
    states += fan_out("questions", plan, parts) if parts else []
    written: Works = [
        (writing_work(title), functools.partial(_write, files, live, title, began)) for title in works.disputed()
    ]
    states += fan_out("write", plan, written) if written else []
    _list_parts(works)
    return states


def _fetch_seeds(files: LiveFiles, live: LiveSources, name: str, began: datetime | None) -> None:
    stored = files.seeds()[name]
    if is_wanted(stored, began):
        seeds = live.seeds(name)
        if not seeds:
            raise InputError(f"there are no facts in the list {name!r}; name another one under `questions.triples`")
        stored.write(stored.table.of([as_row(seed) for seed in seeds]))
    stored.read_as_written()


def _fetch_pages(files: LiveFiles, live: LiveSources, began: datetime | None) -> None:
    stored = files.pages()
    assert stored is not None
    if is_wanted(stored, began):
        titles, listed_on = live.pages(), files.wanted.disputes.list_page
        if not titles:
            raise InputError(f"the page {listed_on!r} links to no article; name `pages` under `questions.disputes`")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [{"page": title, "listed_on": listed_on, "retrieved_at": now} for title in titles]
        stored.write(stored.table.of(rows))
    stored.read_as_written()


def _fetch_property(files: LiveFiles, live: LiveSources, relation: str, anew: datetime | None) -> None:
    part = files.of_property(relation)
    if any(is_wanted(stored, anew) for stored in (part.dropped, part.questions)):
        built = live.of_property(relation)
        _write_part(part, [as_row(row) for row in built.questions], [as_row(row) for row in built.rejected])
    _read_both(part.dropped, part.questions)


def _fetch_disputes(files: LiveFiles, live: LiveSources, title: str, anew: datetime | None) -> None:
    disputes, dropped = files.disputes(title)
    if is_wanted(disputes, anew) or is_wanted(dropped, anew):
        found = _without_doubles(live.disputes(title), title, files.titles)
        dropped.write(dropped.table.of([as_row(row) for row in found.rejected]))
        disputes.write(disputes.table.of([as_row(row) for row in found.disputes]))
    _read_both(dropped, disputes)


def _without_doubles(found: Found, title: str, titles: Collection[str]) -> Found:
    """What was found, unless the title leads to a page that is listed under its own name, too."""
    pages = (*(one.page for one in found.disputes), *(one.part for one in found.rejected))
    page = next(iter(pages), title)
    if page == title or page not in titles:
        return found
    doubled = Rejected(
        partition="disputable", relation=RELATION, part=title, subject=title, reason=DOUBLED, source=SOURCE,
        licence=LICENCE, detail=f"leads to {page}",
    )  # fmt: skip
    return Found([], [doubled])


def _write(files: LiveFiles, live: LiveSources, title: str, began: datetime | None) -> None:
    part = files.of_page(title)
    if any(is_wanted(stored, began) for stored in (part.dropped, part.questions)):
        built = live.written(title)
        _write_part(part, [as_row(row) for row in built.questions], [as_row(row) for row in built.rejected])
    _read_both(part.dropped, part.questions)


def _write_part(part: Part, questions: list[dict[str, Any]], dropped: list[dict[str, Any]]) -> None:
    part.dropped.write(part.dropped.table.of(dropped))  # first: what is done is told by the questions
    part.questions.write(part.questions.table.of(questions))


def _read_both(*files: Stored) -> None:
    for stored in files:
        stored.read_as_written()


def _list_parts(works: LiveWorks) -> None:
    """An artifact of the flow run: of each property and page, how many questions there are, and what became none."""
    of_disputes = {title: _rows(works.files.disputes(title)[1]) for title in works.disputed()}
    listed = [
        {
            "part": part.name,
            "questions": _rows(part.questions),
            "dropped": _rows(part.dropped) + of_disputes.get(part.name, 0),
        }
        for part in works.parts()
    ]
    create_table_artifact(key="fetched-questions", table=listed, description="Questions of each property and page")


def _rows(stored: Stored) -> int:
    try:
        return int(read_metadata(stored.path)["rows"])
    except SwaymeterError:  # said of the part itself already
        return 0
