"""The Action API of a MediaWiki: continuations, contents of revisions, and errors that real wikis sent."""

import hashlib
import json
from typing import Any

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http.response import TransientError
from swaymeter.data.sources.wikimedia.mediawiki import PATIENCE, error_of
from tests.data.sources.servers.faults import (
    ANSWERS,
    ServedRequest,
    ServedResponse,
    json_response,
    recorded_response,
    serving,
)
from tests.data.sources.sessions import Clock
from tests.data.sources.wikimedia.conftest import OpenWikipedia
from tests.data.sources.wikimedia.small_wiki import REVISIONS, TEXTS, page_response, play_ada, play_parts

FORM = {"prop": "revisions", "titles": "Ada Example", "rvlimit": "3"}
FIXED = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}


def test_continuation_is_sent_back_until_it_ends(open_wikipedia: OpenWikipedia) -> None:
    with serving(play=play_parts) as server:
        parts = list(open_wikipedia(server).wiki.query(FORM))
    revisions = [entry["revid"] for part in parts for entry in part.content["query"]["pages"][0]["revisions"]]
    assert revisions == [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    assert [request.form for request in server.received] == [
        {**FIXED, **FORM},
        {**FIXED, **FORM, "rvcontinue": "20261120180852|10", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180856|13", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180859|16", "continue": "||"},
    ]


def test_only_the_last_continuation_is_sent_back(open_wikipedia: OpenWikipedia) -> None:
    first = json_response({"continue": {"plcontinue": "a", "continue": "||x"}, "query": {}})
    second = json_response({"continue": {"excontinue": 1, "continue": "||"}, "query": {}})
    with serving(first, second, json_response({"batchcomplete": True})) as server:
        list(open_wikipedia(server).wiki.query(FORM))
    assert server.received[2].form == {**FIXED, **FORM, "excontinue": "1", "continue": "||"}


def test_endless_continuation_is_refused(open_wikipedia: OpenWikipedia) -> None:
    def play(request: Any) -> ServedResponse:
        position = "1" if request.form.get("rvcontinue") != "1" else "2"
        return json_response({"continue": {"rvcontinue": position, "continue": "||"}, "query": {}})

    with serving(play=play) as server, pytest.raises(ServiceError, match="sends the same part of its response again"):
        list(open_wikipedia(server).wiki.query(FORM))
    assert len(server.received) == 3


@pytest.mark.parametrize(
    "continuation",
    [["a"], "a", 5, {"rvcontinue": None}, {"rvcontinue": ["a"]}, {"titles": "Other"}, {"action": "edit"}],
)
def test_invalid_continuation_is_refused(continuation: Any, open_wikipedia: OpenWikipedia) -> None:
    refused = pytest.raises(ServiceError, match="not the expected response")
    with serving(json_response({"continue": continuation, "query": {}})) as server, refused:
        list(open_wikipedia(server).wiki.query(FORM))
    assert len(server.received) == 1


@pytest.mark.parametrize("content", [{}, {"entities": {}}, {"warnings": {}}])
def test_response_without_a_query_is_refused(content: Any, open_wikipedia: OpenWikipedia) -> None:
    with (
        serving(json_response(content)) as server,
        pytest.raises(ServiceError, match="none of the keys `query`"),
    ):
        list(open_wikipedia(server).wiki.query(FORM))


def test_contents_of_revisions_have_their_digests(open_wikipedia: OpenWikipedia) -> None:
    with serving(play=play_ada) as server:
        texts = open_wikipedia(server).wiki.contents(sorted(REVISIONS))
    assert texts == TEXTS
    digests = {number: hashlib.sha1(text.encode()).hexdigest() for number, text in texts.items()}
    assert digests == {entry["revid"]: entry["sha1"] for entry in REVISIONS.values() if "sha1" in entry}
    (request,) = server.received
    assert request.form == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "maxlag": "5",
        "prop": "revisions",
        "revids": "7|8|9|10|11|12|13|14|15|16|17",
        "rvprop": "ids|content",
        "rvslots": "main",
    }


def test_each_content_is_requested_once_in_batches(open_wikipedia: OpenWikipedia) -> None:
    def play(request: ServedRequest) -> ServedResponse:
        numbers = request.form["revids"].split("|")
        return page_response(
            revisions=[{"revid": int(number), "slots": {"main": {"content": number}}} for number in numbers]
        )

    numbers = [*range(45, 0, -1), *range(1, 46)]
    with serving(play=play) as server:
        texts = open_wikipedia(server).wiki.contents(numbers)
    assert texts == {number: str(number) for number in range(1, 46)}
    batches = [list(map(int, request.form["revids"].split("|"))) for request in server.received]
    assert batches == [list(range(1, 21)), list(range(21, 41)), list(range(41, 46))]


def test_slow_contents_are_requested_in_halves(open_wikipedia: OpenWikipedia) -> None:
    def play(request: ServedRequest) -> ServedResponse:
        is_small = request.form["revids"].count("|") < 2
        # JSON that is cut short counts as a timeout of the service.
        return play_ada(request) if is_small else ServedResponse(b'{"query": {"pages": [')

    with serving(play=play) as server:
        assert open_wikipedia(server).wiki.contents([7, 8, 9, 10]) == {number: TEXTS[number] for number in range(7, 11)}
    assert [request.form["revids"] for request in server.received] == ["7|8|9|10", "7|8", "9|10"]


def test_contents_are_cached_forever(open_wikipedia: OpenWikipedia) -> None:
    with serving(play=play_ada) as server:
        open_wikipedia(server).wiki.contents([7, 8])
        expired = open_wikipedia(server, cache_ttl_days=0, rerun=1)
        assert expired.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
        offline = open_wikipedia(server, cache_ttl_days=0, offline=True)
        assert offline.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
    assert len(server.received) == 1


@pytest.mark.parametrize("number", [13, 99999])  # a hidden revision, and the number of no revision
def test_absence_of_a_revision_is_cached_until_expiry(number: int, open_wikipedia: OpenWikipedia) -> None:
    with serving(play=play_ada) as server:
        for _ in range(2):
            assert open_wikipedia(server).wiki.contents([8, number, 7]) == {7: TEXTS[7], 8: TEXTS[8]}
        assert len(server.received) == 1
        open_wikipedia(server, cache_ttl_days=0).wiki.contents([7, 8, number])
        assert len(server.received) == 2
        assert open_wikipedia(server).wiki.contents([number]) == {}


@pytest.mark.parametrize(
    "response",
    [
        page_response(revisions=[{"revid": "7", "slots": {"main": {"content": "a"}}}]),
        page_response(revisions=[{"revid": 7, "slots": {"main": {"content": None}}}]),
        page_response(revisions=[{"revid": 7, "slots": {"main": {"content": {"claims": {}}}}}]),
        page_response(revisions=[{"revid": 7, "slots": {"main": "text"}}]),
    ],
)
def test_invalid_content_is_an_error_and_not_cached(response: ServedResponse, open_wikipedia: OpenWikipedia) -> None:
    with serving(response, recorded_response("wikipedia/revisions_by_revid.json")) as server:
        with pytest.raises(ServiceError, match="not the expected response"):
            open_wikipedia(server).wiki.contents([7])
        assert open_wikipedia(server).wiki.contents([7]) == {7: TEXTS[7]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error_badaction", r'badvalue: Unrecognized value for parameter "action": nonsense\.'),
        ("error_badtimestamp", r'badtimestamp: Invalid value "junk"'),
        ("error_errorformat_plaintext", r'badvalue: Unrecognized value for parameter "action": nonsense\.'),
        ("revisions_two_titles_with_rvlimit_error", r"invalidparammix: .*only be used on a single page"),
        ("pageviews_no_backend", r'pvi-cached-error-title: An earlier attempt to fetch page "Ada_Example" failed'),
    ],
)
def test_error_has_the_words_of_the_wiki(name: str, words: str, open_wikipedia: OpenWikipedia, clock: Clock) -> None:
    message = rf"Wikipedia \(http://127.*\) answered with an error: {words}"
    with (
        serving(recorded_response(f"wikipedia/{name}.json")) as server,
        pytest.raises(ServiceError, match=message) as raised,
    ):
        list(open_wikipedia(server).wiki.query(FORM))
    assert raised.type is ServiceError
    assert "docref" not in str(raised.value)
    assert len(server.received) == 1
    assert clock.slept == []


@pytest.mark.parametrize(
    ("name", "seconds"),  # the seconds are the Retry-After of the recorded response
    [
        ("lag7_maxlag5.json", 5),
        ("lag42_maxlag20.json", 20),
        ("modes/lag7_maxlag0.json", 5),
        ("modes/lag7_maxlag5_errorformat_plaintext.json", 5),
        ("wikipedia/maxlag_minus2_fv1.json", 5),
    ],
)
def test_lag_is_waited_for_as_requested(name: str, seconds: float, open_wikipedia: OpenWikipedia, clock: Clock) -> None:
    with serving(recorded_response(name), recorded_response("modes/readonly_query_ok.json")) as server:
        (response,) = open_wikipedia(server).wiki.query(FORM)
    assert response.content["query"]["pages"][0]["title"] == "Chemist"
    assert clock.slept == [pytest.approx(seconds)]
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("name", "kind", "tries"),
    [
        ("lag7_maxlag5", ServiceError, PATIENCE),
        ("modes/ratelimited_edit3", ServiceBudget, PATIENCE),
        ("modes/readonly_edit", ServiceError, 4),
    ],
)
def test_lasting_transient_error_fails_after_all_tries(
    name: str, kind: type[ServiceError], tries: int, open_wikipedia: OpenWikipedia, clock: Clock
) -> None:
    code = json.loads((ANSWERS / f"{name}.json").read_text())["error"]["code"]
    with serving(recorded_response(f"{name}.json")) as server:
        with pytest.raises(ServiceError, match=rf"error: {code}: .*after {tries} tries; run again later") as raised:
            list(open_wikipedia(server).wiki.query(FORM))
        assert raised.type is kind
    assert len(server.received) == tries
    if tries == PATIENCE:
        assert 300 < sum(clock.slept) < 900  # about eight minutes
        assert min(clock.slept) >= 5


def test_timeout_of_the_database_is_a_timeout(open_wikipedia: OpenWikipedia) -> None:
    slow = json_response({"error": {"code": "internal_api_error_DBQueryTimeoutError", "info": "A query timed out"}})
    with serving(slow) as server, pytest.raises(ServiceTimeout, match="DBQueryTimeoutError"):
        list(open_wikipedia(server).wiki.query(FORM))


@pytest.mark.parametrize(
    ("codes", "are_transient"),
    [(["maxlag"], True), (["maxlag", "readonly"], True), (["maxlag", "badvalue"], False), (["badvalue"], False)],
)
def test_errors_are_transient_if_each_is_transient(codes: list[str], are_transient: bool) -> None:
    problem = error_of({"errors": [{"code": code, "text": f"{code} text", "module": "main"} for code in codes]})
    assert problem is not None
    assert isinstance(problem, TransientError) is are_transient


@pytest.mark.parametrize("words", [{"info": "A"}, {"text": "A"}, {"html": "A"}, {"*": "A"}])
def test_error_is_read_in_every_format(words: dict[str, str]) -> None:
    for content in ({"error": {"code": "nosuch", **words}}, {"errors": [{"code": "nosuch", **words}]}):
        problem = error_of(content)
        assert isinstance(problem, ServiceError)
        assert str(problem) == "nosuch: A"


@pytest.mark.parametrize(
    "content",
    [
        {"error": None},
        {"error": "oops"},
        {"error": {}},
        {"error": ["a"]},
        {"errors": "oops"},
        {"errors": [None]},
        {"error": {"code": ["maxlag"]}},
        [],
        "text",
        5,
        None,
        True,
    ],
)
def test_error_in_no_known_format_is_an_error(content: Any) -> None:
    assert isinstance(error_of(content), ServiceError)
