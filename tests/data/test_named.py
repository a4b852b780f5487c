from dataclasses import dataclass

import pytest

from swaymeter.data.errors import UnknownName
from swaymeter.data.named import Registry
from tests.registries import added


@dataclass(frozen=True)
class Animal:
    name: str


CAT, DOG = Animal("cat"), Animal("dog")


def test_a_registry_is_a_mapping_in_order() -> None:
    animals = Registry("animal", [DOG, CAT])
    assert list(animals) == ["dog", "cat"]
    assert animals["cat"] is CAT
    assert "cow" not in animals
    assert animals.get("cow") is None
    with pytest.raises(UnknownName, match="no animal is named 'catt'; did you mean 'cat'"):
        animals["catt"]
    with pytest.raises(ValueError, match="animal 'dog' is registered twice"):
        animals.add(Animal("dog"))


def test_added_item_is_removed_after_the_block() -> None:
    animals = Registry("animal", [DOG])
    with added(animals, CAT):
        assert list(animals) == ["dog", "cat"]
    assert list(animals) == ["dog"]
