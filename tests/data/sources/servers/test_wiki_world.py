import json
from pathlib import Path
from typing import Any

import pytest
import requests

from data.errors import ServiceError
from data.sources.wikimedia.edit_history import edit_history
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.faults import ANSWERS, Asked, Say, recorded, says
from tests.data.sources.servers.wiki_world import Limits, Served, World, serving_world
from tests.data.sources.servers.wiki_world.asking import asking_world
from tests.data.sources.servers.wiki_world.titles import invalid, title_of
from tests.data.sources.servers.wiki_world.wikitext import plain, written

WHOLE = Limits(revisions=500, contents=50, links=500)


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

    @pytest.mark.parametrize("recording", ["wbgetentities_missing", "wbgetentities_redirect"])
    def test_items_gone_and_merged(self, open_world: Served, recording: str) -> None:
        real = read(f"wikidata/{recording}.json")["entities"]
        ids, props = ("Q107", "labels") if recording.endswith("missing") else ("Q106", "info|labels")
        mine = ask(open_world, "wikidata_api", action="wbgetentities", ids=ids, props=props)["entities"]
        assert shape(mine[ids]) == shape(real["Q999" if ids == "Q107" else "Q5"])

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
            ("missing_title", {"prop": "revisions|info", "titles": "Red Link", "rvprop": "ids"}),
            ("invalid_title", {"prop": "info", "titles": "Red Link|B<>[]"}),
            ("missing_revid", {"prop": "info", "revids": "99999"}),
            ("normalized_titles", {"prop": "info", "titles": "tidewater levy|Tidewater_levy", "inprop": "url"}),
            ("revisions_limit_max", {"prop": "revisions", "titles": "Velm", "rvprop": "ids", "rvlimit": "max"}),
            ("revisions_by_revid", {"prop": "revisions", "revids": "1001", "rvprop": "ids|content", "rvslots": "main"}),
            ("extracts_three_titles_full_continue", {"prop": "extracts", "titles": "A|B|C", "explaintext": "1"}),
        ],
    )  # fmt: skip
    def test_other_queries(self, open_world: Served, recording: str, form: dict[str, str]) -> None:
        real = read(f"wikipedia/{recording}.json")
        form = form | ({"titles": "Velm|Ostrel|Dunmarrow"} if "three" in recording else {})
        if recording == "missing_revid":
            assert ask(open_world, "wikipedia", **form) == real
        else:
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

    def test_similar_items(self, open_world: Served) -> None:
        for item_id, recording in (
            ("Q101", "wembedder_Q42"),
            ("Q104", "wembedder_missing"),
            ("q42", "wembedder_bad_id"),
        ):
            reply = requests.get(f"{open_world.addresses['wembedder']}/most-similar/{item_id}", timeout=10)
            real = recorded(recording)
            assert reply.status_code == real.status
            assert reply.headers["Content-Type"].split(";")[0] == real.headers["Content-Type"].split(";")[0]
            if recording != "wembedder_bad_id":
                assert shape(reply.json()) == shape(json.loads(real.body))

    def test_plain_text_is_made_as_the_wiki_makes_it(self) -> None:
        page = read("wikipedia/revisions_all.json")["query"]["pages"][0]
        wikitext = page["revisions"][0]["slots"]["main"]["content"]
        extract = read("wikipedia/extracts_full_plaintext.json")["query"]["pages"][0]["extract"]
        assert plain(wikitext) == extract

    @pytest.mark.parametrize(
        "text", ["{{x}} {0}", "<b>B</b> & &amp; Co", "[[a|b]] ''c''", "* d", "== e ==", "../../etc"]
    )
    def test_text_is_written_so_that_it_is_read_as_it_is(self, text: str) -> None:
        assert plain(written(text)) == text

    @pytest.mark.parametrize(
        ("asked", "title"),
        [
            ("velm", "Velm"),
            ("_Velm_", "Velm"),
            (":Velm#History", "Velm"),
            ("A&amp;B", "A&B"),
            ("Ame\u0301lie", "Am\u00e9lie"),
            ("../../etc/passwd", None),
            ("Foo/..", None),
            ("50%20", None),
            ("A{b}", None),
            ("x" * 300, None),
        ],
    )
    def test_titles_are_read_as_the_wiki_reads_them(self, asked: str, title: str | None) -> None:
        assert (None if invalid(title_of(asked)) else title_of(asked)) == title

    @pytest.mark.parametrize(
        "form",
        [
            {"prop": "revisions", "titles": "Velm", "rvuser": "Bob"},
            {"prop": "images", "titles": "Velm"},
            {"prop": "revisions", "titles": "Velm", "rvprop": "content"},
            {"prop": "extracts", "titles": "Velm"},
        ],
    )
    def test_what_is_not_played_is_refused_by_name(self, open_world: Served, form: dict[str, str]) -> None:
        assert ask(open_world, "wikipedia", **form)["error"]["code"] == "unplayed"


class TestHooks:
    def test_a_fault_is_played_once_and_asked_again(self, world: World, tmp_path: Path) -> None:
        fault = wiki_world.faulting(lambda asked: asked.form.get("titles") == "Q501", Say(status=503), Say(drop=True))
        with serving_world(world, before=fault) as (addresses, asked), asking_world(addresses, tmp_path) as clients:
            with pytest.raises(ServiceError):  # its sessions try twice
                edit_history(clients.wikidata, "Q501", "P106")
            assert edit_history(clients.wikidata, "Q501", "P106") is not None
        assert [one.form.get("titles") for one in asked[:3]] == ["Q501"] * 3

    def test_a_hook_sees_each_request_first(self, world: World) -> None:
        def before(asked: Asked) -> Say | None:
            return says({"it": "was me"}) if wiki_world.service_of(asked) == "wembedder" else None

        with serving_world(world, before=before) as here:
            reply = requests.get(f"{here.addresses['wembedder']}/most-similar/Q101", timeout=10)
            assert reply.json() == {"it": "was me"}
            assert ask(here, "wikipedia", prop="info", titles="Velm")["batchcomplete"] is True
        assert [wiki_world.service_of(one) for one in here.asked] == ["wembedder", "wikipedia"]

    def test_the_query_service_is_played_by_whoever_wants_to(self, world: World) -> None:
        with serving_world(world, sparql=lambda asked: says({"asked": asked.form["query"]})) as here:
            reply = requests.post(here.addresses["wikidata"], data={"query": "ASK {}"}, timeout=10)
        assert reply.json() == {"asked": "ASK {}"}

    def test_limits_change_the_number_of_requests_and_nothing_else(self, world: World, tmp_path: Path) -> None:
        said, requests_sent = [], []
        for limits in (Limits(1, 1, 1), WHOLE):
            folder = tmp_path / str(limits.links)
            with (
                serving_world(world, limits=limits) as (addresses, asked),
                asking_world(addresses, folder) as clients,
            ):
                history = clients.wikipedia.history("Tidewater levy")
                assert history is not None
                numbers = [revision.revision_id for revision in history.revisions]
                contents = clients.wikipedia.wiki.contents(numbers)
                said.append((history.revisions, contents, clients.wikipedia.linked(wiki_world.LIST)))
                requests_sent.append(len(asked))
        assert said[0] == said[1]
        assert requests_sent == [12 + 12 + 8, 3]

    def test_a_world_that_changes_is_answered_as_it_is_now(self, tmp_path: Path) -> None:
        changing = wiki_world.world()
        with serving_world(changing) as (addresses, _):
            with asking_world(addresses, tmp_path / "before") as clients:
                before = edit_history(clients.wikidata, "Q501", "P106")
            changing.items["Q501"].changes("P106", "Q101", "Q103")
            with asking_world(addresses, tmp_path / "after") as clients:
                after = edit_history(clients.wikidata, "Q501", "P106")
        assert before is not None
        assert after is not None
        assert (before.count, after.count) == (1, 2)

    def test_the_world_is_the_same_each_time(self, world: World) -> None:
        again = wiki_world.world()
        assert again.wikidata.pages == world.wikidata.pages
        assert again.wikipedia.pages == world.wikipedia.pages
        assert (again.views, again.most_similar) == (world.views, world.most_similar)


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
