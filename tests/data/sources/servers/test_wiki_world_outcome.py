from pathlib import Path

import pytest

from data.records import WikidataId
from data.sources.triples import of_property, popqa
from data.sources.wikimedia.edit_history import edit_history
from tasks.contexts.wikidata.questions import Clients
from tests.data.sources.graph.oxigraph import served
from tests.data.sources.graph.sparql_server import asking as asking_graph
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.wiki_world import OUTCOME, WARS, Kept, World, forwarding, serving_world
from tests.data.sources.servers.wiki_world.asking import MONTHS
from tests.data.sources.servers.wiki_world.wikitext import plain

KEPT = {fact: kept for fact, kept in OUTCOME.items() if isinstance(kept, Kept)}


class TestClientsOverTheWorld:
    """The clients see what is written beside the world."""

    @pytest.mark.parametrize("fact", KEPT, ids="-".join)
    def test_edits_are_those_written_by_hand(self, world: World, clients: Clients, fact: wiki_world.Fact) -> None:
        kept = KEPT[fact]
        item_id = kept.became[0] if kept.became else fact[0]
        history = edit_history(clients.wikidata, item_id, fact[1])
        assert history is not None
        assert history.edits == world.wikidata.numbers(item_id, kept.edits)
        assert history.hidden == world.wikidata.numbers(item_id, kept.hidden)
        assert kept.partition == ("static" if len(kept.edits) == 1 else "temporal")

    def test_items_keep_their_names_whatever_they_hold(self, world: World, clients: Clients) -> None:
        there = {item_id for item_id in world.items if item_id in world.wikidata.pages}
        found = clients.wikidata.items([*world.items, "P106", "Q4294967296"])
        assert found.keys() == there | {"P106"}
        for item_id, item in found.items():
            assert item.item_id == world.wikidata.redirects.get(item_id, item_id)
            if item_id.startswith("Q"):
                stored = world.items[item.item_id].content["labels"]
                told = stored.get("en") or stored.get("mul")
                assert item.label == (told and told["value"])
        assert found[WikidataId("P106")].label == "occupation"

    def test_pages_are_found_by_titles_of_all_kinds(self, world: World, clients: Clients) -> None:
        for title, page in world.wikipedia.pages.items():
            found = clients.wikipedia.page(title)
            assert found is not None, title
            assert found.title == world.wikipedia.redirects.get(title, title)
            assert found.item_id == world.wikipedia.pages[found.title].item_id
            assert page.namespace != 0 or found.revision == world.wikipedia.pages[found.title].latest.revision_id
        assert clients.wikipedia.page("../../etc/passwd") is None
        assert clients.wikipedia.page("Red Link") is None
        blank = clients.wikipedia.page("Wilma Blank")
        assert blank is not None
        assert blank.text == ""

    def test_the_list_names_its_articles_and_nothing_else(self, clients: Clients) -> None:
        assert clients.wikipedia.linked(wiki_world.LIST) == wiki_world.LISTED

    def test_page_views_are_those_written_by_hand(self, world: World, clients: Clients) -> None:
        for title, views in world.views.items():
            found = clients.pageviews.monthly_mean(title, first=MONTHS[0], last=MONTHS[1])
            assert found.mean == views.a_month / views.one_in, title
        assert clients.pageviews.monthly_mean("Berta Quay", first=MONTHS[0], last=MONTHS[1]).mean == 0

    def test_similar_items_come_best_first(self, clients: Clients) -> None:
        assert clients.wembedder is not None
        similar = clients.wembedder.most_similar(WikidataId("Q101"))
        assert similar is not None
        assert [(one.item_id, one.similarity) for one in similar] == [("Q102", 0.8), ("Q103", 0.7)]
        assert clients.wembedder.most_similar(WikidataId("Q104")) is None

    @pytest.mark.parametrize("title", [title for title, fought in WARS.items() if fought.wars])
    def test_a_war_is_fought_in_the_listed_revisions(self, world: World, clients: Clients, title: str) -> None:
        history = clients.wikipedia.history(title)
        assert history is not None
        registered = [revision.registered for revision in history.revisions]
        numbers = [revision.revision_id for revision in history.revisions]
        contents = clients.wikipedia.wiki.contents(numbers)
        said = [contents[number] for number in numbers]
        for war in WARS[title].wars:
            for edit, reversion in war.pairs:
                before, between, after = said[edit - 2 : reversion]
                assert before == after
                assert registered[edit - 1]
                assert registered[reversion - 1]
                assert sorted((before, between)) == sorted(after.replace(*way) for way in ways(war))
            assert war.sentence in plain(after)


def ways(war: wiki_world.War) -> list[tuple[str, str]]:
    return [(war.object, war.replacement), (war.replacement, war.object)]


class TestListsOfFacts:
    def test_as_popqa(self, world: World, tmp_path: Path) -> None:
        file = tmp_path / "test.tsv"
        file.write_text(wiki_world.as_popqa(world, OUTCOME))
        seeds = popqa(file)
        assert [(seed.subject_id, seed.property_id, seed.object_id) for seed in seeds] == list(OUTCOME)
        assert seeds[0].question == "What is Adela Fenwick's occupation?"

    def test_as_a_graph(self, world: World, tmp_path: Path) -> None:
        (tmp_path / "world.ttl").write_text(wiki_world.as_turtle(world), encoding="utf-8")
        with (
            served(tmp_path / "world.ttl") as graph,
            serving_world(world, sparql=forwarding(graph)) as (addresses, asked),
            asking_graph(addresses["wikidata"], tmp_path / "kept") as store,
        ):
            seeds = of_property(store, WikidataId("P57"), 10, seed=1)
        assert {wiki_world.service_of(one) for one in asked} == {"wikidata"}
        found = {(seed.subject_id, seed.property_id, seed.object_id) for seed in seeds}
        assert found == {fact for fact in OUTCOME if fact[1] == "P57"} - {("Q403", "P57", "Q305")}  # has no article
