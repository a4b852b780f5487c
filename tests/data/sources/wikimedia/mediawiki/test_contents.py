"""What versions say: asked for once, in batches, and never again."""

import hashlib

import pytest

from swaymeter.data.errors import ServiceError
from tests.data.sources.servers.faults import Asked, Say, recorded, serving
from tests.data.sources.wikimedia.mediawiki.conftest import Asking
from tests.data.sources.wikimedia.mediawiki.small_wiki import PAGE, REVISIONS, TEXTS, contents, page


def test_versions_say_what_their_digests_are_of(asking: Asking) -> None:
    with serving(play=contents) as server:
        found = asking(server).wiki.contents(sorted(REVISIONS))
    assert found == TEXTS
    digests = {number: hashlib.sha1(text.encode()).hexdigest() for number, text in found.items()}
    assert digests == {entry["revid"]: entry["sha1"] for entry in PAGE["revisions"] if "sha1" in entry}
    (asked,) = server.asked
    assert asked.form == {
        "action": "query", "format": "json", "formatversion": "2", "maxlag": "5", "prop": "revisions",
        "revids": "7|8|9|10|11|12|13|14|15|16|17", "rvprop": "ids|content", "rvslots": "main",
    }  # fmt: skip


@pytest.mark.parametrize("number", [13, 99999])
def test_a_version_that_nobody_may_read_is_absent(number: int, asking: Asking) -> None:
    assert number not in TEXTS
    with serving(play=contents) as server:
        assert asking(server).wiki.contents([7, number, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
        assert asking(server).wiki.contents([number]) == {}


def test_twenty_contents_are_requested_at_most_each_once(asking: Asking) -> None:
    def play(asked: Asked) -> Say:
        wanted = [int(number) for number in asked.form["revids"].split("|")]
        return page(revisions=[{"revid": number, "slots": {"main": {"content": str(number)}}} for number in wanted])

    wanted = [*range(45, 0, -1), *range(1, 46)]
    with serving(play=play) as server:
        found = asking(server).wiki.contents(wanted)
    assert found == {number: str(number) for number in range(1, 46)}
    batches = [list(map(int, asked.form["revids"].split("|"))) for asked in server.asked]
    assert batches == [list(range(1, 21)), list(range(21, 41)), list(range(41, 46))]


def test_contents_that_need_too_long_are_asked_for_in_halves(asking: Asking) -> None:
    def play(asked: Asked) -> Say:
        few = asked.form["revids"].count("|") < 2
        return contents(asked) if few else Say(b'{"query": {"pages": [')

    with serving(play=play) as server:
        assert asking(server).wiki.contents([7, 8, 9, 10]) == {number: TEXTS[number] for number in range(7, 11)}
    assert [asked.form["revids"] for asked in server.asked] == ["7|8|9|10", "7|8", "9|10"]


# What never changes is never asked for again


def test_a_content_is_kept_whatever_its_age(asking: Asking) -> None:
    with serving(play=contents) as server:
        asking(server).wiki.contents([7, 8])
        old = asking(server, cache_ttl_days=0, reruns=frozenset({"of today"}))
        assert old.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
        offline = asking(server, cache_ttl_days=0, offline=True)
        assert offline.wiki.contents([7, 8]) == {7: TEXTS[7], 8: TEXTS[8]}
    assert len(server.asked) == 1


@pytest.mark.parametrize("number", [13, 99999])
def test_a_missing_content_is_requested_again_in_time(number: int, asking: Asking) -> None:
    with serving(play=contents) as server:
        asking(server).wiki.contents([7, number])
        asking(server).wiki.contents([7, number])
        assert len(server.asked) == 1
        asking(server, cache_ttl_days=0).wiki.contents([7, number])
    assert len(server.asked) == 2


BAD = [
    page(revisions=[{"revid": "7", "slots": {"main": {"content": "a"}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": {"content": None}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": {"content": {"claims": {}}}}}]),
    page(revisions=[{"revid": 7, "slots": {"main": "text"}}]),
]


@pytest.mark.parametrize("say", BAD)
def test_what_is_no_content_is_an_error_and_not_kept(say: Say, asking: Asking) -> None:
    with serving(say, recorded("wikipedia/revisions_by_revid.json")) as server:
        with pytest.raises(ServiceError, match="not the requested answer"):
            asking(server).wiki.contents([7])
        assert asking(server).wiki.contents([7]) == {7: TEXTS[7]}
