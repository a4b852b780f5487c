import json
from collections.abc import Callable
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.wikidata import BATCH, Item, statements_of
from tests.data.sources.servers.faults import ANSWERS, Say, ServedRequest, recorded, says, serving
from tests.data.sources.wikimedia.conftest import AskingItems
from tests.data.sources.wikimedia.small_wiki import page_in, snak

HOSTILE = ['"quoted"', "{0} {slot}", "two\nlines", "\u202eright to left", "<script>", "../../etc/passwd", "[ENTITY]"]


def entity(asked: str, **other: Any) -> dict[str, Any]:
    """An item as a wiki answers for it, empty but for what is given."""
    empty = {"lastrevid": 1, "labels": {}, "descriptions": {}, "aliases": {}, "claims": {}, "sitelinks": {}}
    return {"type": "item", "id": asked, **empty, **other}


def english(text: str) -> dict[str, Any]:
    return {"en": {"language": "en", "value": text}}


def answering(*entities: dict[str, Any]) -> Callable[[ServedRequest], Say]:
    """Plays a wiki with these items and no other."""
    known = {said["id"]: said for said in entities}

    def play(asked: ServedRequest) -> Say:
        wanted = asked.form["ids"].split("|")
        return says({"entities": {one: known.get(one, {"id": one, "missing": ""}) for one in wanted}, "success": 1})

    return play


def only(asking_items: AskingItems, said: dict[str, Any]) -> Item:
    with serving(play=answering(said)) as server:
        (item,) = asking_items(server).items([said["id"]]).values()
    return item


def test_an_item_has_names_revision_and_statements(asking_items: AskingItems) -> None:
    with serving(recorded("wikidata/wbgetentities.json")) as server:
        found = asking_items(server).items(["Q1", "P1"])
    item, head = found["Q1"], found["P1"]
    assert (item.item_id, item.revision, item.label, item.description, item.aliases, item.wikipedia) == (
        "Q1",
        33,
        "Utopia",
        "Utopia of the loopback world",
        ("Utopian Republic", "Utopialand"),
        None,
    )
    assert item.retrieved_at.utcoffset() is not None
    assert (head.item_id, head.label, head.statements) == ("P1", "head of government", {})
    (asked,) = server.received
    assert (asked.form["ids"], asked.form["maxlag"]) == ("Q1|P1", "5")
    assert [(one.item_id, one.rank) for one in item.statements["P1"]] == [
        ("Q4", "preferred"),
        (None, "normal"),
        ("Q3", "deprecated"),
    ]
    assert item.statements["P1"][1].value == '["somevalue",null]'
    (people,) = item.statements["P2"]
    assert people.value == '["value",{"type":"quantity","value":{"amount":"+1234567","unit":"1"}}]'
    assert people.statement_id == "Q1$11111111-2222-4333-8444-555555555555"
    assert item.values("P1") == ("Q4",)
    assert item.values("P1", deprecated=True) == ("Q4", "Q3")
    assert item.values("P2") == item.values("P9") == ()
    versions = page_in("wikidata/revisions_item_content_all.json")["revisions"]
    first, *_, last = (said["slots"]["main"]["content"] for said in versions)
    assert statements_of(json.loads(last)) == item.statements
    assert '"claims":[]' in first
    assert statements_of(json.loads(first)) == {}


def test_a_merged_item_is_found_under_both_ids(asking_items: AskingItems) -> None:
    said = json.loads((ANSWERS / "wikidata" / "wbgetentities_redirect.json").read_text())
    said["entities"]["Q5"] = entity("Q2") | said["entities"]["Q5"]
    with serving(says(said)) as server:
        found = asking_items(server).items(["Q5"])
    assert {asked: (item.item_id, item.label) for asked, item in found.items()} == {"Q5": ("Q2", "Ada Example")}


def test_an_item_that_is_not_there_is_absent(asking_items: AskingItems) -> None:
    said = json.loads((ANSWERS / "wikidata" / "wbgetentities_missing.json").read_text())
    said["entities"]["Q1"] = entity("Q1") | said["entities"]["Q1"]
    with serving(says(said)) as server:
        assert asking_items(server).items(["Q1", "Q999"]).keys() == {"Q1"}


def test_items_are_requested_fifty_at_a_time(asking_items: AskingItems) -> None:
    wanted = [f"Q{number}" for number in range(1, 121)]
    with serving(play=answering(*(entity(one) for one in wanted))) as server:
        found = asking_items(server).items([*wanted, "Q1", "Q60"])
    assert list(found) == wanted
    assert [len(asked.form["ids"].split("|")) for asked in server.received] == [BATCH, BATCH, 20]


@pytest.mark.parametrize("asked", ["", "Q0", "L1", "Q1|Q2", "Q1\n"])
def test_an_invalid_id_is_refused_without_a_request(asked: str, asking_items: AskingItems) -> None:
    with serving(play=answering()) as server, pytest.raises(InputError, match="not a Wikidata id"):
        asking_items(server).items(["Q1", asked])
    assert server.received == []


def test_the_label_for_all_languages_stands_in(asking_items: AskingItems) -> None:
    everywhere = {"mul": {"language": "mul", "value": "Ada Lovelace"}}
    assert only(asking_items, entity("Q7259", labels=everywhere)).label == "Ada Lovelace"
    assert only(asking_items, entity("Q7259", labels=everywhere | english("Ada King"))).label == "Ada King"
    assert only(asking_items, entity("Q7259")).label is None


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_letter_by_letter(name: str, asking_items: AskingItems) -> None:
    links = {"enwiki": {"title": name}}
    aliases = {"en": [{"value": name}]}
    names = english(name)
    item = only(asking_items, entity("Q7259", labels=names, descriptions=names, aliases=aliases, sitelinks=links))
    assert (item.label, item.description, item.aliases, item.wikipedia) == (name, name, (name,), name)


@pytest.mark.parametrize(
    "said",
    [
        [],
        {},
        {"entities": {}},
        {"entities": {"Q2": entity("Q2")}},
        {"entities": {"Q1": "missing"}},
        {"entities": {"Q1": entity("Q1", id="../Q1")}},
        {"entities": {"Q1": entity("Q1", lastrevid="1")}},
        {"entities": {"Q1": entity("Q1", labels={"en": {"value": 1}})}},
        {"entities": {"Q1": entity("Q1", aliases={"en": {"value": "Oslo"}})}},
        {"entities": {"Q1": entity("Q1", claims={"capital": []})}},
        {"entities": {"Q1": entity("Q1", claims={"P1": [{"mainsnak": {}}]})}},
        {"entities": {"Q1": entity("Q1", claims={"P1": [{"mainsnak": snak("P1", "?"), "rank": "normal"}]})}},
        {"entities": {"Q1": entity("Q1", claims=[{"m": ["novalue", 1], "g": "q1$a"}])}},
        {"entities": {"Q1": entity("Q1", sitelinks={"enwiki": "Oslo"})}},
    ],
    ids=lambda said: json.dumps(said)[:40],
)
def test_an_invalid_answer_is_an_error(said: Any, asking_items: AskingItems) -> None:
    with serving(says(said)) as server, pytest.raises(ServiceError, match=r"Wikidata \(http://127.* JSON that is"):
        asking_items(server).items(["Q1"])
