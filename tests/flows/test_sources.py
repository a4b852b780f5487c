"""What a run asks its sources: names that exist are replaced, stores are opened once, errors say what to do."""

from pathlib import Path
from typing import Any

import pytest

from data import catalog
from data.errors import InputError, ServiceError
from data.invented import invented_names
from data.sources.graph.dump import Dump
from flows.facts_keys import SPARE_NAMES
from flows.sources import opened
from tests.data.sources.servers.faults import unused_address
from tests.flows.small_plan import small_plan

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def graph(folder: Path, *names: str) -> Path:
    """A dump in which these names are somebody's."""
    lines = [f'<http://a.example/{number}> {LABEL} "{name}"@en .\n' for number, name in enumerate(names)]
    file = folder / "graph.nt"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def asked(folder: Path, dump: Path | None, **facts: Any) -> Any:
    said = {"source": "yago", "relations": ["capital"], "real_entities": 2, "invented_entities": 3, **facts}
    if dump:
        said["dump"] = [str(dump)]
    return small_plan(folder, facts=said)


def test_names_that_exist_are_replaced_by_others(tmp_path: Path) -> None:
    known = invented_names("country", 3 + SPARE_NAMES, seed=0)
    plan = asked(tmp_path, graph(tmp_path, *known[:20]), invented="names")
    with opened(plan, offline=False) as sources:
        names, looked_for_in = sources.names("country")
    assert len(names) >= 3 + SPARE_NAMES
    assert names[:3] == known[20:23]
    assert not set(names) & set(known[:20])
    assert looked_for_in == ["file:graph.nt"]


def test_names_of_the_catalog_are_as_many_as_are_left(tmp_path: Path) -> None:
    listed = catalog.invented_entities("country")
    plan = asked(tmp_path, graph(tmp_path, *listed[1:]), invented="catalog")
    with opened(plan, offline=False) as sources:
        assert sources.names("country")[0] == [listed[0]]


def test_names_are_looked_up_nowhere_where_the_study_says_so(tmp_path: Path) -> None:
    plan = asked(tmp_path, graph(tmp_path, "x"), invented="names", names_not_in=[])
    with opened(plan, offline=False) as sources:
        names, looked_for_in = sources.names("country")
    assert names == invented_names("country", 3 + SPARE_NAMES, seed=0)
    assert looked_for_in == []


def test_a_dump_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = asked(tmp_path, graph(tmp_path, "x"))
    with opened(plan, offline=False) as sources:
        first = sources.store("yago")
        monkeypatch.setattr(Dump, "of", None)
        assert sources.store("yago") is first


def test_a_service_that_cannot_be_asked_comes_with_a_way_out(tmp_path: Path) -> None:
    plan = small_plan(
        tmp_path,
        facts={"source": "yago", "relations": ["capital"]},
        services={"contact": "tests@example.org", "yago": {"address": unused_address()}},
    )
    with opened(plan, offline=False) as sources:
        for ask in (lambda: sources.facts("capital"), lambda: sources.names("country")):
            with pytest.raises(ServiceError, match=r"cannot be reached.*`source: sample`.*`dump`.*`names_not_in`"):
                ask()


def test_a_dump_that_lacks_a_relation_is_not_told_to_use_a_dump(tmp_path: Path) -> None:
    plan = asked(tmp_path, graph(tmp_path, "x"))
    with opened(plan, offline=False) as sources, pytest.raises(InputError, match="holds no fact") as raised:
        sources.facts("capital")
    assert "`dump`" not in str(raised.value)


def test_a_study_of_questions_alone_opens_nothing(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, facts=None, measures={"answers": {"samples": 2}})
    with opened(plan, offline=False):
        assert plan.entity_classes() == []
