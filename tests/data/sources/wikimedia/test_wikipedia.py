"""Pages of Wikipedia and their links, partly from recorded responses."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer, ServedRequest, ServedResponse, recorded_response, serving
from tests.data.sources.wikimedia.conftest import OpenWikipedia
from tests.data.sources.wikimedia.small_wiki import page_in, page_response

TEXT = (
    "Ada Example (born 1 January 1970) is a British chemist and politician. She was born in Leeds.\n\n\n"
    "== Career ==\nShe was the minister of trade.\n\n\n== Death ==\nShe is alive."
)
URL = "https://en.wikipedia.example/wiki/Ada_Example"


def recorded_page() -> dict[str, Any]:
    """Return the fields of the page from several recorded responses."""
    fields: dict[str, Any] = {}
    for name in ("extracts_info_redirect", "extracts_full_plaintext", "pageprops_ppprop"):
        fields |= page_in(f"wikipedia/{name}.json")
    return fields | {"revisions": [{"revid": 17, "parentid": 16}]}


def test_page_is_read_with_one_request(open_wikipedia: OpenWikipedia) -> None:
    before = datetime.now(UTC)
    with serving(page_response(**recorded_page())) as server:
        page = open_wikipedia(server).page("Ada X")
    assert page is not None
    assert (page.title, page.revision) == ("Ada Example", 17)
    assert page.text == TEXT
    assert page.address == "http://127.0.0.1:8099/wiki/Ada_Example"
    assert page.item_id == "Q2"
    assert before <= page.retrieved_at <= datetime.now(UTC)
    (request,) = server.received
    assert request.form == {
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


def test_parts_of_a_page_are_joined(open_wikipedia: OpenWikipedia) -> None:
    first = page_response(
        {"excontinue": 1, "continue": "||info"}, revisions=[{"revid": 17}], pageprops={"wikibase_item": "Q2"}
    )
    with serving(first, page_response(extract=TEXT, fullurl=URL)) as server:
        page = open_wikipedia(server).page("Ada Example")
    assert page is not None
    assert (page.revision, page.item_id, page.text, page.address) == (17, "Q2", TEXT, URL)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "https://a b/", "/wiki/Ada", "http://x\n"])
def test_invalid_web_address_is_replaced(address: str, open_wikipedia: OpenWikipedia) -> None:
    with serving(page_response(canonicalurl=address, fullurl=address, revisions=[{"revid": 1}])) as server:
        page = open_wikipedia(server).page("Ada Example")
    assert page is not None
    assert page.address == server.address


REVISION: dict[str, Any] = {"revisions": [{"revid": 1}]}
INVALID_PAGES = [
    page_response(revisions=[]),
    page_response(revisions=[{"revid": "17"}]),
    page_response(revisions={"revid": 1}),
    page_response(**REVISION, extract=None),
    page_response(**REVISION, pageprops={"wikibase_item": 2}),
    page_response(**REVISION, canonicalurl=5),
    page_response(**{**REVISION, "title": 5}),
    recorded_response("wikipedia/extracts_three_titles_full_continue.json"),
    recorded_response("wikipedia/missing_title_formatversion1.json"),
]


@pytest.mark.parametrize("response", INVALID_PAGES)
def test_an_invalid_page_is_not_cached(response: ServedResponse, open_wikipedia: OpenWikipedia) -> None:
    with serving(response, page_response(**recorded_page())) as server:
        with pytest.raises(ServiceError, match="not the expected response"):
            open_wikipedia(server).page("Ada Example")
        assert open_wikipedia(server).page("Ada Example") is not None


# Pages that are cached forever

MISSING = recorded_response("wikipedia/missing_title.json")
WITH_TEXT = page_response(extract=TEXT, **REVISION)


def open_with_lasting_pages(open_wikipedia: OpenWikipedia, server: FaultServer) -> Wikipedia:
    """Open a client that caches pages with a text forever, and other responses not at all."""
    return Wikipedia(open_wikipedia(server, cache_ttl_days=0).wiki, reuse_pages=True)


def test_page_with_text_may_be_cached_forever(open_wikipedia: OpenWikipedia) -> None:
    with serving(WITH_TEXT, page_response(extract="another", **REVISION)) as server:
        first = open_with_lasting_pages(open_wikipedia, server).page("Ada Example")
        assert open_with_lasting_pages(open_wikipedia, server).page("Ada Example") == first
        assert len(server.received) == 1
        changed = open_wikipedia(server, cache_ttl_days=0).page("Ada Example")
    assert changed is not None
    assert changed.text == "another"


@pytest.mark.parametrize("response", [MISSING, page_response(**REVISION), page_response(extract="", **REVISION)])
def test_a_page_without_text_is_requested_again(response: ServedResponse, open_wikipedia: OpenWikipedia) -> None:
    with serving(response, WITH_TEXT) as server:
        before = open_with_lasting_pages(open_wikipedia, server).page("Ada Example")
        assert before is None or before.text == ""
        for _ in range(2):
            page = open_with_lasting_pages(open_wikipedia, server).page("Ada Example")
            assert page is not None
            assert page.text == TEXT
    assert len(server.received) == 2


def test_parts_of_a_page_have_the_same_age(open_wikipedia: OpenWikipedia) -> None:
    def play(request: ServedRequest) -> ServedResponse:
        day = (len(server.received) + 1) // 2  # a page takes two requests
        if "excontinue" in request.form:
            return page_response(extract=f"day {day}")
        return page_response({"excontinue": "1", "continue": "||info"}, revisions=[{"revid": day}])

    with serving(play=play) as server:
        pages = [open_with_lasting_pages(open_wikipedia, server).page("Ada Example") for _ in range(2)]
    assert [(page.revision, page.text) for page in pages if page is not None] == [(1, "day 1"), (2, "day 2")]


# Links of a page


def play_links(request: ServedRequest) -> ServedResponse:
    if "plcontinue" not in request.form:
        continuation = {"plcontinue": "4|0|Climate_change", "continue": "||"}
        return page_response(continuation, links=[{"ns": 0, "title": "Abortion"}, {"ns": 0, "title": "B"}])
    assert request.form["plcontinue"] == "4|0|Climate_change"
    return page_response(
        links=[{"ns": 0, "title": "B"}, {"ns": 0, "title": 'Climate "change"\n'}, {"ns": 0, "title": "../x"}]
    )


def test_linked_articles_are_listed_once(open_wikipedia: OpenWikipedia) -> None:
    with serving(play=play_links) as server:
        titles = open_wikipedia(server).linked("Wikipedia:List of controversial issues")
    assert titles == ("Abortion", "B", 'Climate "change"\n', "../x")
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
def test_links_of_missing_page_are_an_error(title: str, open_wikipedia: OpenWikipedia) -> None:
    refused = pytest.raises(InputError, match=f"Wikipedia has no page named '{re.escape(title)}'")
    with serving(recorded_response("wikipedia/missing_title.json")) as server, refused:
        open_wikipedia(server).linked(title)
    assert len(server.received) == (1 if title == "Nope" else 0)  # invalid titles are not requested
