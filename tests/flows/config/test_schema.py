from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.flows.config.places import STARTER, STUDIES
from swaymeter.flows.config.schema import study_schema
from swaymeter.tasks.measures import MEASURES
from tests.extensions import measure, source
from tests.flows.small_study import SOUND
from tests.registries import added

STUDY_FILES = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in (STARTER, *STUDIES.glob("*.yaml"))]


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    schema = study_schema()
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize("study", [*STUDY_FILES, SOUND], ids=lambda study: study["name"])
def test_studies_are_valid(study: Any, validator: Draft7Validator) -> None:
    assert [error.message for error in validator.iter_errors(study)] == []


@pytest.mark.parametrize(
    ("changes", "is_valid"),
    [
        ({"facts": {"source": "yago", "relations": "all", "dump": ["x.nt"]}}, True),
        ({"facts": {"relations": ["capital"], "dump": ["x.nt"]}}, False),
        ({"facts": {"relations": ["capitol"]}}, False),
        ({"facts": {"source": "web"}}, False),
        ({"facts": {"source": "file", "file": "x.csv", "relations": ["mine"], "relations_file": "x.yaml"}}, True),
        ({"facts": {"source": "file", "relations": ["mine"]}}, False),
        ({"services": {"yago": {"max_requests": 3}, "contact": "me@example.org"}}, True),
        ({"services": {"yagoo": {"max_requests": 3}}}, False),
        ({"measures": ["persuasion"]}, True),
        ({"measures": {"persuasion": None}}, True),
        ({"measures": {"answers": {"samplez": 3}}}, False),
        ({"models": [{"name": "gpt2", "dtype": "float8"}]}, False),
        ({"measurs": {}}, False),
    ],
)
def test_the_schema_tells_mistakes_from_valid_studies(changes: Any, is_valid: bool, validator: Draft7Validator) -> None:
    assert validator.is_valid(SOUND | changes) is is_valid


def test_extensions_are_in_the_schema() -> None:
    with added(FACT_SOURCES, source.SOURCE), added(MEASURES, measure.MEASURE):
        extended = Draft7Validator(study_schema())
    changes = {"facts": {"source": "csv", "file": "x", "relations": ["father"]}, "measures": ["persuasion_range"]}
    assert extended.is_valid(SOUND | changes)


def test_every_key_has_a_description() -> None:
    schema = study_schema()
    for section in (schema, *schema["$defs"].values()):
        assert [key for key, field in section.get("properties", {}).items() if "description" not in field] == []
