"""Which files of facts and of invented names a study wants: what makes them other files, and what does not."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import InputError
from flows.facts_keys import facts_made_from, graph, names_made_from, not_in
from flows.study.study_file import Study

GRAPHS = Path("/nowhere/that/can/be/written")
YAGO = {"source": "yago", "relations": ["capital"], "pairs": 10, "invented": "names"}


def study(facts: dict[str, Any], *, seed: int = 0, **services: Any) -> Study:
    return Study.model_validate(
        {
            "name": "one", "seed": seed, "facts": facts, "services": services, "models": [{"name": "m"}],
            "measures": {"susceptibility": {}},
        }
    )  # fmt: skip


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "facts.nt"
    file.write_text("<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n")
    return file


def test_facts_of_a_graph_hang_on_the_graph_the_draw_and_the_seed() -> None:
    before = facts_made_from(study(YAGO), "capital", GRAPHS)
    for other in (
        study(YAGO | {"pairs": 11}),
        study(YAGO, seed=1),
        study(YAGO, yago={"address": "http://127.0.0.1:7878/query"}),
        study(YAGO | {"source": "sample"}),
    ):
        assert facts_made_from(other, "capital", GRAPHS) != before
    assert facts_made_from(study(YAGO), "birthPlace", GRAPHS) != before


def test_facts_do_not_hang_on_who_asks_how_fast_or_how_many_entities_are_chosen() -> None:
    before = facts_made_from(study(YAGO), "capital", GRAPHS)
    polite = study(YAGO, contact="a@example.org", cache="elsewhere", yago={"cache_ttl_days": 1})
    assert facts_made_from(polite, "capital", GRAPHS) == before
    assert facts_made_from(study(YAGO | {"real_entities": 9, "choice": "degree"}), "capital", GRAPHS) == before


def test_a_dump_is_known_by_what_it_holds(dump: Path, tmp_path: Path) -> None:
    before = graph(study(YAGO | {"dump": [str(dump)]}), "yago", tmp_path)
    copied = tmp_path / "copy.nt"
    copied.write_bytes(dump.read_bytes())
    assert graph(study(YAGO | {"dump": [str(copied)]}), "yago", tmp_path) == before
    dump.write_text(dump.read_text().replace("/o>", "/other>"))
    assert graph(study(YAGO | {"dump": [str(dump)]}), "yago", tmp_path) != before


def test_a_dump_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.nt cannot be read"):
        facts_made_from(study(YAGO | {"dump": [str(tmp_path / "gone.nt")]}), "capital", GRAPHS)


def test_names_must_not_occur_in_the_graph_and_with_the_public_yago_not_in_wikidata_either(dump: Path) -> None:
    assert not_in(study(YAGO)) == ("yago", "wikidata")
    assert not_in(study(YAGO, yago={"address": "http://127.0.0.1/query"})) == ("yago",)
    assert not_in(study(YAGO | {"dump": [str(dump)]})) == ("yago",)
    assert not_in(study({"relations": ["capital"]})) == ()
    assert not_in(study(YAGO | {"names_not_in": []})) == ()


def test_names_hang_on_who_makes_them_up_for_how_many_and_where_they_are_looked_for() -> None:
    before = names_made_from(study(YAGO), "country", GRAPHS)
    for other in (
        study(YAGO | {"invented": "catalog"}),
        study(YAGO | {"invented_entities": 9}),
        study(YAGO | {"names_not_in": ["yago"]}),
        study(YAGO, seed=1),
        study(YAGO | {"invented": "model", "invented_model": "smollm2-135m-instruct"}),
    ):
        assert names_made_from(other, "country", GRAPHS) != before
    assert names_made_from(study(YAGO), "city", GRAPHS) != before
    assert names_made_from(study(YAGO | {"pairs": 11}), "country", GRAPHS) == before


def test_names_of_the_catalog_hang_on_its_list_alone() -> None:
    listed = {"relations": ["capital"]}
    assert names_made_from(study(listed), "country", GRAPHS) == names_made_from(
        study(listed, seed=5), "country", GRAPHS
    )
