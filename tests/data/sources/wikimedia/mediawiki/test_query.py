"""All parts of an answer, in the words of the wiki that continues it."""

from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from tests.data.sources.servers.faults import Say, says, serving
from tests.data.sources.wikimedia.mediawiki.conftest import Asking
from tests.data.sources.wikimedia.mediawiki.small_wiki import in_parts

FORM = {"prop": "revisions", "titles": "Ada Example", "rvlimit": "3"}
FIXED = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}


def test_continuation_is_sent_back_until_it_ends(asking: Asking) -> None:
    with serving(play=in_parts) as server:
        parts = list(asking(server).wiki.query(FORM))
    revisions = [entry["revid"] for part in parts for entry in part.content["query"]["pages"][0]["revisions"]]
    assert revisions == [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    assert [asked.form for asked in server.asked] == [
        {**FIXED, **FORM},
        {**FIXED, **FORM, "rvcontinue": "20261120180852|10", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180856|13", "continue": "||"},
        {**FIXED, **FORM, "rvcontinue": "20261120180859|16", "continue": "||"},
    ]


def test_only_the_last_of_what_continues_is_sent_back(asking: Asking) -> None:
    first = says({"continue": {"plcontinue": "a", "continue": "||x"}, "query": {}})
    second = says({"continue": {"excontinue": 1, "continue": "||"}, "query": {}})
    with serving(first, second, says({"batchcomplete": True})) as server:
        list(asking(server).wiki.query(FORM))
    assert server.asked[2].form == {**FIXED, **FORM, "excontinue": "1", "continue": "||"}


def test_a_wiki_that_goes_on_in_a_circle_is_left(asking: Asking) -> None:
    def play(asked: Any) -> Say:
        there = "1" if asked.form.get("rvcontinue") != "1" else "2"
        return says({"continue": {"rvcontinue": there, "continue": "||"}, "query": {}})

    with serving(play=play) as server, pytest.raises(ServiceError, match="repeats a continuation"):
        list(asking(server).wiki.query(FORM))
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "more", [["a"], "a", 5, {"rvcontinue": None}, {"rvcontinue": ["a"]}, {"titles": "Other"}, {"action": "edit"}]
)
def test_a_wiki_that_goes_on_with_nonsense_is_left(more: Any, asking: Asking) -> None:
    with (
        serving(says({"continue": more, "query": {}})) as server,
        pytest.raises(ServiceError, match="not the requested answer"),
    ):
        list(asking(server).wiki.query(FORM))
    assert len(server.asked) == 1


@pytest.mark.parametrize("content", [{}, {"entities": {}}, {"warnings": {}}])
def test_an_answer_to_no_query_is_none(content: Any, asking: Asking) -> None:
    with serving(says(content)) as server, pytest.raises(ServiceError, match="neither query nor batchcomplete"):
        list(asking(server).wiki.query(FORM))
