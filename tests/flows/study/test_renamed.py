from pathlib import Path
from typing import Any

import pytest

from swaymeter.flows.study.reading import RENAMED
from tests.flows.study.study_files import refusal


def test_every_renamed_key_is_refused_with_its_new_name(tmp_path: Path) -> None:
    for old, new in RENAMED.items():
        place = old.replace("*", "yago")
        content: Any = 1
        for key in reversed(place.split(".")):
            content = {key: content}
        assert f"{place} was renamed; write {new}" in refusal(tmp_path, **content)


def test_all_renamed_keys_are_named_at_once(tmp_path: Path) -> None:
    services = {"yago": {"minutes": 1}, "wikipedia": {"minutes": 1}}
    assert refusal(tmp_path, services=services, facts={"cited": "x"}) == (
        "services.wikipedia.minutes was renamed; write max_minutes; services.yago.minutes was renamed; "
        "write max_minutes; facts.cited was renamed; write citation"
    )


@pytest.mark.parametrize("section", [None, [], "words", 3])
def test_sections_of_other_shapes_are_left_to_the_models(section: Any, tmp_path: Path) -> None:
    assert "renamed" not in refusal(tmp_path, facts=section, services=section)
