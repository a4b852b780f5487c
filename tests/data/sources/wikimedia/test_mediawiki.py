"""Any MediaWiki through its Action API: parts of answers, contents of versions, and the errors of real ones."""

import hashlib
import json
from typing import Any

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http.response import TransientError
from swaymeter.data.sources.wikimedia.mediawiki import PATIENCE, error_of
from tests.data.sources.servers.faults import ANSWERS, Say, ServedRequest, recorded, says, serving
from tests.data.sources.sessions import Clock
from tests.data.sources.wikimedia.conftest import Asking
from tests.data.sources.wikimedia.small_wiki import REVISIONS, TEXTS, contents, in_parts, page

FORM = {"prop": "revisions", "titles": "Ada Example", "rvlimit": "3"}
FIXED = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}


def test_continuation_is_sent_back_until_it_ends(asking: Asking) -> None:
    with serving(play=in_parts) as server:
        parts = list(asking(server).wiki.query(FORM))
    revisions = [entry["revid"] for part in parts for entry in part.content["query"]["pages"][0]["revisions"]]
    assert revisions == [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    assert [asked.form for asked in server.received] == [
        {**FIXED, **FORM},
        {**FIXED, **FORM, "rvcontinue": "20261120180852|10", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180856|13", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180859|16", "continue": "||"},
    ]


def test_only_last_of_what_continues_is_sent_back(asking: Asking) -> None:
    first = says({"continue": {"plcontinue": "a", "continue": "||x"}, "query": {}})
    second = says({"continue": {"excontinue": 1, "continue": "||"}, "query": {}})
    with serving(first, second, says({"batchcomplete": True})) as server:
        list(asking(server).wiki.query(FORM))
    assert server.received[2].form == {**FIXED, **FORM, "excontinue": "1", "continue": "||"}


def test_wiki_that_goes_on_in_circle_is_left(asking: Asking) -> None:
    def play(asked: Any) -> Say:
        there = "1" if asked.form.get("rvcontinue") != "1" else "2"
        return says({"continue": {"rvcontinue": there, "continue": "||"}, "query": {}})

    with serving(play=play) as server, pytest.raises(ServiceError, match="sends the same part of its answer again"):
        list(asking(server).wiki.query(FORM))
    assert len(server.received) == 3


@pytest.mark.parametrize(
    "more", [["a"], "a", 5, {"rvcontinue": None}, {"rvcontinue": ["a"]}, {"titles": "Other"}, {"action": "edit"}]
)
def test_wiki_that_goes_on_with_nonsense_is_left(more: Any, asking: Asking) -> None:
    none = pytest.raises(ServiceError, match="not the requested answer")
    with serving(says({"continue": more, "query": {}})) as server, none:
        list(asking(server).wiki.query(FORM))
    assert len(server.received) == 1


@pytest.mark.parametrize("content", [{}, {"entities": {}}, {"warnings": {}}])
def test_an_answer_to_no_query_is_none(content: Any, asking: Asking) -> None:
    with serving(says(content)) as server, pytest.raises(ServiceError, match="neither query nor batchcomplete"):
        list(asking(server).wiki.query(FORM))


def test_versions_say_what_their_digests_are_of(asking: Asking) -> None:
    with serving(play=contents) as server:
        found = asking(server).wiki.contents(sorted(REVISIONS))
    assert found == TEXTS
    digests = {number: hashlib.sha1(text.encode()).hexdigest() for number, text in found.items()}
    assert digests == {entry["revid"]: entry["sha1"] for entry in REVISIONS.values() if "sha1" in entry}
    (asked,) = server.received
    assert asked.form == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "maxlag": "5",
        "prop": "revisions",
        "revids": "7|8|9|10|11|12|13|14|15|16|17",
        "rvprop": "ids|content",
        "rvslots": "main",
    }


def test_twenty_contents_are_requested_at_most_each_once(asking: Asking) -> None:
    def play(asked: ServedRequest) -> Say:
        wanted = [int(number) for number in asked.form["revids"].split("|")]
        return page(revisions=[{"revid": number, "slots": {"main": {"content": str(number)}}} for number in wanted])

    wanted = [*range(45, 0, -1), *range(1, 46)]
    with serving(play=play) as server:
        found = asking(server).wiki.contents(wanted)
    assert found == {number: str(number) for number in range(1, 46)}
    batches = [list(map(int, asked.form["revids"].split("|"))) for asked in server.received]
    assert batches == [list(range(1, 21)), list(range(21, 41)), list(range(41, 46))]


def test_slow_contents_are_requested_in_halves(asking: Asking) -> None:
    def play(asked: ServedRequest) -> Say:
        few = asked.form["revids"].count("|") < 2
        return contents(asked) if few else Say(b'{"query": {"pages": [')

    with serving(play=play) as server:
        assert asking(server).wiki.contents([7, 8, 9, 10]) == {number: TEXTS[number] for number in range(7, 11)}
    assert [asked.form["revids"] for asked in server.received] == ["7|8|9|10", "7|8", "9|10"]


def test_a_content_is_kept_whatever_its_age(asking: Asking) -> None:
    with serving(play=contents) as server:
        asking(server).wiki.contents([7, 8])
        old = asking(server, cache_ttl_days=0, rerun=1)
        assert old.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
        offline = asking(server, cache_ttl_days=0, offline=True)
        assert offline.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
    assert len(server.received) == 1


@pytest.mark.parametrize("number", [13, 99999])
def test_a_hidden_version_is_absent_and_requested_again(number: int, asking: Asking) -> None:
    with serving(play=contents) as server:
        for _ in range(2):
            assert asking(server).wiki.contents([8, number, 7]) == {7: TEXTS[7], 8: TEXTS[8]}
        assert len(server.received) == 1
        asking(server, cache_ttl_days=0).wiki.contents([7, 8, number])
        assert len(server.received) == 2
        assert asking(server).wiki.contents([number]) == {}


BAD = [
    page(revisions=[{"revid": "7", "slots": {"main": {"content": "a"}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": {"content": None}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": {"content": {"claims": {}}}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": "text"}}]),
]


@pytest.mark.parametrize("say", BAD)
def test_invalid_content_is_an_error_and_not_cached(say: Say, asking: Asking) -> None:
    with serving(say, recorded("wikipedia/revisions_by_revid.json")) as server:
        with pytest.raises(ServiceError, match="not the requested answer"):
            asking(server).wiki.contents([7])
        assert asking(server).wiki.contents([7]) == {7: TEXTS[7]}


OK = recorded("modes/readonly_query_ok.json")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("error_badaction", r'badvalue: Unrecognized value for parameter "action": nonsense\.'),
        ("error_badtimestamp", r'badtimestamp: Invalid value "junk"'),
        ("error_errorformat_plaintext", r'badvalue: Unrecognized value for parameter "action": nonsense\.'),
        ("revisions_two_titles_with_rvlimit_error", r"invalidparammix: .*only be used on a single page"),
        ("pageviews_no_backend", r'pvi-cached-error-title: An earlier attempt to fetch page "Ada_Example" failed'),
    ],
)
def test_an_error_is_told_in_the_wikis_words(name: str, said: str, asking: Asking, clock: Clock) -> None:
    told = rf"Wikipedia \(http://127.*\) answered with an error: {said}"
    with serving(recorded(f"wikipedia/{name}.json")) as server, pytest.raises(ServiceError, match=told) as raised:
        list(asking(server).wiki.query(FORM))
    assert raised.type is ServiceError
    assert "docref" not in str(raised.value)
    assert len(server.received) == 1
    assert clock.slept == []


LAGGING = [
    ("lag7_maxlag5.json", 5),
    ("lag42_maxlag20.json", 20),
    ("modes/lag7_maxlag0.json", 5),
    ("modes/lag7_maxlag5_errorformat_plaintext.json", 5),
    ("wikipedia/maxlag_minus2_fv1.json", 5),
]


@pytest.mark.parametrize(("name", "seconds"), LAGGING)
def test_maxlag_is_waited_for_as_told(name: str, seconds: float, asking: Asking, clock: Clock) -> None:
    with serving(recorded(name), OK) as server:
        (answer,) = asking(server).wiki.query(FORM)
    assert answer.content["query"]["pages"][0]["title"] == "Chemist"
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
def test_what_does_not_pass_fails_after_all_tries(
    name: str, kind: type[ServiceError], tries: int, asking: Asking, clock: Clock
) -> None:
    code = json.loads((ANSWERS / f"{name}.json").read_text())["error"]["code"]
    with serving(recorded(f"{name}.json")) as server:
        with pytest.raises(ServiceError, match=rf"error: {code}: .*after {tries} tries; run again later") as raised:
            list(asking(server).wiki.query(FORM))
        assert raised.type is kind
    assert len(server.received) == tries
    if tries == PATIENCE:
        assert 300 < sum(clock.slept) < 900
        assert min(clock.slept) >= 5


def test_a_wiki_out_of_time_wants_less(asking: Asking) -> None:
    slow = says({"error": {"code": "internal_api_error_DBQueryTimeoutError", "info": "A query timed out"}})
    with serving(slow) as server, pytest.raises(ServiceTimeout, match="DBQueryTimeoutError"):
        list(asking(server).wiki.query(FORM))


@pytest.mark.parametrize(
    ("codes", "transient"),
    [(["maxlag"], True), (["maxlag", "readonly"], True), (["maxlag", "badvalue"], False), (["badvalue"], False)],
)
def test_one_error_that_stays_is_enough(codes: list[str], transient: bool) -> None:
    problem = error_of({"errors": [{"code": code, "text": f"{code} text", "module": "main"} for code in codes]})
    assert problem is not None
    assert isinstance(problem, TransientError) is transient


@pytest.mark.parametrize("words", [{"info": "A"}, {"text": "A"}, {"html": "A"}, {"*": "A"}])
def test_an_error_is_found_in_every_form(words: dict[str, str]) -> None:
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
def test_an_error_of_no_form_is_still_one(content: Any) -> None:
    assert isinstance(error_of(content), ServiceError)
