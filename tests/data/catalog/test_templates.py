"""Templates are filled with names as they are, and only with what is given."""

import pytest

from data import catalog
from data.errors import InputError


def test_fill_replaces_every_occurrence() -> None:
    assert catalog.fill("{entity}, {entity}: {answer}", entity="Norway", answer="Oslo") == "Norway, Norway: Oslo"


@pytest.mark.parametrize("name", ["{answer}", "{", "%s", "\\g<1>", "{entity.__class__}"])
def test_fill_takes_hostile_names_as_they_are(name: str) -> None:
    assert catalog.fill("<{entity}|{answer}>", entity=name, answer="Oslo") == f"<{name}|Oslo>"
    assert catalog.fill("<{entity}|{answer}>", entity="Norway", answer=name) == f"<Norway|{name}>"


def test_fill_refuses_a_slot_without_a_name() -> None:
    with pytest.raises(InputError, match="no answer"):
        catalog.fill("Is {answer} the capital of {entity}?", entity="Norway")
