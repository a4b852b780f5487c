"""Invented names, listed and generated, against the real ones of their class in the bundled facts.

Length and strangeness would else be taken for unfamiliarity. A name that nobody knows has at least two tokens, and the
well-known names of countries, cities and languages one: hence the tolerance of one token in the means.
"""

from collections.abc import Callable, Sequence
from statistics import mean

import pytest

from swaymeter.data import catalog
from swaymeter.data.invented import invented_names
from swaymeter.tasks.models import LanguageModel

TOLERANCES: dict[str, tuple[float, Callable[[str], float]]] = {
    "words": (0.4, lambda name: len(name.split())),
    "share of words with a capital": (0.15, lambda name: mean(word[0].isupper() for word in name.split())),
    "names with accents": (0.05, lambda name: not name.isascii()),
    "characters": (3.5, len),
}
"""How far the mean of invented names of a class may be from that of real ones."""


def _real() -> dict[str, list[str]]:
    """The different names of each class of entities, of subjects and objects; small classes say too little."""
    found: dict[str, set[str]] = {}
    for fact in catalog.facts():
        relation = catalog.relation(fact.relation)
        found.setdefault(relation.subject_class, set()).add(fact.subject)
        found.setdefault(relation.object_class, set()).add(fact.object)
    return {name: sorted(found[name]) for name in catalog.ENTITY_CLASSES if len(found.get(name, ())) >= 12}


REAL = _real()


def invented(entity_class: str) -> tuple[Sequence[str], Sequence[str]]:
    return catalog.invented_entities(entity_class), invented_names(entity_class, 200, seed=0)


@pytest.mark.parametrize("entity_class", REAL)
def test_invented_names_look_like_real_ones(entity_class: str) -> None:
    for names in invented(entity_class):
        for what, (tolerance, value) in TOLERANCES.items():
            assert mean(map(value, names)) == pytest.approx(mean(map(value, REAL[entity_class])), abs=tolerance), what


def test_invented_names_have_as_many_tokens_as_real_ones(smollm2: LanguageModel) -> None:
    def tokens(name: str) -> int:
        return len(smollm2.tokenizer(f" {name}", add_special_tokens=False)["input_ids"])

    assert len(REAL) == 13
    for entity_class, real in REAL.items():
        for names in invented(entity_class):
            assert min(map(tokens, names)) > 1  # what is one token is a word that the model knows
            assert mean(map(tokens, names)) == pytest.approx(mean(map(tokens, real)), abs=1.0), entity_class


def test_no_invented_country_needs_an_article() -> None:
    for names in invented("country"):
        assert all(name.isalpha() for name in names)
