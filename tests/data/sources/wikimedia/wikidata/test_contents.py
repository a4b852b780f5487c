"""Contents of revisions: how values are written there, how they are asked for, and what is none."""

import json
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.edit_history import edit_history
from tests.data.sources.servers.faults import Asked, Say, says, serving
from tests.data.sources.wikimedia.wikidata.conftest import Asking, counted
from tests.data.sources.wikimedia.wikidata.item_wiki import (
    BEGUN,
    BERGEN,
    FIRST,
    ITEM,
    OSLO,
    contents_asked,
    edit,
    holding,
    snak,
)

# How values are written


def test_the_same_value_written_in_another_way_is_the_same(asking: Asking) -> None:
    old, new = snak("P36", "Q585"), snak("P36", "Q585")
    del old["datavalue"]["value"]["id"], old["hash"]
    assert _counted_in(asking, old, new) == (100,)
    del new["datavalue"]["value"]["numeric-id"]
    assert _counted_in(asking, old, new) == (100,)


def test_equal_numbers_are_equal_values(asking: Asking) -> None:
    def place(**said: Any) -> dict[str, Any]:
        value = {"type": "globecoordinate", "value": {"latitude": 1.5, **said}}
        return snak("P36", "-") | {"snaktype": "value", "datavalue": value}

    assert _counted_in(asking, place(longitude=2), place(longitude=2.0, altitude=None)) == (100,)
    assert _counted_in(asking, place(longitude=2), place(longitude=2.5)) == (100, 101)


def _counted_in(asking: Asking, *snaks: dict[str, Any]) -> tuple[int, ...]:
    items = [{"id": ITEM, "claims": {"P36": [{"mainsnak": one, "id": "Q20$a", "rank": "normal"}]}} for one in snaks]
    return counted(asking, *(edit("", written=json.dumps(item)) for item in items))


# The way it is asked


def test_many_contents_are_asked_for_in_parts(asking: Asking) -> None:
    edits = [edit("", {"P36": {"a": f"Q{number // 2 + 1}"}}, beside=str(number)) for number in range(50)]
    with serving(play=holding(edits)) as server:
        history = edit_history(asking(server), ITEM, "P36")
    assert history is not None
    assert history.edits == tuple(FIRST + number for number in range(0, 50, 2))
    assert [len(contents_asked([asked])) for asked in server.asked] == [0, 20, 20, 10]


def test_edits_in_the_wrong_order_are_put_right(asking: Asking) -> None:
    play = holding([BEGUN, edit("", OSLO), edit("", BERGEN)])

    def turned(asked: Asked) -> Say:
        said = json.loads(play(asked).body)
        said["query"]["pages"][0]["revisions"].reverse()
        return says(said)

    with serving(play=turned) as server:
        history = edit_history(asking(server), ITEM, "P36")
    assert history is not None
    assert (history.edits, history.latest) == ((101, 102), 102)


def test_a_property_has_its_history_in_its_own_namespace(asking: Asking) -> None:
    with serving(play=holding([BEGUN])) as server:
        assert edit_history(asking(server), "P36", "P31") is None
    assert server.asked[0].form["titles"] == "Property:P36"


@pytest.mark.parametrize("ids", [("Oslo", "P36"), ("Q20", "capital"), ("../Q20", "P36"), ("Q20|Q21", "P36")])
def test_what_is_no_id_is_refused_and_nothing_is_asked(ids: tuple[str, str], asking: Asking) -> None:
    with serving(play=holding([BEGUN])) as server, pytest.raises(InputError, match="not a Wikidata id"):
        edit_history(asking(server), *ids)
    assert server.asked == []


@pytest.mark.parametrize(
    "content", ["", "<html>", "[]", '{"claims": [1]}', '{"claims": {"P36": [{}]}}', "[" * 100_000, "{}"]
)
def test_an_invalid_content_names_its_revision(content: str, asking: Asking) -> None:
    with pytest.raises(ServiceError, match=r"Wikidata \(http://127.*\): revision 101 is not an item"):
        counted(asking, BEGUN, edit("", written=content))
