from pathlib import Path

import pytest

from tests.data.sources.graph.yago_graph import write_graph
from tests.flows.conftest import Command
from tests.flows.small_study import small_study, write_study


@pytest.fixture
def graph(tmp_path: Path) -> str:
    dump = tmp_path / "graph.ttl"
    write_graph(dump)
    facts = {"source": "yago", "dump": [str(dump)], "relations": ["capital"]}
    return write_study(tmp_path, small_study(tmp_path, facts=facts))


def test_predicates_come_with_triples_classes_and_relations(graph: str, swaymeter: Command) -> None:
    ended = swaymeter("predicates", graph)
    assert ended.code == 0, ended.err
    (line,) = [line for line in ended.out.splitlines() if "yago-knowledge.org/resource/capital " in line]
    cells = [cell.strip() for cell in line.strip("│").split("│")]
    assert cells[1:] == ["41", "Country", "capital, reverseCapital"]


def test_facts_of_no_graph_have_no_predicates(tmp_path: Path, swaymeter: Command) -> None:
    ended = swaymeter("predicates", write_study(tmp_path, small_study(tmp_path)))
    assert ended.code == 2
    assert "do not come from a graph" in ended.error
