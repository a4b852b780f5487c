import json
from typing import Any

import pytest
import requests

from tests.data.sources.servers.faults import ANSWERS, recorded
from tests.data.sources.servers.wiki_world import Served, World
from tests.data.sources.servers.wiki_world.wikitext import plain


class TestAnswersHaveTheShapeOfRecordedOnes:
    """What the world says has every key that a real server's answer to the same question has, and no other."""

    def test_items_and_properties(self, open_world: Served) -> None:
        real = read("wikidata/wbgetentities.json")["entities"]
        mine = ask(open_world, "wikidata_api", action="wbgetentities", ids="Q501|P106")["entities"]
        assert mine["Q501"].keys() == real["Q1"].keys()
        assert mine["P106"].keys() == real["P1"].keys()
        assert shape(mine["Q501"]["claims"]["P106"][0]["mainsnak"]) == shape(real["Q1"]["claims"]["P1"][0]["mainsnak"])
        assert mine["Q501"]["claims"]["P106"][0].keys() == real["Q1"]["claims"]["P1"][0].keys()
        assert shape(mine["Q501"]["labels"]["en"]) == shape(real["Q1"]["labels"]["en"])

    def test_stored_items_have_lists_for_empty_maps_and_no_datatypes(self, world: World) -> None:
        stored = read("wikidata/revisions_item_content_all.json")["query"]["pages"][0]["revisions"]
        real = [json.loads(revision["slots"]["main"]["content"]) for revision in stored]
        mine = [json.loads(revision.content) for revision in world.wikidata.pages["Q501"].revisions]
        assert shape(mine[1]["claims"]["P106"][0]) == shape(real[3]["claims"]["P1"][0])
        assert mine[0]["aliases"] == real[0]["claims"] == []
        assert mine[0].keys() == real[0].keys()

    def test_revisions(self, world: World, open_world: Served) -> None:
        props = "ids|timestamp|user|userid|flags|sha1|size|comment|parsedcomment|tags|content"
        asked = {"prop": "revisions", "rvslots": "main", "rvprop": props}
        real = read("wikipedia/revisions_all.json")["query"]["pages"][0]["revisions"]
        levy = ask(open_world, "wikipedia", titles="Tidewater levy", rvdir="newer", rvlimit="50", **asked)
        number = str(world.wikipedia.numbers("Moss Painters' Guild", [16])[0])
        guild = ask(open_world, "wikipedia", revids=number, **asked)
        by_account, anonymous, _ = levy["query"]["pages"][0]["revisions"]
        hidden = guild["query"]["pages"][0]["revisions"][0]
        assert shape(by_account) == shape(real[0])
        assert shape(anonymous | {"tags": ["any"]}) == shape(next(one for one in real if "anon" in one))
        assert shape(hidden) == shape(next(one for one in real if "userhidden" in one))

    def test_revisions_go_on_from_where_the_answer_ended(self, open_world: Served) -> None:
        real = read("wikipedia/revisions_newer_limit3_part1.json")
        asked = {"prop": "revisions", "titles": "Skirmish of Ostrel", "rvprop": "ids", "rvlimit": "3", "rvdir": "newer"}
        mine = ask(open_world, "wikipedia", **asked)
        last = ask(open_world, "wikipedia", **asked, **mine["continue"])
        assert shape(mine["continue"]) == shape(real["continue"])
        assert mine["continue"]["continue"] == real["continue"]["continue"]
        assert mine["continue"]["rvcontinue"].endswith(f"|{last['query']['pages'][0]['revisions'][0]['revid']}")
        assert last["batchcomplete"] is read("wikipedia/revisions_newer_limit3_part4.json")["batchcomplete"]

    def test_redirects_extracts_and_addresses(self, open_world: Served) -> None:
        real = read("wikipedia/extracts_info_redirect.json")["query"]
        asked = {"prop": "extracts|info|pageprops", "redirects": "1", "explaintext": "1", "inprop": "url"}
        mine = ask(open_world, "wikipedia", titles="Fight at Ostrel", **asked)["query"]
        assert shape(mine) == shape(real)
        named = ask(open_world, "wikipedia", prop="pageprops", ppprop="wikibase_item", titles="Abel Moved")
        assert shape(named) == shape(read("wikipedia/pageprops_ppprop.json"))

    @pytest.mark.parametrize(
        ("recording", "form"),
        [
            ("invalid_title", {"prop": "info", "titles": "Red Link|B<>[]"}),
            ("normalized_titles", {"prop": "info", "titles": "tidewater levy|Tidewater_levy", "inprop": "url"}),
            ("revisions_limit_max", {"prop": "revisions", "titles": "Velm", "rvprop": "ids", "rvlimit": "max"}),
            ("extracts_three_titles_full_continue", {"prop": "extracts", "titles": "A|B|C", "explaintext": "1"}),
        ],
    )  # fmt: skip
    def test_other_queries(self, open_world: Served, recording: str, form: dict[str, str]) -> None:
        real = read(f"wikipedia/{recording}.json")
        form = form | ({"titles": "Velm|Ostrel|Dunmarrow"} if "three" in recording else {})
        assert shape(ask(open_world, "wikipedia", **form)) == shape(real)

    def test_errors_come_with_their_code_in_the_header(self, open_world: Served) -> None:
        ids = "|".join(f"Q{number}" for number in range(1, 52))
        reply = get(open_world, "wikidata_api", action="wbgetentities", ids=ids)
        too_large = ask(open_world, "wikidata_api", action="wbgetentities", ids="Q101|Q2147483648")
        assert too_large["error"]["code"] == "no-such-entity"
        real = recorded("wikidata/wbgetentities_51_ids.json")
        assert reply.status_code == real.status == 200
        assert reply.headers["MediaWiki-API-Error"] == real.headers["MediaWiki-API-Error"] == "toomanyvalues"
        assert shape(reply.json()) == shape(json.loads(real.body))

    def test_plain_text_is_made_as_the_wiki_makes_it(self) -> None:
        page = read("wikipedia/revisions_all.json")["query"]["pages"][0]
        wikitext = page["revisions"][0]["slots"]["main"]["content"]
        extract = read("wikipedia/extracts_full_plaintext.json")["query"]["pages"][0]["extract"]
        assert plain(wikitext) == extract


def read(name: str) -> Any:
    return json.loads((ANSWERS / name).read_text())


def get(here: Served, service: str, **form: str) -> requests.Response:
    asked = {"action": "query", "format": "json", "formatversion": "2", **form}
    return requests.get(here.addresses[service], params=asked, timeout=10)


def ask(here: Served, service: str, **form: str) -> Any:
    return get(here, service, **form).json()


def shape(said: Any) -> Any:
    """Keys and types: of a list, those of what is in it, each once."""
    if isinstance(said, dict):
        return {key: shape(value) for key, value in said.items()}
    if isinstance(said, list):
        shapes = [shape(value) for value in said]
        return [one for place, one in enumerate(shapes) if one not in shapes[:place]]
    return type(said).__name__
