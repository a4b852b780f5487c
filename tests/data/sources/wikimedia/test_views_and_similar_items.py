"""Page views, and Wembedder's similar items."""

from datetime import date
from pathlib import Path
from urllib.parse import unquote

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.pageviews import PageViews, months
from swaymeter.data.sources.wikimedia.wikidata import SimilarItem, Wembedder
from tests.data.sources.servers.faults import ServedResponse, json_response, recorded_response
from tests.data.sources.sessions import session_with_server

UNKNOWN_PAGE = {
    "detail": "The date(s) you used are valid, but we either do not have data for those date(s), or the project is not",
    "method": "get",
    "status": 404,
    "title": "Not Found",
    "type": "about:blank",
}
OLDER_UNKNOWN_PAGE = {  # the response of earlier versions of the service
    "type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found",
    "title": "Not found.",
    "method": "get",
}


def monthly_views(**views: object) -> dict[str, list[dict[str, object]]]:
    """Return a response of the service; months have names such as m202501."""
    return {
        "items": [
            {
                "project": "en.wikipedia",
                "article": "Ada_Example",
                "granularity": "monthly",
                "timestamp": f"{month[1:]}0100",
                "access": "all-access",
                "agent": "user",
                "views": count,
            }
            for month, count in views.items()
        ]
    }


def test_mean_is_over_all_requested_months(tmp_path: Path) -> None:
    response = json_response(monthly_views(m202501=100, m202502=50, m202503=0, m202504=51))
    with session_with_server(tmp_path, response) as (session, _):
        assert PageViews(session).monthly_mean("Ada Example", first="2025-01", last="2025-04") == 50.25


@pytest.mark.parametrize("content", [UNKNOWN_PAGE, OLDER_UNKNOWN_PAGE])
def test_unknown_page_has_no_views_and_is_cached(content: dict[str, object], tmp_path: Path) -> None:
    with session_with_server(tmp_path, json_response(content, status=404)) as (session, server):
        for _ in range(2):
            assert PageViews(session).monthly_mean("Nobody", first="2024-12", last="2025-02") == 0
    assert len(server.received) == 1


def test_whole_months_of_english_wikipedia_are_requested(tmp_path: Path) -> None:
    with session_with_server(tmp_path, json_response(monthly_views())) as (session, server):
        PageViews(session).monthly_mean("Ada Example", first="2023-12", last="2024-02")
    path = "/ask/per-article/en.wikipedia/all-access/user/Ada_Example/monthly/2023120100/2024022900"
    assert server.received[0].path == path


@pytest.mark.parametrize(
    "title",
    [
        "AC/DC",
        "../../etc/passwd",
        "./x",
        "C#",
        "Who?",
        "100% {cats}",
        "%2F",
        "A&B=C;D+E",
        "Café\nnewline",
        "日本 🎭",
    ],
)
def test_a_title_is_one_part_of_the_path(title: str, tmp_path: Path) -> None:
    with session_with_server(tmp_path, json_response(monthly_views())) as (session, server):
        PageViews(session).monthly_mean(title, first="2025-01", last="2025-01")
    head, _, rest = server.received[0].path.partition("/all-access/user/")
    quoted, *tail = rest.split("/")
    assert (head, tail) == ("/ask/per-article/en.wikipedia", ["monthly", "2025010100", "2025013100"])
    assert unquote(quoted) == title.replace(" ", "_")
    assert server.received[0].form == {}


NONSENSE = {
    "an invalid address": json_response(
        {"type": "https://a.example/errors/not_found#route", "title": "Not found."}, status=404
    ),
    "a list": json_response([]),
    "an item that is a text": json_response({"items": ["views"]}),
    "no month": json_response(monthly_views(m=7)),
    "no views": json_response(monthly_views(m202501=None)),
    "views are true": json_response(monthly_views(m202501=True)),
    "a negative number": json_response(monthly_views(m202501=-1)),
    "an impossible number": json_response(monthly_views(m202501=10**400)),
    "a month twice": json_response({"items": [*monthly_views(m202501=1)["items"], *monthly_views(m202501=1)["items"]]}),
}


@pytest.mark.parametrize("response", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_an_error_and_not_cached(response: ServedResponse, tmp_path: Path) -> None:
    with session_with_server(tmp_path, response, json_response(monthly_views(m202501=8))) as (session, _):
        client = PageViews(session)
        with pytest.raises(ServiceError, match=r"The service \(http://127"):
            client.monthly_mean("Ada Example", first="2025-01", last="2025-04")
        assert client.monthly_mean("Ada Example", first="2025-01", last="2025-04") == 2


@pytest.mark.parametrize(
    ("day", "count", "span"),
    [
        (date(2026, 11, 21), 12, ("2025-11", "2026-10")),
        (date(2026, 1, 1), 1, ("2025-12", "2025-12")),
        (date(2026, 1, 31), 13, ("2024-12", "2025-12")),
        (date(2024, 3, 31), 2, ("2024-01", "2024-02")),
    ],
)
def test_months_are_whole_and_before_the_day(day: date, count: int, span: tuple[str, str]) -> None:
    assert months(day, count) == span


Q42 = WikidataId("Q42")


def ranking(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"most_similar": [{"item": item, "similarity": similarity} for item, similarity in pairs]}


def test_similar_items_are_items_with_their_similarity(tmp_path: Path) -> None:
    with session_with_server(tmp_path, recorded_response("wembedder_Q42")) as (session, server):
        items = Wembedder(session).similar_items(Q42)
    # the recorded response also has the property P800
    assert items == (SimilarItem(WikidataId("Q3107329"), 0.8831), SimilarItem(WikidataId("Q180736"), 0.71))
    assert [request.path for request in server.received] == ["/ask/most-similar/Q42"]


def test_an_unknown_item_is_none_and_cached(tmp_path: Path) -> None:
    with session_with_server(tmp_path, recorded_response("wembedder_missing")) as (session, server):
        wembedder = Wembedder(session)
        assert wembedder.similar_items(WikidataId("Q99999999")) is None
        assert wembedder.similar_items(WikidataId("Q99999999")) is None
    assert len(server.received) == 1


def test_the_most_similar_comes_first_without_the_item(tmp_path: Path) -> None:
    # L12 is a lexeme and Q0 does not exist, so neither is an item
    content = ranking(("Q7", 0.2), ("Q42", 1.0), ("Q8", 0.9), ("Q9", -0.1), ("L12", 0.95), ("Q0", 0.94), ("Q6", 0.2))
    with session_with_server(tmp_path, json_response(content)) as (session, _):
        items = Wembedder(session).similar_items(Q42)
    assert items is not None
    assert [(item.item_id, item.similarity) for item in items] == [("Q8", 0.9), ("Q7", 0.2), ("Q6", 0.2), ("Q9", -0.1)]


INVALID = {
    "a page": recorded_response("wembedder_bad_id"),
    "nothing": json_response({}),
    "another message": json_response({"message": "The database sleeps"}),
    "no list": json_response({"most_similar": {"item": "Q1", "similarity": 1}}),
    "no item": json_response({"most_similar": [{"similarity": 1}]}),
    "true": json_response(ranking(("Q1", True))),
    "no cosine": json_response(ranking(("Q1", 7))),
    "no finite number": ServedResponse('{"most_similar":[{"item":"Q1","similarity":1e999}]}'),
    "a huge number": ServedResponse('{"most_similar":[{"item":"Q1","similarity":1' + "0" * 400 + "}]}"),
}


@pytest.mark.parametrize("response", INVALID.values(), ids=INVALID)
def test_invalid_response_is_error_and_not_cached(response: ServedResponse, tmp_path: Path) -> None:
    with session_with_server(tmp_path, response, recorded_response("wembedder_Q42")) as (session, _):
        wembedder = Wembedder(session)
        with pytest.raises(ServiceError, match=r"The service \(http://127"):
            wembedder.similar_items(Q42)
        assert wembedder.similar_items(Q42)
