"""Pages and what they link to, from recorded answers."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer, Say, ServedRequest, recorded, serving
from tests.data.sources.wikimedia.conftest import Asking
from tests.data.sources.wikimedia.small_wiki import page, page_in

TEXT = (
    "Ada Example (born 1 January 1970) is a British chemist and politician. She was born in Leeds.\n\n\n"
    "== Career ==\nShe was the minister of trade.\n\n\n== Death ==\nShe is alive."
)
URL = "https://en.wikipedia.example/wiki/Ada_Example"


def recorded_page() -> dict[str, Any]:
    """What recorded answers to each part of the question say of the page, as one answer says it."""
    whole: dict[str, Any] = {}
    for name in ("extracts_info_redirect", "extracts_full_plaintext", "pageprops_ppprop"):
        whole |= page_in(f"wikipedia/{name}.json")
    return whole | {"revisions": [{"revid": 17, "parentid": 16}]}


def test_a_page_is_asked_for_in_one_request(asking: Asking) -> None:
    before = datetime.now(UTC)
    with serving(page(**recorded_page())) as server:
        found = asking(server).page("Ada X")
    assert found is not None
    assert (found.title, found.revision) == ("Ada Example", 17)
    assert found.text == TEXT
    assert found.address == "http://127.0.0.1:8099/wiki/Ada_Example"
    assert found.item_id == "Q2"
    assert before <= found.retrieved_at <= datetime.now(UTC)
    (asked,) = server.received
    assert asked.form == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "maxlag": "5",
        "prop": "extracts|info|pageprops|revisions",
        "titles": "Ada X",
        "redirects": "1",
        "explaintext": "1",
        "inprop": "url",
        "ppprop": "wikibase_item",
        "rvprop": "ids",
    }


def test_page_that_comes_in_parts_is_put_together(asking: Asking) -> None:
    first = page({"excontinue": 1, "continue": "||info"}, revisions=[{"revid": 17}], pageprops={"wikibase_item": "Q2"})
    with serving(first, page(extract=TEXT, fullurl=URL)) as server:
        found = asking(server).page("Ada Example")
    assert found is not None
    assert (found.revision, found.item_id, found.text, found.address) == (17, "Q2", TEXT, URL)


@pytest.mark.parametrize("said", ["javascript:alert(1)", "https://a b/", "/wiki/Ada", "http://x\n"])
def test_an_invalid_web_address_is_not_believed(said: str, asking: Asking) -> None:
    with serving(page(canonicalurl=said, fullurl=said, revisions=[{"revid": 1}])) as server:
        found = asking(server).page("Ada Example")
    assert found is not None
    assert found.address == server.address


ONE: dict[str, Any] = {"revisions": [{"revid": 1}]}
BAD = [
    page(revisions=[]),
    page(revisions=[{"revid": "17"}]),
    page(revisions={"revid": 1}),
    page(**ONE, extract=None),
    page(**ONE, pageprops={"wikibase_item": 2}),
    page(**ONE, canonicalurl=5),
    page(**{**ONE, "title": 5}),
    recorded("wikipedia/extracts_three_titles_full_continue.json"),
    recorded("wikipedia/missing_title_formatversion1.json"),
]


@pytest.mark.parametrize("say", BAD)
def test_an_invalid_page_is_not_cached(say: Say, asking: Asking) -> None:
    with serving(say, page(**recorded_page())) as server:
        with pytest.raises(ServiceError, match="not the requested answer"):
            asking(server).page("Ada Example")
        assert asking(server).page("Ada Example") is not None


# Pages that are kept for good

MISSING = recorded("wikipedia/missing_title.json")
WITH_TEXT = page(extract=TEXT, **ONE)


def for_good(asking: Asking, server: FaultServer) -> Wikipedia:
    """A Wikipedia whose pages are kept for good, and whose other answers are old at once."""
    return Wikipedia(asking(server, cache_ttl_days=0).wiki, reuse_pages=True)


def test_page_with_text_may_be_kept_for_good(asking: Asking) -> None:
    with serving(WITH_TEXT, page(extract="another", **ONE)) as server:
        first = for_good(asking, server).page("Ada Example")
        assert for_good(asking, server).page("Ada Example") == first
        assert len(server.received) == 1
        changed = asking(server, cache_ttl_days=0).page("Ada Example")
    assert changed is not None
    assert changed.text == "another"


@pytest.mark.parametrize("say", [MISSING, page(**ONE), page(extract="", **ONE)])
def test_a_page_without_text_is_requested_again(say: Say, asking: Asking) -> None:
    with serving(say, WITH_TEXT) as server:
        before = for_good(asking, server).page("Ada Example")
        assert before is None or before.text == ""
        for _ in range(2):
            found = for_good(asking, server).page("Ada Example")
            assert found is not None
            assert found.text == TEXT
    assert len(server.received) == 2


def test_parts_of_page_are_never_of_different_days(asking: Asking) -> None:
    def parts(asked: ServedRequest) -> Say:
        day = (len(server.received) + 1) // 2
        if "excontinue" in asked.form:
            return page(extract=f"day {day}")
        return page({"excontinue": "1", "continue": "||info"}, revisions=[{"revid": day}])

    with serving(play=parts) as server:
        pages = [for_good(asking, server).page("Ada Example") for _ in range(2)]
    assert [(one.revision, one.text) for one in pages if one is not None] == [(1, "day 1"), (2, "day 2")]


# What a page links to


def links(asked: ServedRequest) -> Say:
    if "plcontinue" not in asked.form:
        more = {"plcontinue": "4|0|Climate_change", "continue": "||"}
        return page(more, links=[{"ns": 0, "title": "Abortion"}, {"ns": 0, "title": "B"}])
    assert asked.form["plcontinue"] == "4|0|Climate_change"
    return page(links=[{"ns": 0, "title": "B"}, {"ns": 0, "title": 'Climate "change"\n'}, {"ns": 0, "title": "../x"}])


def test_linked_articles_are_listed_once(asking: Asking) -> None:
    with serving(play=links) as server:
        found = asking(server).linked("Wikipedia:List of controversial issues")
    assert found == ("Abortion", "B", 'Climate "change"\n', "../x")
    assert server.received[0].form == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "maxlag": "5",
        "prop": "links",
        "plnamespace": "0",
        "titles": "Wikipedia:List of controversial issues",
        "redirects": "1",
        "pllimit": "max",
    }


@pytest.mark.parametrize("title", ["Nope", "A|B", ""])
def test_list_that_is_not_there_is_error(title: str, asking: Asking) -> None:
    none = pytest.raises(InputError, match=f"Wikipedia has no page named '{re.escape(title)}'")
    with serving(recorded("wikipedia/missing_title.json")) as server, none:
        asking(server).linked(title)
    assert len(server.received) == (title == "Nope")
