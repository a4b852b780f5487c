"""Revisions that changed a property's value, in short histories and in a recorded history.

The recorded history, judged by hand; P3 and P4 occur only in qualifiers and references:

    revisions    property   changed   edit
    9, 13, 14    none       no        the item is created, aliases and a label are added
    15           P1         yes       Q2 is added
    16, 17, 18   P1         yes       the value is set to Q3, back to Q2, and to Q4
    19           P1         no        Q4 gets a rank, a qualifier and a reference (wbsetclaim-update)
    20           P2         yes       1,234,567 is added
    21           P1         yes       an unknown value is added
    22, 23       P1         yes       "no value" is added, and removed
    24           P2         no        a qualifier is added; the summary names P3
    25           P2         no        a reference is added
    26           P5         yes       coordinates are added
    27           P6         yes       a text is added
    28           P7         yes       an identifier is added
    29, 30       P2         yes       the value is set to 1, and the edit undone; the summary of 30 names no property
    31, 32       none       no        a label is set, and rolled back; the summary of 32 names no property
    33           P1         yes       Q3 is added by a bulk edit
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.edit_history import EditHistory, edit_history
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.data.sources.servers.wiki_world.items import item_content, snak
from tests.data.sources.servers.wiki_world.pages import Wiki
from tests.data.sources.wikimedia.conftest import OpenWikidata
from tests.data.sources.wikimedia.small_wiki import Play, playing, recorded_wiki

ITEM = "Q20"
FIRST = 100
"""The number of the first revision; the next revision is 101."""
Values = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Edit:
    """An edit of the item; the values after it are by property, and by the last letter of the statement's id.

    Attributes:
        hidden: The hidden parts of the revision: "user", "comment" or "content".
        deleted: True if the history lacks the revision.
        raw_content: The stored content, in place of an item with the values, label, qualifier and reference.
    """

    summary: str
    values: Values = field(default_factory=dict)
    label: str = ""
    qualifier: str = ""
    reference: str = ""
    hidden: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    deleted: bool = False
    raw_content: str | None = None

    @property
    def content(self) -> str:
        if self.raw_content is not None:
            return self.raw_content
        parts = {"label": self.label, "qualifier": self.qualifier, "reference": self.reference}
        return item_content(ITEM, values=self.values, **parts)


OSLO: Values = {"P36": {"a": "Q585"}}
BERGEN: Values = {"P36": {"a": "Q26793"}}
BOTH: Values = {"P36": {"a": "Q585", "b": "Q26793"}}
CREATE = Edit("/* wbeditentity-create-item:0| */")
ADD = Edit("/* wbcreateclaim-create:1| */ [[Property:P36]]: [[Q585]]", OSLO)
SET = Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q26793]]", BERGEN)


def play_edits(edits: Sequence[Edit]) -> Play:
    """Play a wiki with the item after these edits."""
    wiki = Wiki(FIRST)
    for each in edits:
        wiki.save(ITEM, each.content, comment=each.summary, tags=each.tags, hidden=each.hidden)
    revisions = wiki.pages[ITEM].revisions
    revisions[:] = [revision for revision, each in zip(revisions, edits, strict=True) if not each.deleted]
    return playing(wiki)


def history_after(open_wikidata: OpenWikidata, *edits: Edit, play: Play | None = None) -> EditHistory:
    """Return the history after these edits, of which the first is revision 100."""
    with serving(play=play or play_edits(edits)) as server:
        history = edit_history(open_wikidata(server), ITEM, "P36")
    assert history is not None
    return history


def requested_contents(requests: Sequence[ServedRequest]) -> list[int]:
    return [int(number) for request in requests for number in request.form.get("revids", "").split("|") if number]


def hidden(edit: Edit, *parts: str) -> Edit:
    """Return the edit with these parts hidden; without arguments, the summary and the content are hidden."""
    return replace(edit, hidden=parts or ("comment", "content"))


LABEL_OSLO = Edit("/* wbsetlabel-add:1|en */ X", OSLO, label="X")
LABEL_BERGEN = Edit("/* wbsetlabel-add:1|en */ X", BERGEN, label="X")
ROLLBACK = Edit("Reverted edits by [[User:A]]", OSLO, tags=("mw-rollback",))
SET_OTHER = Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q2]]", {"P36": {"a": "Q2"}})
SET_BACK = Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO)
ONLY_LABEL = Edit("/* wbsetlabel-add:1|en */ X")
VALUE_OF_P35 = {"P35": {"c": "Q1"}}
SEVERAL = Edit("", OSLO | {"P35": {"c": "Q1", "d": "Q2"}})
REMOVAL = "/* wbremoveclaims-remove:2| */ [[Property:P35]]: [[Q1]], "
REDIRECT = Edit("/* wbcreateredirect:0||Q20|Q21 */", raw_content='{"entity": "Q20", "redirect": "Q21"}')
CASES: dict[str, tuple[tuple[Edit, ...], tuple[int, ...], tuple[int, ...]]] = {
    "added once": ((CREATE, ADD, LABEL_OSLO), (101,), ()),
    "set to another value": ((CREATE, ADD, SET), (101, 102), ()),
    "removed": ((CREATE, ADD, Edit("/* wbremoveclaims-remove:1| */ [[Property:P36]]: [[Q585]]")), (101, 102), ()),
    "added at creation": ((Edit("/* wbeditentity-create-item:0| */", OSLO),), (100,), ()),
    "without a value": ((CREATE, Edit("/* wbsetlabel-add:1|en */ Norway", label="Norway")), (), ()),
    "an unknown value": ((CREATE, Edit("", {"P36": {"a": "?"}}), Edit("", OSLO)), (101, 102), ()),
    "two values at once": ((CREATE, Edit("/* wbeditentity-update:0| */", BOTH)), (101,), ()),
    "a new statement": ((CREATE, ADD, Edit("/* wbeditentity-update:0| */", {"P36": {"b": "Q585"}})), (101, 102), ()),
    "another order": ((CREATE, Edit("", BOTH), Edit("", {"P36": dict(reversed(BOTH["P36"].items()))})), (101,), ()),
    "another property": (
        (
            CREATE,
            ADD,
            Edit("/* wbeditentity-update:0| */", OSLO | VALUE_OF_P35),
            Edit("/* wbsetclaimvalue:1| */ [[Property:P35]]: [[Q2]]", OSLO | {"P35": {"c": "Q2"}}),
        ),
        (101,),
        (),
    ),
    "an update that sets the value": (
        (
            CREATE,
            ADD,
            Edit(
                "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q26793]]",
                {"P36": {"a": "Q26793 preferred"}},
                reference="Q1",
            ),
        ),
        (101, 102),
        (),
    ),
    "a qualifier": (
        (
            CREATE,
            Edit("", VALUE_OF_P35),
            Edit("/* wbsetqualifier-add:1| */ [[Property:P36]]: [[Q585]]", VALUE_OF_P35, qualifier="2024"),
        ),
        (),
        (),
    ),
    "merged from": ((CREATE, ADD, Edit("/* wbmergeitems-from:0||Q21 */", BOTH)), (101, 102), ()),
    "merged into": ((CREATE, ADD, Edit("/* wbmergeitems-to:0||Q21 */"), REDIRECT), (101, 102), ()),
    "a merge undone": ((CREATE, ADD, REDIRECT, Edit("Undo revision 102", OSLO)), (101, 102, 103), ()),
    "removed with another": (
        (SEVERAL, Edit(REMOVAL + "[[Property:P36]]: [[Q585]]", {"P35": {"d": "Q2"}})),
        (100, 101),
        (),
    ),
    "hidden: user": ((CREATE, ADD, hidden(SET, "user")), (101, 102), ()),
    "hidden: summary of a change": ((CREATE, ADD, hidden(SET, "comment"), LABEL_BERGEN), (101, 102), ()),
    "hidden: summary of a label": ((CREATE, ADD, hidden(LABEL_OSLO, "comment")), (101,), ()),
    "hidden: content of a change": ((CREATE, ADD, hidden(SET, "content"), LABEL_BERGEN), (101, 102), ()),
    "hidden: content of a label": ((CREATE, ADD, hidden(LABEL_OSLO, "content"), ADD), (101, 103), ()),
    "hidden: at the end": ((CREATE, ADD, hidden(SET)), (101,), (102,)),
    "hidden: shown later": ((CREATE, ADD, hidden(SET), LABEL_BERGEN), (101, 103), (102,)),
    "deleted: shown later": ((CREATE, ADD, replace(SET, deleted=True), LABEL_BERGEN), (101, 103), (102,)),
    "hidden: several, shown later": (
        (CREATE, ADD, hidden(SET), hidden(ROLLBACK), hidden(SET), LABEL_BERGEN),
        (101, 105),
        (102, 103, 104),
    ),
    "hidden: rolled back": ((CREATE, ADD, hidden(SET), ROLLBACK, LABEL_OSLO), (101,), (102,)),
    "hidden: changed right after": ((CREATE, ADD, hidden(SET), SET_OTHER), (101, 103), (102,)),
    "hidden: content of a change, rolled back": ((CREATE, ADD, hidden(SET, "content"), ROLLBACK), (101, 102, 103), ()),
    "hidden: content of a change that explains the next content": (
        (CREATE, ADD, hidden(SET, "content"), Edit("", BERGEN, reference="Q1")),
        (101, 102),
        (),
    ),
    "hidden: contents of two changes that explain the next content": (
        (CREATE, ADD, hidden(SET, "content"), hidden(SET_BACK, "content"), Edit("", OSLO, label="X")),
        (101, 102, 103),
        (),
    ),
    "hidden: from the beginning": ((hidden(CREATE), hidden(ADD), LABEL_OSLO), (102,), (100, 101)),
    "hidden: before the first value": ((hidden(CREATE), ONLY_LABEL), (), (100,)),
    "hidden: all revisions": ((hidden(CREATE), hidden(ADD), hidden(SET)), (), (100, 101, 102)),
}
"""The edits, the revisions that changed P36, and the revisions that may have changed P36, by case."""


@pytest.mark.parametrize(("edits", "counted", "unknown"), CASES.values(), ids=CASES)
def test_edits_of_the_value_are_counted(
    edits: tuple[Edit, ...], counted: tuple[int, ...], unknown: tuple[int, ...], open_wikidata: OpenWikidata
) -> None:
    history = history_after(open_wikidata, *edits)
    assert (history.edits, history.hidden, history.latest) == (counted, unknown, FIRST + len(edits) - 1)


OTHER_PARTS: list[dict[str, Any]] = [
    {"reference": "Q1"},
    {"qualifier": "2024"},
    {"values": {"P36": {"a": "Q585 preferred"}}},
    {"label": "Norway"},
]


@pytest.mark.parametrize("parts", OTHER_PARTS, ids=lambda parts: next(iter(parts)))
@pytest.mark.parametrize("summary", ["", "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q585]]"])
def test_edit_of_other_parts_is_ignored(parts: dict[str, Any], summary: str, open_wikidata: OpenWikidata) -> None:
    assert history_after(
        open_wikidata, CREATE, ADD, Edit(summary, **{"values": OSLO, **parts}), Edit(summary, OSLO)
    ).edits == (101,)


@pytest.mark.parametrize("tag", ["mw-undo", "mw-rollback"])
def test_summary_of_an_undo_is_ignored(tag: str, open_wikidata: OpenWikidata) -> None:
    names_label = Edit("/* wbsetlabel-set:1|en */ nothing to see", OSLO, tags=(tag,))
    names_value = Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", OSLO, label="X", tags=(tag,))
    assert history_after(open_wikidata, CREATE, ADD, SET, names_label, names_value).edits == (101, 102, 103)


def random_edits(generator: random.Random, count: int) -> tuple[list[Edit], set[int]]:
    """Return edits of two properties, most of them with Wikibase's summaries, and the revisions that changed P36."""
    item: dict[str, dict[str, str]] = {}
    edits: list[Edit] = []
    for index in range(count):
        name, letter, value = generator.choice(["P36", "P35"]), generator.choice("abc"), f"Q{generator.randint(1, 3)}"
        item = {key: dict(statements) for key, statements in item.items()}
        before, statements = item.get(name, {}).get(letter), item.setdefault(name, {})
        kind = generator.choice(["value", "remove", "reference", "label", "bulk"])
        summary, label = "/* wbsetlabel-set:1|en */ X", str(index)
        if kind == "value" and before != value:
            statements[letter] = value
            key = "wbsetclaimvalue:1|" if before else "wbsetclaim-create:2||1"
            summary = f"/* {key} */ [[Property:{name}]]: [[{value}]]"
        elif kind == "remove" and before:
            del statements[letter]
            summary = f"/* wbremoveclaims-remove:1| */ [[Property:{name}]]: [[{before}]]"
        elif kind == "reference" and before:
            summary = f"/* wbsetclaim-update:2||1 */ [[Property:{name}]]: [[{before}]]"
        elif kind == "bulk" and edits:
            item = {key: dict(statements) for key, statements in generator.choice(edits).values.items()}
            summary = generator.choice(["/* wbeditentity-update:0| */", "Undo revision 1", "/* undo:0||1|A */"])
        edits.append(Edit(summary, item, label=label))
    states = [{}, *(each.values.get("P36", {}) for each in edits)]
    return edits, {FIRST + index for index in range(count) if states[index] != states[index + 1]}


PARTS: Sequence[tuple[str, ...]] = [("content",), ("comment",), ("comment", "content"), ("user", "comment", "content")]


@pytest.mark.parametrize("seed", range(4))
def test_edits_of_random_histories_are_found(seed: int, open_wikidata: OpenWikidata) -> None:
    generator = random.Random(seed)
    edits, changes = random_edits(generator, 40)
    assert len(changes) > 3
    assert set(history_after(open_wikidata, *edits).edits) == changes
    without_summaries = [Edit("", each.values, label=each.label) for each in edits]
    assert set(history_after(open_wikidata, *without_summaries).edits) == changes
    with_hidden = [hidden(each, *generator.choice(PARTS)) if generator.random() < 0.4 else each for each in edits]
    history = history_after(open_wikidata, *with_hidden)
    assert history.count <= len(changes) <= history.count + len(history.hidden)
    # Only the revision after a hidden content may be counted in error.
    after_hidden = {FIRST + index + 1 for index, each in enumerate(with_hidden) if "content" in each.hidden}
    assert set(history.edits) - changes - after_hidden == set()


def test_other_form_of_a_value_is_no_change(open_wikidata: OpenWikidata) -> None:
    def edits_of(*snaks: dict[str, Any]) -> tuple[int, ...]:
        items = [
            {"id": ITEM, "claims": {"P36": [{"mainsnak": each, "id": "Q20$a", "rank": "normal"}]}} for each in snaks
        ]
        return history_after(open_wikidata, *(Edit("", raw_content=json.dumps(item)) for item in items)).edits

    def coordinates(**fields: Any) -> dict[str, Any]:
        value = {"type": "globecoordinate", "value": {"latitude": 1.5, **fields}}
        return snak("P36", "-") | {"snaktype": "value", "datavalue": value}

    old, new = snak("P36", "Q585"), snak("P36", "Q585")
    del old["datavalue"]["value"]["id"], old["hash"]
    assert edits_of(old, new) == (100,)
    del new["datavalue"]["value"]["numeric-id"]
    assert edits_of(old, new) == (100,)
    assert edits_of(coordinates(longitude=2), coordinates(longitude=2.0, altitude=None)) == (100,)
    assert edits_of(coordinates(longitude=2), coordinates(longitude=2.5)) == (100, 101)


def test_many_contents_are_requested_in_parts(open_wikidata: OpenWikidata) -> None:
    edits = [Edit("", {"P36": {"a": f"Q{number // 2 + 1}"}}, label=str(number)) for number in range(50)]
    with serving(play=play_edits(edits)) as server:
        history = edit_history(open_wikidata(server), ITEM, "P36")
    assert history is not None
    assert history.edits == tuple(FIRST + number for number in range(0, 50, 2))
    assert [len(requested_contents([request])) for request in server.received] == [0, 20, 20, 10]


def test_edits_in_wrong_order_are_sorted(open_wikidata: OpenWikidata) -> None:
    play = play_edits([CREATE, Edit("", OSLO), Edit("", BERGEN)])

    def play_reversed(request: ServedRequest) -> ServedResponse:
        content = json.loads(play(request).body)
        content["query"]["pages"][0]["revisions"].reverse()
        return json_response(content)

    history = history_after(open_wikidata, play=play_reversed)
    assert (history.edits, history.latest) == ((101, 102), 102)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        # 104 has a label, so its content differs from the hidden content of 102.
        ([Edit("", OSLO, label="X"), Edit("", BERGEN, label="X")], ((101, 104), (102,))),
        # 104 has the content that is hidden in 102; the content is then requested from 104.
        ([Edit("", OSLO), Edit("", BERGEN), Edit("", OSLO, label="X")], ((101, 104, 105), (102,))),
    ],
)
def test_content_hidden_after_the_listing_is_unknown(
    after: list[Edit], expected: Any, open_wikidata: OpenWikidata
) -> None:
    edits = [CREATE, ADD, Edit("", BERGEN), *after]
    play_list, play_contents = play_edits(edits), play_edits([*edits[:2], hidden(edits[2], "content"), *edits[3:]])

    def play(request: ServedRequest) -> ServedResponse:
        return (play_contents if "revids" in request.form else play_list)(request)

    history = history_after(open_wikidata, play=play)
    assert (history.edits, history.hidden) == expected


def test_history_of_a_property_is_in_its_namespace(open_wikidata: OpenWikidata) -> None:
    with serving(play=play_edits([CREATE])) as server:
        assert edit_history(open_wikidata(server), "P36", "P31") is None
    assert server.received[0].form["titles"] == "Property:P36"


@pytest.mark.parametrize("ids", [("Oslo", "P36"), ("Q20", "capital"), ("../Q20", "P36"), ("Q20|Q21", "P36")])
def test_an_invalid_id_is_refused_without_a_request(ids: tuple[str, str], open_wikidata: OpenWikidata) -> None:
    with serving(play=play_edits([CREATE])) as server, pytest.raises(InputError, match="not a Wikidata id"):
        edit_history(open_wikidata(server), *ids)
    assert server.received == []


@pytest.mark.parametrize(
    "content", ["", "<html>", "[]", '{"claims": [1]}', '{"claims": {"P36": [{}]}}', "[" * 100_000, "{}"]
)
def test_an_invalid_content_names_its_revision(content: str, open_wikidata: OpenWikidata) -> None:
    with pytest.raises(ServiceError, match=r"\(http://127.*\): revision 101 cannot be read as an item of Wikidata"):
        history_after(open_wikidata, CREATE, Edit("", raw_content=content))


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
    "recorded": str,
    "free text": lambda summary: "made better",
    # Bulk edits, undos and rollbacks have such summaries.
    "without properties": lambda summary: "" if "Property:" in summary else summary,
}


def play_recorded(change_summary: Callable[[str], str] = str) -> Play:
    wiki = recorded_wiki("wikidata/revisions_item.json", "wikidata/revisions_item_content_all.json")
    for page in wiki.pages.values():
        for revision in page.revisions:
            revision["comment"] = change_summary(revision["comment"])
    return playing(wiki)


@pytest.mark.parametrize("summaries", SUMMARIES)
def test_edits_of_properties_match_the_table(summaries: str, open_wikidata: OpenWikidata) -> None:
    with serving(play=play_recorded(SUMMARIES[summaries])) as server:
        wikidata = open_wikidata(server)
        histories = {name: edit_history(wikidata, "Q1", name) for name in BY_HAND}
        assert edit_history(wikidata, "Q999", "P1") is None
    assert {name: history.edits for name, history in histories.items() if history} == BY_HAND
    assert {(history.hidden, history.latest) for history in histories.values() if history} == {((), 33)}


def test_only_contents_around_ambiguous_edits_are_requested(open_wikidata: OpenWikidata) -> None:
    # The first content (9) is needed. The undo 30, the rollback 32, the bulk edit 33 and, for P1, the update 19 need
    # the contents before and after the edit. The contents of 28, 30 and 32 are equal, so only 28 is requested.
    for property_id, numbers in {"P7": [9, 28, 29, 31, 33], "P1": [9, 18, 19, 28, 29, 31, 33]}.items():
        with serving(play=play_recorded()) as server:
            wikidata = open_wikidata(server)
            history = edit_history(wikidata, "Q1", property_id)
            assert requested_contents(server.received) == numbers
            assert history is not None
            assert history.retrieved_at.utcoffset() is not None
            assert edit_history(wikidata, "Q1", property_id) == history
            assert len(server.received) == 2
