"""Small histories of an item's capital (P36), one case each. Revisions are numbered from 100."""

import random
from typing import Any

import pytest

from tests.data.sources.wikimedia.wikidata.conftest import Asking
from tests.data.sources.wikimedia.wikidata.item_wiki import BEGUN, BERGEN, BOTH, FIRST, MADE, OSLO, SET, Edit, edit
from tests.data.sources.wikimedia.wikidata.telling import counted

# What counts


def test_a_value_that_was_made_once_and_never_touched_is_static(asking: Asking) -> None:
    assert counted(asking, BEGUN, MADE, edit("/* wbsetlabel-add:1|en */ Norway", OSLO, beside="Norway")) == (101,)


def test_a_value_that_was_set_anew_is_temporal(asking: Asking) -> None:
    assert counted(asking, BEGUN, MADE, SET) == (101, 102)


def test_a_value_that_was_removed_counts(asking: Asking) -> None:
    gone = edit("/* wbremoveclaims-remove:1| */ [[Property:P36]]: [[Q585]]")
    assert counted(asking, BEGUN, MADE, gone) == (101, 102)


def test_an_item_that_is_made_with_its_value_counts_its_making(asking: Asking) -> None:
    assert counted(asking, edit("/* wbeditentity-create-item:0| */", OSLO)) == (100,)


def test_an_item_without_the_property_has_no_edits(asking: Asking) -> None:
    assert counted(asking, BEGUN, edit("/* wbsetlabel-add:1|en */ Norway", beside="Norway")) == ()


@pytest.mark.parametrize("value", ["?", "-", "a text"])
def test_an_unknown_value_no_value_and_a_text_are_values(value: str, asking: Asking) -> None:
    assert counted(asking, BEGUN, edit("", {"P36": {"a": value}}), edit("", OSLO)) == (101, 102)


def test_an_edit_of_two_values_is_one_revision(asking: Asking) -> None:
    assert counted(asking, BEGUN, edit("/* wbeditentity-update:0| */", BOTH)) == (101,)


def test_a_value_in_a_new_statement_is_a_new_value(asking: Asking) -> None:
    anew = edit("/* wbeditentity-update:0| */", {"P36": {"b": "Q585"}})
    assert counted(asking, BEGUN, MADE, anew) == (101, 102)


def test_the_order_of_statements_is_no_value(asking: Asking) -> None:
    turned = edit("", {"P36": dict(reversed(BOTH["P36"].items()))})
    assert counted(asking, BEGUN, edit("", BOTH), turned) == (101,)


def test_a_value_of_another_property_is_another_matter(asking: Asking) -> None:
    other = edit("/* wbeditentity-update:0| */", OSLO | {"P35": {"c": "Q1"}})
    named = edit("/* wbsetclaimvalue:1| */ [[Property:P35]]: [[Q2]]", OSLO | {"P35": {"c": "Q2"}})
    assert counted(asking, BEGUN, MADE, other, named) == (101,)


# What does not: under a summary that says so, and under one that does not

BESIDE: list[dict[str, Any]] = [{"reference": "Q1"}, {"qualifier": "2024"}, {"rank": "preferred"}, {"beside": "Norway"}]


@pytest.mark.parametrize("what", BESIDE, ids=lambda what: next(iter(what)))
@pytest.mark.parametrize(
    "summary", ["", "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q585]]", "/* undo:0||1|A */"]
)
def test_references_qualifiers_ranks_and_labels_are_no_values(
    what: dict[str, Any], summary: str, asking: Asking
) -> None:
    assert counted(asking, BEGUN, MADE, edit(summary, OSLO, **what), edit(summary, OSLO)) == (101,)


def test_an_update_that_also_sets_the_value_counts(asking: Asking) -> None:
    both = edit("/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q26793]]", BERGEN, reference="Q1", rank="preferred")
    assert counted(asking, BEGUN, MADE, both) == (101, 102)


def test_a_qualifier_that_uses_the_property_is_no_value_of_it(asking: Asking) -> None:
    named = edit("/* wbsetqualifier-add:1| */ [[Property:P36]]: [[Q585]]", {"P35": {"c": "Q1"}}, qualifier="2024")
    assert counted(asking, BEGUN, edit("", {"P35": {"c": "Q1"}}), named) == ()


# Undo, rollback, merges


@pytest.mark.parametrize(
    "summary", ["Undo revision 102", "Reverted edits by [[User:A]]", "/* restore:0||101|A */", "no!"]
)
def test_putting_a_value_back_is_a_change_of_it(summary: str, asking: Asking) -> None:
    assert counted(asking, BEGUN, MADE, SET, edit(summary, OSLO, tags=("mw-manual-revert",))) == (101, 102, 103)


def test_undoing_a_label_is_none(asking: Asking) -> None:
    named = edit("/* wbsetlabel-set:1|en */ X", OSLO, beside="X")
    assert counted(asking, BEGUN, MADE, named, edit("Undo revision 102", OSLO, tags=("mw-undo",))) == (101,)


@pytest.mark.parametrize("tag", ["mw-undo", "mw-rollback"])
def test_the_summary_of_an_undo_is_not_believed_even_where_it_reads_like_a_key(tag: str, asking: Asking) -> None:
    hidden = edit("/* wbsetlabel-set:1|en */ nothing to see", OSLO, tags=(tag,))
    shown = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO, beside="X", tags=(tag,))
    assert counted(asking, BEGUN, MADE, SET, hidden, shown) == (101, 102, 103)


def test_what_a_merge_brings_counts_and_what_it_takes_away(asking: Asking) -> None:
    merged = edit("/* wbmergeitems-from:0||Q21 */", BOTH)
    assert counted(asking, BEGUN, MADE, merged) == (101, 102)
    emptied = edit("/* wbmergeitems-to:0||Q21 */")
    leads_on = edit("/* wbcreateredirect:0||Q20|Q21 */", written='{"entity": "Q20", "redirect": "Q21"}')
    assert counted(asking, BEGUN, MADE, emptied, leads_on) == (101, 102)
    assert counted(asking, BEGUN, MADE, leads_on, edit("Undo revision 102", OSLO)) == (101, 102, 103)


def test_removing_several_values_at_once_is_looked_into_where_another_is_named(asking: Asking) -> None:
    begun = edit("", OSLO | {"P35": {"c": "Q1", "d": "Q2"}})
    summary = "/* wbremoveclaims-remove:2| */ [[Property:P35]]: [[Q1]], "
    ours = edit(summary + "[[Property:P36]]: [[Q585]]", {"P35": {"d": "Q2"}})
    theirs = edit(summary + "[[Property:P35]]: [[Q2]]", OSLO)
    assert counted(asking, begun, ours) == (100, 101)
    assert counted(asking, begun, theirs) == (100,)


# Against all contents compared one by one


@pytest.mark.parametrize("seed", range(12))
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
