import json
from collections.abc import Callable
from typing import Any

import pytest

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.wikimedia.wikidata import BATCH, Item, statements_of
from tests.data.sources.servers.faults import (
    ANSWERS,
    ServedRequest,
    ServedResponse,
    json_response,
    recorded_response,
    serving,
)
from tests.data.sources.servers.wiki_world.items import snak
from tests.data.sources.wikimedia.conftest import OpenWikidata
from tests.data.sources.wikimedia.small_wiki import page_in

HOSTILE = ['"quoted"', "{0} {slot}", "two\nlines", "\u202eright to left", "<script>", "../../etc/passwd", "[ENTITY]"]


def entity(item_id: str, **fields: Any) -> dict[str, Any]:
    """Return an item of a response; fields without an argument are empty."""
    empty = {"lastrevid": 1, "labels": {}, "descriptions": {}, "aliases": {}, "claims": {}, "sitelinks": {}}
    return {"type": "item", "id": item_id, **empty, **fields}


def english(text: str) -> dict[str, Any]:
    return {"en": {"language": "en", "value": text}}


def play_items(*entities: dict[str, Any]) -> Callable[[ServedRequest], ServedResponse]:
    """Play a wiki that has these items."""
    items = {each["id"]: each for each in entities}

    def play(request: ServedRequest) -> ServedResponse:
        ids = request.form["ids"].split("|")
        return json_response(
            {"entities": {id_: items.get(id_, {"id": id_, "missing": ""}) for id_ in ids}, "success": 1}
        )

    return play


def item_of(open_wikidata: OpenWikidata, entity: dict[str, Any]) -> Item:
    with serving(play=play_items(entity)) as server:
        (item,) = open_wikidata(server).items([entity["id"]]).values()
    return item


def test_an_item_has_names_revision_and_statements(open_wikidata: OpenWikidata) -> None:
    with serving(recorded_response("wikidata/wbgetentities.json")) as server:
        items = open_wikidata(server).items(["Q1", "P1"])
    item, head_of_government = items["Q1"], items["P1"]
    assert (item.item_id, item.revision, item.label, item.description, item.aliases, item.wikipedia) == (
        "Q1",
        33,
        "Utopia",
        "Utopia of the loopback world",
        ("Utopian Republic", "Utopialand"),
        None,
    )
    assert item.retrieved_at.utcoffset() is not None
    assert (head_of_government.item_id, head_of_government.label) == ("P1", "head of government")
    assert head_of_government.statements == {}
    (request,) = server.received
    assert (request.form["ids"], request.form["maxlag"]) == ("Q1|P1", "5")
    assert [(statement.item_id, statement.rank) for statement in item.statements["P1"]] == [
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
    revisions = page_in("wikidata/revisions_item_content_all.json")["revisions"]
    first, *_, last = (revision["slots"]["main"]["content"] for revision in revisions)
    assert statements_of(json.loads(last)) == item.statements
    assert '"claims":[]' in first  # Wikibase stores empty maps as empty lists
    assert statements_of(json.loads(first)) == {}


def test_merged_item_is_read_under_its_old_id(open_wikidata: OpenWikidata) -> None:
    content = json.loads((ANSWERS / "wikidata" / "wbgetentities_redirect.json").read_text())
    content["entities"]["Q5"] = entity("Q2") | content["entities"]["Q5"]  # the recorded item has few fields
    with serving(json_response(content)) as server:
        items = open_wikidata(server).items(["Q5"])
    assert {item_id: (item.item_id, item.label) for item_id, item in items.items()} == {"Q5": ("Q2", "Ada Example")}


def test_missing_item_is_left_out(open_wikidata: OpenWikidata) -> None:
    content = json.loads((ANSWERS / "wikidata" / "wbgetentities_missing.json").read_text())
    content["entities"]["Q1"] = entity("Q1") | content["entities"]["Q1"]  # the recorded item has few fields
    with serving(json_response(content)) as server:
        assert open_wikidata(server).items(["Q1", "Q999"]).keys() == {"Q1"}


def test_items_are_requested_fifty_at_a_time(open_wikidata: OpenWikidata) -> None:
    ids = [f"Q{number}" for number in range(1, 121)]
    with serving(play=play_items(*map(entity, ids))) as server:
        items = open_wikidata(server).items([*ids, "Q1", "Q60"])
    assert list(items) == ids
    assert [len(request.form["ids"].split("|")) for request in server.received] == [BATCH, BATCH, 20]


@pytest.mark.parametrize("item_id", ["", "Q0", "L1", "Q1|Q2", "Q1\n"])
def test_an_invalid_id_is_refused_without_a_request(item_id: str, open_wikidata: OpenWikidata) -> None:
    with serving(play=play_items()) as server, pytest.raises(InputError, match="not a Wikidata id"):
        open_wikidata(server).items(["Q1", item_id])
    assert server.received == []


def test_label_for_all_languages_replaces_missing_english(open_wikidata: OpenWikidata) -> None:
    label = {"mul": {"language": "mul", "value": "Ada Lovelace"}}
    assert item_of(open_wikidata, entity("Q7259", labels=label)).label == "Ada Lovelace"
    assert item_of(open_wikidata, entity("Q7259", labels=label | english("Ada King"))).label == "Ada King"
    assert item_of(open_wikidata, entity("Q7259")).label is None


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_unchanged(name: str, open_wikidata: OpenWikidata) -> None:
    links = {"enwiki": {"title": name}}
    aliases = {"en": [{"value": name}]}
    names = english(name)
    item = item_of(open_wikidata, entity("Q7259", labels=names, descriptions=names, aliases=aliases, sitelinks=links))
    assert (item.label, item.description, item.aliases, item.wikipedia) == (name, name, (name,), name)


@pytest.mark.parametrize(
    "content",
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
        {"entities": {"Q1": entity("Q1", claims={"P1": [{"mainsnak": snak("P1", "?"), "rank": "normal"}]})}},  # no id
        {"entities": {"Q1": entity("Q1", claims=[{"m": ["novalue", 1], "g": "q1$a"}])}},  # an old format
        {"entities": {"Q1": entity("Q1", sitelinks={"enwiki": "Oslo"})}},
    ],
    ids=lambda content: json.dumps(content)[:40],
)
def test_invalid_response_is_an_error(content: Any, open_wikidata: OpenWikidata) -> None:
    with (
        serving(json_response(content)) as server,
        pytest.raises(ServiceError, match=r"Wikidata \(http://127.* JSON that is"),
    ):
        open_wikidata(server).items(["Q1"])
