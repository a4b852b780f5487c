import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.property_names import relation_of, relations_of


@pytest.mark.parametrize(
    ("property_id", "words", "relation"),
    [
        ("P106", "occupation", "occupation"),
        ("P19", "place of birth", "birthPlace"),  # the catalog's name, whatever the list calls it
        ("P19", None, "birthPlace"),
        ("P57", "director", "director"),  # and not reverseDirector, which has the same id
        ("P1376", "capital of", "capitalOf"),
        ("P641", "sport", "sport"),
        ("P641", None, "P641"),
        ("P641", "...", "P641"),
        ("P641", "1st place", "P641"),
        ("P641", "спорт", "P641"),
        ("P641", "{sport}\n../\u202e", "sport"),
        ("P641", "x" * 65, "P641"),
        ("P641", "country", "P641"),  # that is what P17 is called
        ("P641", "disputable", "P641"),
        (None, "country", "country"),
        ("", "place of burial", "placeOfBurial"),
    ],
)
def test_a_property_is_named_by_catalog_words_or_id(property_id: str | None, words: str | None, relation: str) -> None:
    assert relation_of(property_id, words) == relation


@pytest.mark.parametrize("words", [None, "", "...", "1st place"])
def test_without_an_id_words_that_make_no_name_are_refused(words: str | None) -> None:
    with pytest.raises(InputError, match="is not a valid relation name"):
        relation_of(None, words)


def named(*listed: tuple[str, str | None]) -> dict[str, str]:
    return {str(key): str(name) for key, name in relations_of((WikidataId(p), words) for p, words in listed).items()}


def test_properties_of_equal_words_are_called_by_ids() -> None:
    assert named(("P361", "part of"), ("P1", "Part-of"), ("P2", "partOF"), ("P3", "whole")) == {
        "P361": "P361", "P1": "P1", "P2": "P2", "P3": "whole",
    }  # fmt: skip
