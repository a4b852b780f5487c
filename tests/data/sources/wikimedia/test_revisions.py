"""The history of a page, from recorded answers; a person can check each by reading revisions_all.json."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from tests.data.sources.servers.faults import Say, recorded, says, serving
from tests.data.sources.wikimedia.conftest import Asking
from tests.data.sources.wikimedia.small_wiki import REVISIONS, TEXTS, in_parts, page

ASKED = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "maxlag": "5",
    "prop": "revisions",
    "titles": "Ada Example",
    "rvprop": "ids|timestamp|user|userid|flags|sha1|size|comment|tags",
    "rvlimit": "max",
    "rvdir": "newer",
}


def test_a_history_in_parts_is_read_oldest_first(asking: Asking) -> None:
    before = datetime.now(UTC)
    with serving(play=in_parts) as server:
        history = asking(server).wiki.revisions("Ada Example")
        assert history is not None
        assert history.address == server.address
    assert [revision.revision_id for revision in history.revisions] == list(range(7, 18))
    assert [revision.parent_id for revision in history.revisions] == [0, *range(7, 17)]
    assert (history.title, history.page_id) == ("Ada Example", 3)
    assert before <= history.retrieved_at <= datetime.now(UTC)
    assert server.received[0].form == ASKED
    by_id = {revision.revision_id: revision for revision in history.revisions}
    undone = by_id[9]
    assert (undone.user, undone.registered, undone.timestamp) == ("Bob Reverter", True, "2026-11-20T18:08:51Z")
    assert str(undone.comment).startswith("Undid revision 8 by [[Special:Contributions/Alice Editor|")
    assert undone.tags == ("mw-manual-revert", "mw-reverted")
    assert (undone.hidden, undone.content_hidden) == (False, False)
    for number, text in TEXTS.items():
        assert (by_id[number].sha1, by_id[number].size) == (hashlib.sha1(text.encode()).hexdigest(), len(text.encode()))


ENTRY = {key: said for key, said in REVISIONS[8].items() if key not in ("slots", "parsedcomment")}


def history_of(entry: Any, asking: Asking) -> Any:
    with serving(page(revisions=[entry])) as server:
        history = asking(server).wiki.revisions("Ada Example")
    assert history is not None
    (revision,) = history.revisions
    return revision


@pytest.mark.parametrize(
    ("hides", "gone"),
    [
        ({"userhidden": True}, "user"),
        ({"commenthidden": True}, "comment"),
        ({"sha1hidden": True}, "sha1"),
        ({"sha1hidden": True, "suppressed": True}, "sha1"),
    ],
)
def test_each_thing_is_hidden_by_itself(hides: dict[str, bool], gone: str, asking: Asking) -> None:
    revision = history_of({key: said for key, said in ENTRY.items() if key != gone} | hides, asking)
    assert revision.hidden
    assert revision.content_hidden == (gone == "sha1")
    for name in ("user", "comment", "sha1"):
        assert (getattr(revision, name) is None) == (name == gone)
    assert revision.registered == (gone != "user")


@pytest.mark.parametrize(
    ("entry", "registered"),
    [
        ({"user": "Alice", "userid": 6}, True),
        ({"user": "Alice ~2025-1 fan", "userid": 6}, True),
        ({"user": "127.0.0.1", "userid": 0, "anon": True}, False),
        ({"user": "en>Alice", "userid": 0}, False),
        ({"user": "~2025-12345-67", "userid": 99}, False),
        ({"user": "*Unregistered 5", "userid": 99, "temp": True}, False),
    ],
)
def test_only_accounts_that_stay_are_registered(entry: Any, registered: bool, asking: Asking) -> None:
    revision = history_of({**ENTRY, **entry}, asking)
    assert revision.registered is registered
    assert revision.user == entry["user"]


@pytest.mark.parametrize("said", ['"};DROP TABLE {0.__class__}', "a\nb", "\u202eright to left עברית <b>"])
def test_hostile_words_come_back_letter_by_letter(said: str, asking: Asking) -> None:
    revision = history_of({**ENTRY, "user": said, "comment": said, "tags": [said]}, asking)
    assert (revision.user, revision.comment, revision.tags) == (said, said, (said,))


@pytest.mark.parametrize("name", ["missing_title", "missing_pageid", "missing_revid"])
def test_page_that_is_not_there_has_no_history(name: str, asking: Asking) -> None:
    with serving(recorded(f"wikipedia/{name}.json")) as server:
        assert asking(server).wiki.revisions("Nope") is None


BAD = [
    recorded("wikipedia/revisions_all_formatversion1.json"),
    recorded("wikipedia/revisions_three_titles_latest.json"),
    recorded("wikipedia/missing_title_formatversion1.json"),
    page(revisions="x"),
    page(revisions=[None]),
    page(revisions=[{}]),
    page(title=None),
    page(pageid=True),
    *(
        page(revisions=[{**ENTRY, name: said}])
        for name, said in {
            "revid": "8",
            "parentid": None,
            "user": 5,
            "timestamp": None,
            "sha1": 1,
            "size": "172",
            "comment": None,
            "tags": [1],
        }.items()
    ),
    *(
        page(revisions=[{key: said for key, said in ENTRY.items() if key != name}])
        for name in ("revid", "user", "timestamp", "size", "comment", "tags")
    ),
    says({"query": "x"}),
    says({"query": {"pages": ["x"]}}),
    says({"query": {"pages": "x"}}),
]


@pytest.mark.parametrize("say", BAD)
def test_an_invalid_history_is_not_cached(say: Say, asking: Asking) -> None:
    with serving(say, recorded("wikipedia/revisions_all.json")) as server:
        with pytest.raises(ServiceError, match="not the requested answer"):
            asking(server).wiki.revisions("Ada Example")
        history = asking(server).wiki.revisions("Ada Example")
    assert history is not None
    assert len(history.revisions) == 11
    assert len(server.received) == 2


def test_an_impossible_title_is_not_requested(asking: Asking) -> None:
    with serving() as server:
        wikipedia = asking(server)
        for title in ("", "  ", "_", "A|B", "A\x1fB", "C#", "<b>", "[[A]]", "{{A}}", "A\nB", "\ud800", "é" * 300):
            assert wikipedia.wiki.revisions(title) is None, title
            assert wikipedia.page(title) is None, title
    assert server.received == []


@pytest.mark.parametrize(
    "title", ["../../etc/passwd", ".", "AC/DC", 'Say "Hi"', "100% & more?", "עברית \u202e", "a=b&c=d", "C++", "🙂"]
)
def test_any_other_title_arrives_as_it_is(title: str, asking: Asking) -> None:
    with serving(recorded("wikipedia/missing_title.json")) as server:
        asking(server).wiki.revisions(title)
    (asked,) = server.received
    assert asked.form["titles"] == title
    assert asked.path == "/ask"


def renamed(asked: Any, **said: Any) -> Say:
    """The second part says something else of the page than the first."""
    say = in_parts(asked)
    if asked.form.get("rvcontinue", "").endswith("|10"):
        content = json.loads(say.body)
        content["query"]["pages"][0] |= said
        return says(content)
    return say


@pytest.mark.parametrize("said", [{"pageid": 4}, {"missing": True}])
def test_a_history_of_two_pages_is_not_cached(said: Any, asking: Asking) -> None:
    taken = r"'Ada Example' became the title of another page while its history was read; run again"
    with serving(play=lambda asked: renamed(asked, **said)) as server:
        with pytest.raises(ServiceError, match=f"{taken}$"):
            asking(server).wiki.revisions("Ada Example")
        with pytest.raises(ServiceError, match=f"{taken} with a network$"):
            asking(server, offline=True).wiki.revisions("Ada Example")
        assert [asked.form.get("rvcontinue", "")[-3:] for asked in server.received] == ["", "|10", "|13", "|16"] * 2
        server.play = in_parts
        for _ in range(2):
            history = asking(server).wiki.revisions("Ada Example")
            assert history is not None
            assert [revision.revision_id for revision in history.revisions] == list(range(7, 18))
    assert len(server.received) == 12
