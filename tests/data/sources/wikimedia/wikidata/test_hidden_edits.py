"""Revisions that nobody may read: what is judged without them, across them, and what is told apart."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from swaymeter.data.sources.wikimedia.edit_history import EditHistory, edit_history
from tests.data.sources.servers.faults import serving
from tests.data.sources.wikimedia.wikidata.conftest import Asking, told
from tests.data.sources.wikimedia.wikidata.item_wiki import (
    BEGUN,
    BERGEN,
    FIRST,
    ITEM,
    MADE,
    OSLO,
    SET,
    Edit,
    edit,
    holding,
)
from tests.data.sources.wikimedia.wikidata.test_edit_history import drawn

LABEL_OSLO = edit("/* wbsetlabel-add:1|en */ X", OSLO, beside="X")
LABEL_BERGEN = edit("/* wbsetlabel-add:1|en */ X", BERGEN, beside="X")
BACK = edit("Reverted edits by [[User:A]]", OSLO, tags=("mw-rollback",))


def hidden(one: Edit, *what: str) -> Edit:
    return replace(one, hidden=what or ("comment", "content"))


def judged(asking: Asking, *edits: Edit) -> tuple[tuple[int, ...], tuple[int, ...]]:
    history = told(asking, *edits)
    return history.edits, history.hidden


ELSEWHERE = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q2]]", {"P36": {"a": "Q2"}})
SET_BACK = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO)
ONLY_LABEL = edit("/* wbsetlabel-add:1|en */ X")
CASES: dict[str, tuple[tuple[Edit, ...], tuple[int, ...], tuple[int, ...]]] = {
    "user": ((BEGUN, MADE, hidden(SET, "user")), (101, 102), ()),
    "summary of a change": ((BEGUN, MADE, hidden(SET, "comment"), LABEL_BERGEN), (101, 102), ()),
    "summary of a label": ((BEGUN, MADE, hidden(LABEL_OSLO, "comment")), (101,), ()),
    "content of a change": ((BEGUN, MADE, hidden(SET, "content"), LABEL_BERGEN), (101, 102), ()),
    "content of a label": ((BEGUN, MADE, hidden(LABEL_OSLO, "content"), MADE), (101, 103), ()),
    "shown later": ((BEGUN, MADE, hidden(SET), LABEL_BERGEN), (101, 103), (102,)),
    "several, shown later": (
        (BEGUN, MADE, hidden(SET), hidden(BACK), hidden(SET), LABEL_BERGEN), (101, 105), (102, 103, 104),
    ),
    "put back": ((BEGUN, MADE, hidden(SET), BACK, LABEL_OSLO), (101,), (102,)),
    "changed right after": ((BEGUN, MADE, hidden(SET), ELSEWHERE), (101, 103), (102,)),
    "a certain change put back": ((BEGUN, MADE, hidden(SET, "content"), BACK), (101, 102, 103), ()),
    "explained": ((BEGUN, MADE, hidden(SET, "content"), edit("", BERGEN, reference="Q1")), (101, 102), ()),
    "explained twice": (
        (BEGUN, MADE, hidden(SET, "content"), hidden(SET_BACK, "content"), edit("", OSLO, beside="X")),
        (101, 102, 103), (),
    ),
    "from the beginning": ((hidden(BEGUN), hidden(MADE), LABEL_OSLO), (102,), (100, 101)),
    "before the first value": ((hidden(BEGUN), ONLY_LABEL), (), (100,)),
    "all of them": ((hidden(BEGUN), hidden(MADE), hidden(SET)), (), (100, 101, 102)),
}  # fmt: skip


@pytest.mark.parametrize(("edits", "counted", "unknown"), CASES.values(), ids=CASES)
def test_hidden_edits_are_judged_by_what_can_be_read(
    edits: tuple[Edit, ...], counted: tuple[int, ...], unknown: tuple[int, ...], asking: Asking
) -> None:
    assert judged(asking, *edits) == (counted, unknown)


def test_a_hidden_edit_at_the_end_is_only_told_apart(asking: Asking) -> None:
    history = told(asking, BEGUN, MADE, hidden(SET))
    assert (history.edits, history.hidden, history.latest) == ((101,), (102,), 102)


def test_a_content_deleted_meanwhile_never_existed(asking: Asking) -> None:
    edits = [BEGUN, MADE, edit("", BERGEN), edit("", OSLO, beside="X"), edit("", BERGEN, beside="X")]
    assert of_deleted(edits, asking) == ((101, 104), (102,))


def test_the_same_content_elsewhere_stands_in_for_one_that_goes(asking: Asking) -> None:
    edits = [BEGUN, MADE, edit("", BERGEN), edit("", OSLO), edit("", BERGEN), edit("", OSLO, beside="X")]
    assert of_deleted(edits, asking) == ((101, 104, 105), (102,))


def of_deleted(edits: Sequence[Edit], asking: Asking) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is counted where the third content is hidden after the history was listed."""
    before, after = holding(edits), holding([*edits[:2], replace(edits[2], hidden=("content",)), *edits[3:]])
    with serving(play=lambda asked: (after if "revids" in asked.form else before)(asked)) as server:
        history = edit_history(asking(server), ITEM, "P36")
    assert history is not None
    return history.edits, history.hidden


@pytest.mark.parametrize("seed", range(4))
def test_no_more_is_counted_than_there_was(seed: int, asking: Asking) -> None:
    luck = random.Random(seed)
    edits = drawn(luck, 30)
    veiled = [hidden(one, *luck.choice(HIDES)) if luck.random() < 0.4 else one for one in edits]
    states = [{}, *(one.stated.get("P36", {}) for one in edits)]
    true = {FIRST + place for place in range(len(edits)) if states[place] != states[place + 1]}
    history = told(asking, *veiled)
    assert history.count <= len(true)
    assert len(true) <= history.count + len(history.hidden)
    assert _unexplained(history, true, veiled) == set()


HIDES: Sequence[tuple[str, ...]] = [("content",), ("comment",), ("comment", "content"), ("user", "comment", "content")]


def _unexplained(history: EditHistory, true: set[int], edits: Sequence[Edit]) -> set[int]:
    """What is counted and was none, besides the first content that can be read after one that cannot."""
    after = {FIRST + place + 1 for place, one in enumerate(edits) if "content" in one.hidden}
    return set(history.edits) - true - after
