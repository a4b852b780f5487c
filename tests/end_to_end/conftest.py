"""Studies with questions of an invented world, which run once in a session."""

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.data.sources.servers.wiki_world.world import FACTS
from tests.end_to_end.constant_model import save_constant_model
from tests.end_to_end.tiny_study import TinyStudy
from tests.end_to_end.wiki_runs import NewStudy, RepairedStudy, run_before_and_after_repair
from tests.tasks.models.tiny import save_entailment_model, save_language_model


@pytest.fixture(scope="session")
def new_study(tmp_path_factory: pytest.TempPathFactory, api: str) -> NewStudy:
    """Return a function that makes studies with questions from Wikidata."""
    folder = tmp_path_factory.mktemp("wiki-studies")
    content = yaml.safe_load(Path(__file__).with_name("wiki.yaml").read_text())
    content["models"][0]["name"] = str(save_language_model(folder / "model"))
    content["measures"]["clusters"]["entailment"] = str(save_entailment_model(folder / "judge"))
    content["questions"]["disputes"]["writer"] = str(save_constant_model(folder / "writer"))
    content["questions"]["triples"]["file"] = str(folder / "facts.csv")
    lines = map(",".join, [("subject_id", "property_id", "object_id"), *FACTS])
    (folder / "facts.csv").write_text("\n".join(lines) + "\n")

    def make_study(addresses: Mapping[str, str]) -> TinyStudy:
        services = {name: {"address": address, "requests_per_minute": 60_000} for name, address in addresses.items()}
        name = uuid.uuid4().hex
        with_services = content | {"services": content["services"] | services}
        return TinyStudy.of(folder / f"{name}.yaml", folder / f"workspace-{name}", api, with_services)

    return make_study


@pytest.fixture(scope="session")
def repaired(new_study: NewStudy) -> Iterator[RepairedStudy]:
    """Yield a study whose first run met faulty responses and whose second run ended; tests must not change it."""
    with run_before_and_after_repair(new_study) as study:
        yield study
