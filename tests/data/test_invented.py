import re
import subprocess
import sys
from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog.name_parts import name_parts
from swaymeter.data.errors import InputError, UnknownName, UsageError
from swaymeter.data.invented import invented_names
from tests.data.conftest import Change

CATALOG = Path(catalog.__file__).parent
REAL = {name.casefold() for fact in catalog.facts() for name in (fact.subject, fact.object)}


@pytest.mark.parametrize("entity_class", catalog.ENTITY_CLASSES)
def test_every_class_has_500_clean_names(entity_class: str) -> None:
    names = invented_names(entity_class, 500, seed=0)
    assert len({name.casefold() for name in names}) == 500
    assert not REAL & {name.casefold() for name in names}
    for name in names:
        assert name == " ".join(name.split())
        assert 2 <= len(name) <= 80
        assert re.fullmatch(r"[A-Za-z0-9 -]+", name), name
    assert invented_names(entity_class, 7, seed=0) == names[:7]
    assert len(set(invented_names(entity_class, 50, seed=1)) & set(names[:50])) < 15  # chance alone repeats names


def test_names_do_not_depend_on_hash_seeds() -> None:
    script = (
        "from swaymeter.data.invented import invented_names as n; "
        "print(n('person', 60, seed=5) + n('company', 60, seed=5))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(CATALOG.parents[2])},
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
        ).stdout.strip()
        for hash_seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] == str(invented_names("person", 60, seed=5) + invented_names("company", 60, seed=5))


def test_invented_names_have_no_forbidden_words(change: Change) -> None:
    forbidden = name_parts().forbidden_words
    assert {"cameron", "verona", "moravia"} <= forbidden
    for entity_class in ("person", "city", "country", "company"):
        words = {word for name in invented_names(entity_class, 500, seed=3) for word in name.casefold().split()}
        assert words.isdisjoint(forbidden)
    before = invented_names("city", 1, seed=0)
    change("name_parts.yaml", "real: [", f"real: [{before[0].lower()},")
    assert invented_names("city", 5, seed=0)[0] != before[0]


def test_zero_names_are_allowed_negative_counts_refused() -> None:
    assert invented_names("city", 0, seed=0) == []
    with pytest.raises(UsageError, match="-1 invented names are requested"):
        invented_names("city", -1, seed=0)


@pytest.mark.parametrize("entity_class", ["date", "capital"])
def test_unknown_class_of_entities_is_refused(entity_class: str) -> None:
    with pytest.raises(UnknownName, match=f"no class of entities is named '{entity_class}'"):
        invented_names(entity_class, 1, seed=0)


def test_refusal_of_many_names_states_both_numbers(change: Change) -> None:
    change("name_parts.yaml", 'names: ["{root}{genus_ending} {epithet}"]', "names: [velmari, osquan]")
    with pytest.raises(
        InputError,
        match="class taxon: 30 invented names are requested, but the name parts of this class give only 2 names;",
    ):
        invented_names("taxon", 30, seed=0)
