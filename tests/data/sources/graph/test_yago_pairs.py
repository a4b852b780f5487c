import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceError, ServiceTimeout
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.graph.pairs import LONGER, Pair, sampled_pairs
from swaymeter.data.sources.graph.sparql import Row, Rows
from tests.data.sources.graph.small_graphs import ALL, Changed, graph, said
from tests.data.sources.graph.sparql_server import asking, cutting
from tests.data.sources.graph.yago_graph import relation_named


@pytest.mark.parametrize(("relation", "most"), [("reverseDirector", 9), ("birthDate", 40)])
def test_answers_cut_short_change_nothing_but_the_number_of_questions(
    relation: str, most: int, oxigraph: str, dump: Dump, tmp_path: Path
) -> None:
    whole = yago.facts(dump, relation_named(relation), pairs=30, seed=3)
    with cutting(oxigraph, most) as (in_front, cut), asking(in_front, tmp_path) as endpoint:
        cut_short = yago.facts(endpoint, relation_named(relation), pairs=30, seed=3)
    assert cut
    assert said(cut_short.facts) == said(whole.facts)
    assert (cut_short.requested, cut_short.rejected) == (whole.requested, whole.rejected)


@pytest.mark.parametrize("page", [3, 50])
def test_pairs_come_in_the_same_order_whatever_the_page(page: int, dump: Dump) -> None:
    pairs = [(pair.key, pair.subject, pair.object) for pair in pairs_of(dump, page)]
    assert pairs == [(pair.key, pair.subject, pair.object) for pair in pairs_of(dump, 1_000)]
    assert [key for key, _, _ in pairs] == sorted(key for key, _, _ in pairs)
    assert len(pairs) == len(set(pairs)) == 150


def pairs_of(dump: Dump, page: int) -> list[Pair]:
    return list(sampled_pairs(dump, relation_named("birthDate").yago, seed=5, page=page, english=True))


def test_pairs_of_one_key_survive_page_ends(tmp_path: Path) -> None:
    values = '"1879" , "1879"@en , "1879"^^xsd:gYear , "1879"^^xsd:integer , "1879"@en-GB'
    store = graph(tmp_path, f"yago:A schema:birthDate {values} .\nyago:B schema:birthDate {values} .\n")
    pairs = list(sampled_pairs(store, relation_named("birthDate").yago, seed=5, page=2, english=True))
    assert len({(pair.subject, pair.object) for pair in pairs}) == len(pairs) == 10
    assert len({pair.key for pair in pairs}) == 2


@pytest.mark.parametrize(("ignored", "clause"), [("FILTER", r"FILTER\(.*\)"), ("LIMIT", r"LIMIT \d+")])
def test_pages_that_do_not_advance_are_an_error(ignored: str, clause: str, dump: Dump) -> None:
    class Ignoring:
        address = "https://cache.example/sparql"

        def select(self, query: str) -> Rows:
            return replace(dump.select(re.sub(clause, "", query)), address=self.address)

    pairs = sampled_pairs(Ignoring(), relation_named("birthDate").yago, seed=5, page=3)
    with pytest.raises(ServiceError, match=rf"^https://cache\.example/sparql .* excludes by its {ignored}"):
        list(islice(pairs, 1_000))


def test_a_service_that_slows_down_loses_no_pair(dump: Dump) -> None:
    def slow_for_long(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if "?k >" in query and not re.search(r'STRSTARTS\(\?k, "..', query):
            raise ServiceTimeout("YAGO needs too long")
        return rows

    asked = Changed(dump, slow_for_long)
    monotone = [pair.key for pair in sampled_pairs(asked, relation_named("award").yago, seed=5, page=40)]
    assert monotone == [pair.key for pair in sampled_pairs(dump, relation_named("award").yago, seed=5, page=ALL)]


def test_a_smaller_sample_is_the_beginning_of_a_larger_one(dump: Dump) -> None:
    few = yago.facts(dump, relation_named("award"), pairs=12, seed=9).facts
    many = yago.facts(dump, relation_named("award"), pairs=60, seed=9).facts
    assert said(few) == said(many[:12])


def test_the_seed_draws_the_sample(dump: Dump) -> None:
    samples = {
        seed: [fact.subject for fact in yago.facts(dump, relation_named("award"), pairs=20, seed=seed).facts]
        for seed in (1, 2, -3)
    }
    assert len(set(map(tuple, samples.values()))) == 3
    assert len(set().union(*samples.values())) > 30
    again = yago.facts(dump, relation_named("award"), pairs=20, seed=2).facts
    assert samples[2] == [fact.subject for fact in again]


def test_a_service_that_is_always_slow_is_given_up(dump: Dump) -> None:
    def too_slow(query: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        raise ServiceTimeout("YAGO needs too long")

    store = Changed(dump, too_slow)
    with pytest.raises(ServiceTimeout, match="YAGO needs too long"):
        yago.facts(store, relation_named("capital"), pairs=100, seed=1)
    assert len(store.queries) == 1 + 1 + LONGER
    limits = [int(limit) for query in store.queries for limit in re.findall(r"LIMIT (\d+)", query)]
    assert limits == [200, 100, 50, 25]
