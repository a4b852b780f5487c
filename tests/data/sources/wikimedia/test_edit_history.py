"""Which revisions changed an item's capital (P36), in small histories and in one that a real wiki recorded.

The recorded history, judged by hand:

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
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.edit_history import EditHistory, edit_history
from tests.data.sources.servers.faults import Say, ServedRequest, says, serving
from tests.data.sources.wikimedia.conftest import AskingItems
from tests.data.sources.wikimedia.small_wiki import (
    BEGUN,
    BERGEN,
    BOTH,
    FIRST,
    ITEM,
    MADE,
    OSLO,
    SET,
    Edit,
    Play,
    edit,
    holding,
    playing,
    recorded_wiki,
    requested_contents,
    snak,
)


def history_after(asking_items: AskingItems, *edits: Edit, play: Play | None = None) -> EditHistory:
    """The history after these edits, the first of which is revision 100."""
    with serving(play=play or holding(edits)) as server:
        history = edit_history(asking_items(server), ITEM, "P36")
    assert history is not None
    return history


def hidden(one: Edit, *what: str) -> Edit:
    return replace(one, hidden=what or ("comment", "content"))


LABEL_OSLO = edit("/* wbsetlabel-add:1|en */ X", OSLO, beside="X")
LABEL_BERGEN = edit("/* wbsetlabel-add:1|en */ X", BERGEN, beside="X")
BACK = edit("Reverted edits by [[User:A]]", OSLO, tags=("mw-rollback",))
ELSEWHERE = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q2]]", {"P36": {"a": "Q2"}})
SET_BACK = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO)
ONLY_LABEL = edit("/* wbsetlabel-add:1|en */ X")
OF_P35 = {"P35": {"c": "Q1"}}
SEVERAL = edit("", OSLO | {"P35": {"c": "Q1", "d": "Q2"}})
REMOVED = "/* wbremoveclaims-remove:2| */ [[Property:P35]]: [[Q1]], "
LEADS_ON = edit("/* wbcreateredirect:0||Q20|Q21 */", written='{"entity": "Q20", "redirect": "Q21"}')
CASES: dict[str, tuple[tuple[Edit, ...], tuple[int, ...], tuple[int, ...]]] = {
    "made once": ((BEGUN, MADE, LABEL_OSLO), (101,), ()),
    "set anew": ((BEGUN, MADE, SET), (101, 102), ()),
    "removed": ((BEGUN, MADE, edit("/* wbremoveclaims-remove:1| */ [[Property:P36]]: [[Q585]]")), (101, 102), ()),
    "made with the item": ((edit("/* wbeditentity-create-item:0| */", OSLO),), (100,), ()),
    "never there": ((BEGUN, edit("/* wbsetlabel-add:1|en */ Norway", beside="Norway")), (), ()),
    "an unknown value": ((BEGUN, edit("", {"P36": {"a": "?"}}), edit("", OSLO)), (101, 102), ()),
    "two values at once": ((BEGUN, edit("/* wbeditentity-update:0| */", BOTH)), (101,), ()),
    "a new statement": ((BEGUN, MADE, edit("/* wbeditentity-update:0| */", {"P36": {"b": "Q585"}})), (101, 102), ()),
    "another order": ((BEGUN, edit("", BOTH), edit("", {"P36": dict(reversed(BOTH["P36"].items()))})), (101,), ()),
    "another property": (
        (
            BEGUN,
            MADE,
            edit("/* wbeditentity-update:0| */", OSLO | OF_P35),
            edit("/* wbsetclaimvalue:1| */ [[Property:P35]]: [[Q2]]", OSLO | {"P35": {"c": "Q2"}}),
        ),
        (101,),
        (),
    ),
    "an update that also sets it": (
        (
            BEGUN,
            MADE,
            edit("/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q26793]]", BERGEN, reference="Q1", rank="preferred"),
        ),
        (101, 102),
        (),
    ),
    "a qualifier": (
        (
            BEGUN,
            edit("", OF_P35),
            edit("/* wbsetqualifier-add:1| */ [[Property:P36]]: [[Q585]]", OF_P35, qualifier="2024"),
        ),
        (),
        (),
    ),
    "merged from": ((BEGUN, MADE, edit("/* wbmergeitems-from:0||Q21 */", BOTH)), (101, 102), ()),
    "merged into": ((BEGUN, MADE, edit("/* wbmergeitems-to:0||Q21 */"), LEADS_ON), (101, 102), ()),
    "a merge undone": ((BEGUN, MADE, LEADS_ON, edit("Undo revision 102", OSLO)), (101, 102, 103), ()),
    "removed with another": (
        (SEVERAL, edit(REMOVED + "[[Property:P36]]: [[Q585]]", {"P35": {"d": "Q2"}})),
        (100, 101),
        (),
    ),
    "hidden: user": ((BEGUN, MADE, hidden(SET, "user")), (101, 102), ()),
    "hidden: summary of a change": ((BEGUN, MADE, hidden(SET, "comment"), LABEL_BERGEN), (101, 102), ()),
    "hidden: summary of a label": ((BEGUN, MADE, hidden(LABEL_OSLO, "comment")), (101,), ()),
    "hidden: content of a change": ((BEGUN, MADE, hidden(SET, "content"), LABEL_BERGEN), (101, 102), ()),
    "hidden: content of a label": ((BEGUN, MADE, hidden(LABEL_OSLO, "content"), MADE), (101, 103), ()),
    "hidden: at the end": ((BEGUN, MADE, hidden(SET)), (101,), (102,)),
    "hidden: shown later": ((BEGUN, MADE, hidden(SET), LABEL_BERGEN), (101, 103), (102,)),
    "deleted: shown later": ((BEGUN, MADE, replace(SET, deleted=True), LABEL_BERGEN), (101, 103), (102,)),
    "hidden: several, shown later": (
        (BEGUN, MADE, hidden(SET), hidden(BACK), hidden(SET), LABEL_BERGEN),
        (101, 105),
        (102, 103, 104),
    ),
    "hidden: put back": ((BEGUN, MADE, hidden(SET), BACK, LABEL_OSLO), (101,), (102,)),
    "hidden: changed right after": ((BEGUN, MADE, hidden(SET), ELSEWHERE), (101, 103), (102,)),
    "hidden: a certain change put back": ((BEGUN, MADE, hidden(SET, "content"), BACK), (101, 102, 103), ()),
    "hidden: explained": ((BEGUN, MADE, hidden(SET, "content"), edit("", BERGEN, reference="Q1")), (101, 102), ()),
    "hidden: explained twice": (
        (BEGUN, MADE, hidden(SET, "content"), hidden(SET_BACK, "content"), edit("", OSLO, beside="X")),
        (101, 102, 103),
        (),
    ),
    "hidden: from the beginning": ((hidden(BEGUN), hidden(MADE), LABEL_OSLO), (102,), (100, 101)),
    "hidden: before the first value": ((hidden(BEGUN), ONLY_LABEL), (), (100,)),
    "hidden: all of them": ((hidden(BEGUN), hidden(MADE), hidden(SET)), (), (100, 101, 102)),
}


@pytest.mark.parametrize(("edits", "counted", "unknown"), CASES.values(), ids=CASES)
def test_edits_of_the_value_are_counted(
    edits: tuple[Edit, ...], counted: tuple[int, ...], unknown: tuple[int, ...], asking_items: AskingItems
) -> None:
    history = history_after(asking_items, *edits)
    assert (history.edits, history.hidden, history.latest) == (counted, unknown, FIRST + len(edits) - 1)


BESIDE: list[dict[str, Any]] = [{"reference": "Q1"}, {"qualifier": "2024"}, {"rank": "preferred"}, {"beside": "Norway"}]


@pytest.mark.parametrize("what", BESIDE, ids=lambda what: next(iter(what)))
@pytest.mark.parametrize("summary", ["", "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q585]]"])
def test_what_stands_beside_a_value_is_none(what: dict[str, Any], summary: str, asking_items: AskingItems) -> None:
    assert history_after(asking_items, BEGUN, MADE, edit(summary, OSLO, **what), edit(summary, OSLO)).edits == (101,)


@pytest.mark.parametrize("tag", ["mw-undo", "mw-rollback"])
def test_the_summary_of_an_undo_is_not_believed(tag: str, asking_items: AskingItems) -> None:
    told_nothing = edit("/* wbsetlabel-set:1|en */ nothing to see", OSLO, tags=(tag,))
    told_much = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO, beside="X", tags=(tag,))
    assert history_after(asking_items, BEGUN, MADE, SET, told_nothing, told_much).edits == (101, 102, 103)


# Against all contents compared one by one


def drawn(luck: random.Random, number: int) -> tuple[list[Edit], set[int]]:
    """Edits of two properties, most under the summary that Wikibase would give them, and those that changed P36."""
    stated: dict[str, dict[str, str]] = {}
    edits: list[Edit] = []
    for place in range(number):
        name, letter, value = luck.choice(["P36", "P35"]), luck.choice("abc"), f"Q{luck.randint(1, 3)}"
        stated = {key: dict(values) for key, values in stated.items()}
        before, values = stated.get(name, {}).get(letter), stated.setdefault(name, {})
        kind = luck.choice(["value", "remove", "reference", "label", "bulk"])
        summary, beside = "/* wbsetlabel-set:1|en */ X", str(place)
        if kind == "value" and before != value:
            values[letter] = value
            key = "wbsetclaimvalue:1|" if before else "wbsetclaim-create:2||1"
            summary = f"/* {key} */ [[Property:{name}]]: [[{value}]]"
        elif kind == "remove" and before:
            del values[letter]
            summary = f"/* wbremoveclaims-remove:1| */ [[Property:{name}]]: [[{before}]]"
        elif kind == "reference" and before:
            summary = f"/* wbsetclaim-update:2||1 */ [[Property:{name}]]: [[{before}]]"
        elif kind == "bulk" and edits:
            stated = {key: dict(values) for key, values in luck.choice(edits).stated.items()}
            summary = luck.choice(["/* wbeditentity-update:0| */", "Undo revision 1", "/* undo:0||1|A */"])
        edits.append(edit(summary, stated, beside=beside))
    states = [{}, *(one.stated.get("P36", {}) for one in edits)]
    return edits, {FIRST + place for place in range(number) if states[place] != states[place + 1]}


HIDES: Sequence[tuple[str, ...]] = [("content",), ("comment",), ("comment", "content"), ("user", "comment", "content")]


@pytest.mark.parametrize("seed", range(4))
def test_drawn_histories_equal_those_of_compared_contents(seed: int, asking_items: AskingItems) -> None:
    luck = random.Random(seed)
    edits, true = drawn(luck, 40)
    assert len(true) > 3
    assert set(history_after(asking_items, *edits).edits) == true
    assert set(history_after(asking_items, *(edit("", one.stated, beside=one.beside) for one in edits)).edits) == true
    veiled = [hidden(one, *luck.choice(HIDES)) if luck.random() < 0.4 else one for one in edits]
    history = history_after(asking_items, *veiled)
    assert history.count <= len(true) <= history.count + len(history.hidden)
    # What is counted and was none is the first content that can be read after one that cannot.
    after = {FIRST + place + 1 for place, one in enumerate(veiled) if "content" in one.hidden}
    assert set(history.edits) - true - after == set()


# How values are written, and contents asked for


def test_same_value_written_in_another_way_is_same(asking_items: AskingItems) -> None:
    def counted(*snaks: dict[str, Any]) -> tuple[int, ...]:
        items = [{"id": ITEM, "claims": {"P36": [{"mainsnak": one, "id": "Q20$a", "rank": "normal"}]}} for one in snaks]
        return history_after(asking_items, *(edit("", written=json.dumps(item)) for item in items)).edits

    def place(**said: Any) -> dict[str, Any]:
        value = {"type": "globecoordinate", "value": {"latitude": 1.5, **said}}
        return snak("P36", "-") | {"snaktype": "value", "datavalue": value}

    old, new = snak("P36", "Q585"), snak("P36", "Q585")
    del old["datavalue"]["value"]["id"], old["hash"]
    assert counted(old, new) == (100,)
    del new["datavalue"]["value"]["numeric-id"]
    assert counted(old, new) == (100,)
    assert counted(place(longitude=2), place(longitude=2.0, altitude=None)) == (100,)
    assert counted(place(longitude=2), place(longitude=2.5)) == (100, 101)


def test_many_contents_are_asked_for_in_parts(asking_items: AskingItems) -> None:
    edits = [edit("", {"P36": {"a": f"Q{number // 2 + 1}"}}, beside=str(number)) for number in range(50)]
    with serving(play=holding(edits)) as server:
        history = edit_history(asking_items(server), ITEM, "P36")
    assert history is not None
    assert history.edits == tuple(FIRST + number for number in range(0, 50, 2))
    assert [len(requested_contents([asked])) for asked in server.received] == [0, 20, 20, 10]


def test_edits_in_the_wrong_order_are_put_right(asking_items: AskingItems) -> None:
    play = holding([BEGUN, edit("", OSLO), edit("", BERGEN)])

    def turned(asked: ServedRequest) -> Say:
        said = json.loads(play(asked).body)
        said["query"]["pages"][0]["revisions"].reverse()
        return says(said)

    history = history_after(asking_items, play=turned)
    assert (history.edits, history.latest) == ((101, 102), 102)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([edit("", OSLO, beside="X"), edit("", BERGEN, beside="X")], ((101, 104), (102,))),  # as if it never existed
        ([edit("", OSLO), edit("", BERGEN), edit("", OSLO, beside="X")], ((101, 104, 105), (102,))),  # it is elsewhere
    ],
)
def test_a_content_that_goes_meanwhile(after: list[Edit], expected: Any, asking_items: AskingItems) -> None:
    edits = [BEGUN, MADE, edit("", BERGEN), *after]
    listed, read = holding(edits), holding([*edits[:2], hidden(edits[2], "content"), *edits[3:]])
    history = history_after(asking_items, play=lambda asked: (read if "revids" in asked.form else listed)(asked))
    assert (history.edits, history.hidden) == expected


def test_property_has_its_history_in_its_own_namespace(asking_items: AskingItems) -> None:
    with serving(play=holding([BEGUN])) as server:
        assert edit_history(asking_items(server), "P36", "P31") is None
    assert server.received[0].form["titles"] == "Property:P36"


@pytest.mark.parametrize("ids", [("Oslo", "P36"), ("Q20", "capital"), ("../Q20", "P36"), ("Q20|Q21", "P36")])
def test_an_invalid_id_is_refused_without_a_request(ids: tuple[str, str], asking_items: AskingItems) -> None:
    with serving(play=holding([BEGUN])) as server, pytest.raises(InputError, match="not a Wikidata id"):
        edit_history(asking_items(server), *ids)
    assert server.received == []


@pytest.mark.parametrize(
    "content", ["", "<html>", "[]", '{"claims": [1]}', '{"claims": {"P36": [{}]}}', "[" * 100_000, "{}"]
)
def test_an_invalid_content_names_its_revision(content: str, asking_items: AskingItems) -> None:
    with pytest.raises(ServiceError, match=r"\(http://127.*\): revision 101 cannot be read as an item of Wikidata"):
        history_after(asking_items, BEGUN, edit("", written=content))


# The recorded history

BY_HAND: Mapping[str, tuple[int, ...]] = {
    "P1": (15, 16, 17, 18, 21, 22, 23, 33),
    "P2": (20, 29, 30),
    "P3": (),
    "P4": (),
    "P5": (26,),
    "P6": (27,),
    "P7": (28,),
}
SUMMARIES: Mapping[str, Callable[[str], str]] = {
    "as they are": str,
    "free ones": lambda said: "made better",
    # As bulk edits, undo and rollback have it: the key stays away, and with it the property.
    "none that name a property": lambda said: "" if "Property:" in said else said,
}


def recorded(comment: Callable[[str], str] = str) -> Play:
    return playing(recorded_wiki("wikidata/revisions_item.json", "wikidata/revisions_item_content_all.json", comment))


@pytest.mark.parametrize("summaries", SUMMARIES)
def test_edits_of_properties_match_those_by_hand(summaries: str, asking_items: AskingItems) -> None:
    with serving(play=recorded(SUMMARIES[summaries])) as server:
        wikidata = asking_items(server)
        found = {name: edit_history(wikidata, "Q1", name) for name in BY_HAND}
        assert edit_history(wikidata, "Q999", "P1") is None
    assert {name: history.edits for name, history in found.items() if history} == BY_HAND
    assert {(history.hidden, history.latest) for history in found.values() if history} == {((), 33)}


def test_only_ambiguous_contents_are_requested(asking_items: AskingItems) -> None:
    # 9 is the item's beginning; 29 and 30 an undo, 31 and 32 a rollback, 32 and 33 a bulk edit, and 28, 30 and 32 are
    # the same to the byte. 19 names another property than P7.
    for property_id, needed in {"P7": [9, 28, 29, 31, 33], "P1": [9, 18, 19, 28, 29, 31, 33]}.items():
        with serving(play=recorded()) as server:
            wikidata = asking_items(server)
            history = edit_history(wikidata, "Q1", property_id)
            assert requested_contents(server.received) == needed
            assert history is not None
            assert history.retrieved_at.utcoffset() is not None
            assert edit_history(wikidata, "Q1", property_id) == history
            assert len(server.received) == 2
