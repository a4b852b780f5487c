"""Small histories of an item's capital (P36), one case each. Revisions are numbered from 100."""

import random
from typing import Any

import pytest

from tests.data.sources.wikimedia.wikidata.conftest import Asking, counted
from tests.data.sources.wikimedia.wikidata.item_wiki import BEGUN, BERGEN, BOTH, FIRST, MADE, OSLO, SET, Edit, edit

LABEL = edit("/* wbsetlabel-add:1|en */ Norway", OSLO, beside="Norway")
OF_P35 = {"P35": {"c": "Q1"}}
SEVERAL = edit("", OSLO | {"P35": {"c": "Q1", "d": "Q2"}})
REMOVED = "/* wbremoveclaims-remove:2| */ [[Property:P35]]: [[Q1]], "
LEADS_ON = edit("/* wbcreateredirect:0||Q20|Q21 */", written='{"entity": "Q20", "redirect": "Q21"}')
CASES: dict[str, tuple[tuple[Edit, ...], tuple[int, ...]]] = {
    "made once": ((BEGUN, MADE, LABEL), (101,)),
    "set anew": ((BEGUN, MADE, SET), (101, 102)),
    "removed": ((BEGUN, MADE, edit("/* wbremoveclaims-remove:1| */ [[Property:P36]]: [[Q585]]")), (101, 102)),
    "made with the item": ((edit("/* wbeditentity-create-item:0| */", OSLO),), (100,)),
    "never there": ((BEGUN, edit("/* wbsetlabel-add:1|en */ Norway", beside="Norway")), ()),
    "an unknown value": ((BEGUN, edit("", {"P36": {"a": "?"}}), edit("", OSLO)), (101, 102)),
    "two values at once": ((BEGUN, edit("/* wbeditentity-update:0| */", BOTH)), (101,)),
    "a new statement": ((BEGUN, MADE, edit("/* wbeditentity-update:0| */", {"P36": {"b": "Q585"}})), (101, 102)),
    "another order": ((BEGUN, edit("", BOTH), edit("", {"P36": dict(reversed(BOTH["P36"].items()))})), (101,)),
    "another property": (
        (
            BEGUN, MADE, edit("/* wbeditentity-update:0| */", OSLO | OF_P35),
            edit("/* wbsetclaimvalue:1| */ [[Property:P35]]: [[Q2]]", OSLO | {"P35": {"c": "Q2"}}),
        ), (101,),
    ),
    "an update that also sets it": (
        (
            BEGUN, MADE,
            edit("/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q26793]]", BERGEN, reference="Q1", rank="preferred"),
        ), (101, 102),
    ),
    "a qualifier": (
        (
            BEGUN, edit("", OF_P35),
            edit("/* wbsetqualifier-add:1| */ [[Property:P36]]: [[Q585]]", OF_P35, qualifier="2024"),
        ), (),
    ),
    "merged from": ((BEGUN, MADE, edit("/* wbmergeitems-from:0||Q21 */", BOTH)), (101, 102)),
    "merged into": ((BEGUN, MADE, edit("/* wbmergeitems-to:0||Q21 */"), LEADS_ON), (101, 102)),
    "a merge undone": ((BEGUN, MADE, LEADS_ON, edit("Undo revision 102", OSLO)), (101, 102, 103)),
    "removed with another": (
        (SEVERAL, edit(REMOVED + "[[Property:P36]]: [[Q585]]", {"P35": {"d": "Q2"}})), (100, 101),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("edits", "revisions"), CASES.values(), ids=CASES)
def test_edits_of_the_value_are_counted(edits: tuple[Edit, ...], revisions: tuple[int, ...], asking: Asking) -> None:
    assert counted(asking, *edits) == revisions


# What does not: under a summary that says so, and under one that does not

BESIDE: list[dict[str, Any]] = [{"reference": "Q1"}, {"qualifier": "2024"}, {"rank": "preferred"}, {"beside": "Norway"}]


@pytest.mark.parametrize("what", BESIDE, ids=lambda what: next(iter(what)))
@pytest.mark.parametrize("summary", ["", "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q585]]"])
def test_what_stands_beside_a_value_is_none(what: dict[str, Any], summary: str, asking: Asking) -> None:
    assert counted(asking, BEGUN, MADE, edit(summary, OSLO, **what), edit(summary, OSLO)) == (101,)


@pytest.mark.parametrize("tag", ["mw-undo", "mw-rollback"])
def test_the_summary_of_an_undo_is_not_believed(tag: str, asking: Asking) -> None:
    hidden = edit("/* wbsetlabel-set:1|en */ nothing to see", OSLO, tags=(tag,))
    shown = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO, beside="X", tags=(tag,))
    assert counted(asking, BEGUN, MADE, SET, hidden, shown) == (101, 102, 103)


# Against all contents compared one by one


@pytest.mark.parametrize("seed", range(4))
def test_drawn_histories_are_told_as_if_every_content_were_compared(seed: int, asking: Asking) -> None:
    edits = drawn(random.Random(seed), 40)
    states = [{}, *(one.stated.get("P36", {}) for one in edits)]
    true = tuple(FIRST + place for place in range(len(edits)) if states[place] != states[place + 1])
    assert len(true) > 3
    assert counted(asking, *edits) == true
    assert counted(asking, *(edit("", one.stated, beside=one.beside) for one in edits)) == true


def drawn(luck: random.Random, number: int) -> list[Edit]:
    """Edits of two properties, most under the summary that Wikibase would give them."""
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
    return edits
