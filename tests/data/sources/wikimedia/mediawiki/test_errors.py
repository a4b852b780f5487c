"""What a wiki's errors mean, in the answers of real ones; each asked for through the real session."""

import json
from typing import Any

import pytest

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http.answer import TransientError
from swaymeter.data.sources.wikimedia.mediawiki_answers import PATIENCE, error_of
from tests.data.sources.servers.faults import ANSWERS, Say, recorded, says, serving
from tests.data.sources.sessions import Clock
from tests.data.sources.wikimedia.mediawiki.conftest import Asking

OK = recorded("modes/readonly_query_ok.json")
ASKED = {"prop": "info", "titles": "Chemist"}


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
        list(asking(server).wiki.query(ASKED))
    assert raised.type is ServiceError
    assert "docref" not in str(raised.value)
    assert len(server.asked) == 1
    assert clock.slept == []


LAGGING = [
    ("lag7_maxlag5.json", 5), ("lag42_maxlag20.json", 20), ("modes/lag7_maxlag0.json", 5),
    ("modes/lag7_maxlag5_errorformat_plaintext.json", 5), ("wikipedia/maxlag_minus2_fv1.json", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "seconds"), LAGGING)
def test_maxlag_is_waited_for_as_told(name: str, seconds: float, asking: Asking, clock: Clock) -> None:
    with serving(recorded(name), OK) as server:
        (answer,) = asking(server).wiki.query(ASKED)
    assert answer.content["query"]["pages"][0]["title"] == "Chemist"
    assert clock.slept == [pytest.approx(seconds)]
    assert len(server.asked) == 2


@pytest.mark.parametrize("say", [recorded("lag7_maxlag5.json"), recorded("modes/ratelimited_edit3.json")])
def test_a_wiki_that_lags_for_minutes_is_waited_for(say: Say, asking: Asking, clock: Clock) -> None:
    with serving(*[say] * 14, OK) as server:
        list(asking(server).wiki.query(ASKED))
    assert len(server.asked) == 15
    assert 300 < sum(clock.slept) < 900
    assert min(clock.slept) >= 5


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
            list(asking(server).wiki.query(ASKED))
        assert raised.type is kind
    assert len(server.asked) == tries


def test_a_wiki_out_of_time_wants_less(asking: Asking) -> None:
    slow = says({"error": {"code": "internal_api_error_DBQueryTimeoutError", "info": "A query timed out"}})
    with serving(slow) as server, pytest.raises(ServiceTimeout, match="DBQueryTimeoutError"):
        list(asking(server).wiki.query(ASKED))


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
    [{"error": None}, {"error": "oops"}, {"error": {}}, {"error": ["a"]}, {"errors": "oops"}, {"errors": [None]},
     {"error": {"code": ["maxlag"]}}, [], "text", 5, None, True],
)  # fmt: skip
def test_an_error_of_no_form_is_still_one(content: Any) -> None:
    assert isinstance(error_of(content), ServiceError)
