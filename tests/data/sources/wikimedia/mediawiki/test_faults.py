"""Wikis that are down, slow, busy, ill or somebody else: every question waits, or fails with a reason."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from data.errors import ServiceBudget, ServiceError, ServiceTimeout
from data.sources.wikimedia.mediawiki_answers import PATIENCE
from data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.http.asking import Clock
from tests.data.sources.servers.faults import Asked, Say, recorded, says, serving, unused_address
from tests.data.sources.wikimedia.mediawiki.conftest import Asking
from tests.data.sources.wikimedia.mediawiki.small_wiki import answers, page

QUESTIONS: dict[str, Callable[[Wikipedia], Any]] = {
    "page": lambda wikipedia: wikipedia.page("Ada Example"),
    "linked": lambda wikipedia: wikipedia.linked("Ada Example"),
    "history": lambda wikipedia: wikipedia.history("Ada Example"),
    "contents": lambda wikipedia: wikipedia.wiki.contents([7]),
}
HTML = "<!DOCTYPE html><html><body>Our servers are currently under maintenance</body></html>"


def answer(asked: Asked) -> Say:
    """A good answer to each of the questions."""
    if asked.form["prop"].startswith("extracts"):
        return page(extract="Ada is.", revisions=[{"revid": 17}])
    return answers(asked)


def right(found: Any) -> bool:
    """Whether the question was answered."""
    return found is not None and len(str(found)) > 10


STAY = [
    (Say(status=500), ServiceError, "answered 500 Internal Server Error", 1),
    (Say(HTML, status=503), ServiceError, "answers 503 Service Unavailable, after 4 tries", 4),
    (Say(HTML, status=502), ServiceError, "answers 502 Bad Gateway, after 4 tries", 4),
    (Say(HTML, status=504), ServiceTimeout, "answers 504 Gateway Timeout, after 4 tries", 4),
    (Say(HTML, status=429), ServiceBudget, "answers 429 Too Many Requests: it refuses us for now, after 4 tries", 4),
    (Say(HTML, status=403), ServiceError, "answered 403 Forbidden: '<!DOCTYPE html>", 1),
    (Say(HTML, status=404), ServiceError, "answered 404 Not Found", 1),
    (Say(HTML), ServiceError, "something that is not JSON: '<!DOCTYPE html>", 1),
    (Say(b'{"batchcomplete": true, "query": {"pa'), ServiceTimeout, "JSON cut short after 37 bytes", 1),
    (Say(b"{}" * 50, sent=10), ServiceTimeout, "broke off in its answer, after 2 tries", 2),
    (Say(delay_s=10), ServiceTimeout, "was silent for 0.2 s, after 2 tries", 2),
    (Say(drop=True), ServiceError, "dropped the connection", 4),
    (recorded("lag7_maxlag5.json"), ServiceError, "maxlag: Waiting for db1: 7 seconds lagged", PATIENCE),
    (recorded("modes/ratelimited_edit3.json"), ServiceBudget, "ratelimited: As an anti-abuse measure", PATIENCE),
    (recorded("modes/readonly_edit.json"), ServiceError, "readonly: The wiki is currently in read-only mode", 4),
    (recorded("wikipedia/error_badaction.json"), ServiceError, "badvalue: Unrecognized value", 1),
    (Say(status=301, headers={"Location": "https://elsewhere.example/w/api.php"}), ServiceError, "another host", 1),
    (Say(status=302, headers={"Location": "/ask"}), ServiceError, "from place to place", 4),
    (says([]), ServiceError, "none of a wiki's", 1),
    (says("query"), ServiceError, "none of a wiki's", 1),
    (says({}), ServiceError, "not what a wiki was asked for", 1),
    (says({"query": {"pages": {"3": {"pageid": 3}}}}), ServiceError, "not what a wiki was asked for", 1),
    (says({"head": {"vars": []}, "results": {"bindings": []}}), ServiceError, "not what a wiki was asked for", 1),
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("say", "kind", "said", "tries"), STAY)
def test_a_fault_that_stays_fails_with_its_reason_and_keeps_nothing(
    say: Say, kind: type[ServiceError], said: str, tries: int, question: str, asking: Asking
) -> None:
    ask = QUESTIONS[question]
    with serving(say) as server:
        with pytest.raises(ServiceError) as raised:
            ask(asking(server, timeout_s=0.2))
        assert raised.type is kind
        assert said in str(raised.value)
        assert str(raised.value).startswith(f"Wikipedia ({server.address})")
        assert str(raised.value).isprintable()
        assert len(server.asked) == tries
        server.play = answer
        assert right(ask(asking(server)))


PASS = [
    (Say(HTML, status=503, headers={"Retry-After": "30"}), 30),
    (Say(HTML, status=429, headers={"Retry-After": "7"}), 7),
    (recorded("lag42_maxlag20.json"), 20),
    (recorded("modes/ratelimited_edit3.json"), 5),
    (recorded("modes/readonly_edit.json"), 0.5),
    (Say(drop=True), 0.5),
    (Say(b"{}" * 50, sent=10), 0.5),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("say", "seconds"), PASS)
def test_a_fault_that_passes_is_waited_for(
    say: Say, seconds: float, question: str, asking: Asking, clock: Clock
) -> None:
    first = iter([say])
    with serving(play=lambda asked: next(first, None) or answer(asked)) as server:
        assert right(QUESTIONS[question](asking(server)))
    assert len(server.asked) == 2
    assert sum(clock.slept) == pytest.approx(seconds, abs=0.6)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_wiki_that_moved_within_its_host_is_followed(question: str, asking: Asking) -> None:
    def play(asked: Asked) -> Say:
        moved = Say(status=308, headers={"Location": f"/w/api.php?{urlencode(asked.form)}"})
        return moved if asked.path == "/ask" else answer(asked)

    with serving(play=play) as server:
        assert right(QUESTIONS[question](asking(server)))
    assert [asked.path for asked in server.asked] == ["/ask", "/w/api.php"]
    assert server.asked[0].form == server.asked[1].form


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_wiki_that_is_down_is_told(question: str, asking: Asking) -> None:
    with pytest.raises(ServiceError, match=r"Wikipedia \(http://127.*cannot be reached: .*refused"):
        QUESTIONS[question](asking(unused_address()))


@pytest.mark.parametrize("question", QUESTIONS)
def test_without_a_network_what_was_answered_is_answered_again(question: str, asking: Asking) -> None:
    ask = QUESTIONS[question]
    with serving(play=answer) as server:
        fresh = ask(asking(server))
        assert ask(asking(server, offline=True)) == fresh
    assert len(server.asked) == 1
    with pytest.raises(ServiceError, match="this run is offline"):
        ask(asking(unused_address(), offline=True))


def test_nobody_is_asked_without_somebody_to_reach(asking: Asking) -> None:
    with serving(play=answer) as server, pytest.raises(ServiceError, match="only by somebody it can reach"):
        asking(server, contact=None)
    assert server.asked == []
