"""The history of a page, mostly from the recorded response wikipedia/revisions_all.json."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from tests.data.sources.servers.faults import ServedResponse, json_response, recorded_response, serving
from tests.data.sources.wikimedia.conftest import OpenWikipedia
from tests.data.sources.wikimedia.small_wiki import REVISIONS, TEXTS, page_response, play_parts

FORM = {
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


def test_a_history_in_parts_is_read_oldest_first(open_wikipedia: OpenWikipedia) -> None:
    before = datetime.now(UTC)
    with serving(play=play_parts) as server:
        history = open_wikipedia(server).wiki.revisions("Ada Example")
        assert history is not None
        assert history.address == server.address
    assert [revision.revision_id for revision in history.revisions] == list(range(7, 18))
    assert [revision.parent_id for revision in history.revisions] == [0, *range(7, 17)]
    assert (history.title, history.page_id) == ("Ada Example", 3)
    assert before <= history.retrieved_at <= datetime.now(UTC)
    assert server.received[0].form == FORM
    by_id = {revision.revision_id: revision for revision in history.revisions}
    undo = by_id[9]
    assert (undo.user, undo.registered, undo.timestamp) == ("Bob Reverter", True, "2026-11-20T18:08:51Z")
    assert str(undo.comment).startswith("Undid revision 8 by [[Special:Contributions/Alice Editor|")
    assert undo.tags == ("mw-manual-revert", "mw-reverted")
    assert (undo.hidden, undo.content_hidden) == (False, False)
    for number, text in TEXTS.items():
        assert (by_id[number].sha1, by_id[number].size) == (hashlib.sha1(text.encode()).hexdigest(), len(text.encode()))


ENTRY = {key: value for key, value in REVISIONS[8].items() if key not in ("slots", "parsedcomment")}


def read_revision(entry: Any, open_wikipedia: OpenWikipedia) -> Any:
    with serving(page_response(revisions=[entry])) as server:
        history = open_wikipedia(server).wiki.revisions("Ada Example")
    assert history is not None
    (revision,) = history.revisions
    return revision


@pytest.mark.parametrize(
    ("marks", "hidden"),
    [
        ({"userhidden": True}, "user"),
        ({"commenthidden": True}, "comment"),
        ({"sha1hidden": True}, "sha1"),
        ({"sha1hidden": True, "suppressed": True}, "sha1"),
    ],
)
def test_each_part_is_hidden_separately(marks: dict[str, bool], hidden: str, open_wikipedia: OpenWikipedia) -> None:
    revision = read_revision({key: value for key, value in ENTRY.items() if key != hidden} | marks, open_wikipedia)
    assert revision.hidden
    assert revision.content_hidden == (hidden == "sha1")
    for name in ("user", "comment", "sha1"):
        assert (getattr(revision, name) is None) == (name == hidden)
    assert revision.registered == (hidden != "user")


@pytest.mark.parametrize(
    ("entry", "is_registered"),
    [
        ({"user": "Alice", "userid": 6}, True),
        ({"user": "Alice ~2025-1 fan", "userid": 6}, True),
        ({"user": "127.0.0.1", "userid": 0, "anon": True}, False),
        ({"user": "en>Alice", "userid": 0}, False),  # imported from the English wiki
        ({"user": "~2025-12345-67", "userid": 99}, False),
        ({"user": "*Unregistered 5", "userid": 99, "temp": True}, False),
    ],
)
def test_only_permanent_accounts_are_registered(entry: Any, is_registered: bool, open_wikipedia: OpenWikipedia) -> None:
    revision = read_revision({**ENTRY, **entry}, open_wikipedia)
    assert revision.registered is is_registered
    assert revision.user == entry["user"]


@pytest.mark.parametrize("text", ['"};DROP TABLE {0.__class__}', "a\nb", "\u202eright to left עברית <b>"])
def test_hostile_texts_stay_unchanged(text: str, open_wikipedia: OpenWikipedia) -> None:
    revision = read_revision({**ENTRY, "user": text, "comment": text, "tags": [text]}, open_wikipedia)
    assert (revision.user, revision.comment, revision.tags) == (text, text, (text,))


@pytest.mark.parametrize("name", ["missing_title", "missing_pageid", "missing_revid"])
def test_missing_page_has_no_history(name: str, open_wikipedia: OpenWikipedia) -> None:
    with serving(recorded_response(f"wikipedia/{name}.json")) as server:
        assert open_wikipedia(server).wiki.revisions("Nope") is None


INVALID_HISTORIES = [
    recorded_response("wikipedia/revisions_all_formatversion1.json"),
    recorded_response("wikipedia/revisions_three_titles_latest.json"),
    recorded_response("wikipedia/missing_title_formatversion1.json"),
    page_response(revisions="x"),
    page_response(revisions=[None]),
    page_response(revisions=[{}]),
    page_response(title=None),
    page_response(pageid=True),
    *(
        page_response(revisions=[{**ENTRY, name: value}])
        for name, value in {
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
        page_response(revisions=[{key: value for key, value in ENTRY.items() if key != name}])
        for name in ("revid", "user", "timestamp", "size", "comment", "tags")
    ),
    json_response({"query": "x"}),
    json_response({"query": {"pages": ["x"]}}),
    json_response({"query": {"pages": "x"}}),
]


@pytest.mark.parametrize("response", INVALID_HISTORIES)
def test_an_invalid_history_is_not_cached(response: ServedResponse, open_wikipedia: OpenWikipedia) -> None:
    with serving(response, recorded_response("wikipedia/revisions_all.json")) as server:
        with pytest.raises(ServiceError, match="not the expected response"):
            open_wikipedia(server).wiki.revisions("Ada Example")
        history = open_wikipedia(server).wiki.revisions("Ada Example")
    assert history is not None
    assert len(history.revisions) == 11
    assert len(server.received) == 2


def test_an_impossible_title_is_not_requested(open_wikipedia: OpenWikipedia) -> None:
    too_long = "é" * 300  # 600 bytes; the limit is 512
    with serving() as server:
        wikipedia = open_wikipedia(server)
        for title in ("", "  ", "_", "A|B", "A\x1fB", "C#", "<b>", "[[A]]", "{{A}}", "A\nB", "\ud800", too_long):
            assert wikipedia.wiki.revisions(title) is None, title
            assert wikipedia.page(title) is None, title
    assert server.received == []


@pytest.mark.parametrize(
    "title", ["../../etc/passwd", ".", "AC/DC", 'Say "Hi"', "100% & more?", "עברית \u202e", "a=b&c=d", "C++", "🙂"]
)
def test_any_other_title_is_sent_unchanged(title: str, open_wikipedia: OpenWikipedia) -> None:
    with serving(recorded_response("wikipedia/missing_title.json")) as server:
        open_wikipedia(server).wiki.revisions(title)
    (request,) = server.received
    assert request.form["titles"] == title
    assert request.path == "/ask"  # the title is not in the path


def play_other_page(request: Any, **fields: Any) -> ServedResponse:
    """Play the recorded parts, with other fields of the page in the second part."""
    response = play_parts(request)
    if request.form.get("rvcontinue", "").endswith("|10"):  # the second part begins with revision 10
        content = json.loads(response.body)
        content["query"]["pages"][0] |= fields
        return json_response(content)
    return response


@pytest.mark.parametrize("fields", [{"pageid": 4}, {"missing": True}])
def test_a_history_of_two_pages_is_not_cached(fields: Any, open_wikipedia: OpenWikipedia) -> None:
    message = r"'Ada Example' became the title of another page while the history of the page was read; run again"
    with serving(play=lambda request: play_other_page(request, **fields)) as server:
        with pytest.raises(ServiceError, match=f"{message}$"):
            open_wikipedia(server).wiki.revisions("Ada Example")
        with pytest.raises(ServiceError, match=f"{message} with a network$"):
            open_wikipedia(server, offline=True).wiki.revisions("Ada Example")
        assert [request.form.get("rvcontinue", "")[-3:] for request in server.received] == ["", "|10", "|13", "|16"] * 2
        server.play = play_parts
        for _ in range(2):  # the second history is cached
            history = open_wikipedia(server).wiki.revisions("Ada Example")
            assert history is not None
            assert [revision.revision_id for revision in history.revisions] == list(range(7, 18))
    assert len(server.received) == 3 * 4  # a history has four parts
