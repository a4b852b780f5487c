"""The history of an item that a real wiki recorded, judged by hand: which revision did what to which property.

    9, 13, 14  made, with aliases and a label
P1  15  made (Q2); 16, 17, 18  set to Q3, back to Q2, to Q4
    19  wbsetclaim-update: a rank, a qualifier and a reference, and the same Q4
    21  an unknown value made; 22, 23  "no value" made, and removed; 33  a bulk edit made one more (Q3)
P2  20  made (1,234,567); 24  a qualifier, whose summary names P3; 25  a reference
    29  set to 1; 30  undone, under a summary that names nothing
P5, P6, P7  26, 27, 28  made: coordinates, a text, an identifier
    31  a label by a bulk edit; 32  rolled back, under a summary that names nothing
P3, P4  never, for they only stand in qualifiers and references
"""

import json
from collections.abc import Callable, Mapping

import pytest

from swaymeter.data.sources.wikimedia.edit_history import edit_history
from tests.data.sources.servers.faults import ANSWERS, Asked, Say, serving
from tests.data.sources.wikimedia.wikidata.conftest import Asking
from tests.data.sources.wikimedia.wikidata.item_wiki import contents_asked, playing

BY_HAND = {
    "P1": (15, 16, 17, 18, 21, 22, 23, 33),
    "P2": (20, 29, 30),
    "P3": (),
    "P4": (),
    "P5": (26,),
    "P6": (27,),
    "P7": (28,),
}


def recorded(comment: Callable[[str], str] = str) -> Callable[[Asked], Say]:
    """Plays the wiki, with other summaries where wanted."""
    metadata = _revisions("revisions_item.json")
    contents = {
        said["revid"]: said["slots"]["main"]["content"] for said in _revisions("revisions_item_content_all.json")
    }
    told = [said | {"comment": comment(said["comment"]), "userid": 0 if said.get("anon") else 2} for said in metadata]
    return playing("Q1", told, contents)


def _revisions(name: str) -> list[dict]:
    return json.loads((ANSWERS / "wikidata" / name).read_text())["query"]["pages"][0]["revisions"]


def without_property(summary: str) -> str:
    """As bulk edits, undo and rollback have it: the key stays away, and with it the property."""
    return "" if "Property:" in summary else summary


def test_the_edits_of_each_property_are_those_found_by_hand(asking: Asking) -> None:
    with serving(play=recorded()) as server:
        wikidata = asking(server)
        for property_id, edits in BY_HAND.items():
            history = edit_history(wikidata, "Q1", property_id)
            assert history is not None
            assert history.edits == edits, property_id
            assert (history.count, history.hidden, history.latest) == (len(edits), (), 33)


WITHOUT: Mapping[str, Callable[[str], str]] = {
    "no summaries": lambda said: "",
    "free ones": lambda said: "made better",
    "none that name a property": without_property,
}


@pytest.mark.parametrize("summaries", WITHOUT)
def test_without_summaries_the_contents_alone_tell_the_same(summaries: str, asking: Asking) -> None:
    with serving(play=recorded(WITHOUT[summaries])) as server:
        wikidata = asking(server)
        found = {name: edit_history(wikidata, "Q1", name) for name in BY_HAND}
    assert {name: history.edits for name, history in found.items() if history} == BY_HAND


def test_only_contents_that_have_to_be_compared_are_asked_for(asking: Asking) -> None:
    with serving(play=recorded()) as server:
        edit_history(asking(server), "Q1", "P7")
    # 9 is the item's beginning; 29 and 30 an undo, 31 and 32 a rollback, 32 and 33 a bulk edit, and 28, 30 and 32 are
    # the same to the byte. 19 names another property.
    assert contents_asked(server.asked) == [9, 28, 29, 31, 33]
    with serving(play=recorded()) as server:
        edit_history(asking(server), "Q1", "P1")
    assert contents_asked(server.asked) == [9, 18, 19, 28, 29, 31, 33]


def test_an_item_that_is_not_there_has_no_history(asking: Asking) -> None:
    with serving(play=recorded()) as server:
        assert edit_history(asking(server), "Q999", "P1") is None


def test_a_history_says_where_and_when_it_was_looked_at(asking: Asking) -> None:
    with serving(play=recorded()) as server:
        wikidata = asking(server)
        history, again = edit_history(wikidata, "Q1", "P1"), edit_history(wikidata, "Q1", "P1")
        assert history is not None
        assert history.retrieved_at.utcoffset() is not None
        assert again == history
        assert len(server.asked) == 2
