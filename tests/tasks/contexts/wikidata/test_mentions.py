import unicodedata

import pytest

from swaymeter.tasks.contexts.wikidata.mentions import is_written, mentions


def forms(text: str, *names: str, inside: tuple[str, ...] = ()) -> list[str]:
    return [text[mention.start : mention.end] for mention in mentions(text, names, inside=inside)]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Reading", "As a boy he enjoyed reading books. He was born in Reading, England.", ["Reading"]),
        ("Nice", "It was nice in Nice.", ["Nice"]),
        ("Cork", "A cork came from CORK.", ["CORK"]),
        ("Nice Guys", "The nice guys were the Nice Guys.", ["Nice Guys"]),
        ("eBay", "They sold it on eBay; EBay grew; EBAY; ebay.", ["eBay", "EBay", "EBAY"]),
        ("The The", "Is the the band of The The?", ["The The"]),
        # Capitals that tell nothing do not matter.
        ("journalist", "Journalist by trade, a journalist, JOURNALIST", ["Journalist", "journalist", "JOURNALIST"]),
        ("Film actor", "A film actor. Film Actor!", ["film actor", "Film Actor"]),
        ("The Hague", "He came to the Hague, that is The Hague.", ["the Hague", "The Hague"]),
        ("van der Berg", "Van der Berg, Van Der Berg, van der Berg", ["Van der Berg", "Van Der Berg", "van der Berg"]),
        ("Bank Of Oslo", "Bank of Oslo", ["Bank of Oslo"]),
    ],
)
def test_a_name_with_capitals_is_no_word_without_them(name: str, text: str, found: list[str]) -> None:
    assert forms(text, name) == found
    if name[0].isupper():
        assert forms(text, name, name.lower()) == found  # nor does an alias in small letters make it one


@pytest.mark.parametrize(
    ("text", "is_word"),
    [(text, False) for text in ("Oslofjord", "Trondheim-Oslo", "Oslo2", "Oslo_", "Łoslo", "Oslo\u0308", "दOslo")]
    + [("Oslo\u200d\u0928", False)]
    + [(text, True) for text in ("(Oslo)", "Oslo's", "Oslo-based", "“Oslo”", "Oslo–Bergen", "Bergen–Oslo", "Oslo/B")],
)
def test_only_whole_words_are_mentions(text: str, is_word: bool) -> None:
    assert forms(f"That is {text} here.", "Oslo") == ["Oslo"] * is_word


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("OSLO was Christiania; it is Oslo.", ["Oslo", "Christiania"], ["OSLO", "Christiania", "Oslo"]),
        ("הוא נולד בנמל. נמל הדמיון יפה.", ["נמל הדמיון"], ["נמל הדמיון"]),
        ("वह हिन्दी है", ["हिन्द"], []),  # a vowel sign follows
        # The longest of names that begin together counts, unless it is part of a word.
        ("The Kingdom of Norway, or Norway, Europe.", ["Norway", "Kingdom of Norway", "Norway, Europe"],
         ["Kingdom of Norway", "Norway, Europe"]),
        ("New Yorkers of New York City", ["New York", "New Yorker", "New York City"], ["New York City"]),
        ("the film directors", ["film director", "film"], ["film"]),
        # Spaces, hyphens, apostrophes and accents of any kind are the same.
        ("He left New\u00a0York, New\u202fYork.", ["New York"], ["New\u00a0York", "New\u202fYork"]),
        ("K‑pop and ‘Rock ’n’ Roll’", ["K-pop", "Rock 'n' Roll"], ["K‑pop", "Rock ’n’ Roll"]),
        ("K-pop and 'Rock 'n' Roll'", ["K‑pop", "Rock ’n’ Roll"], ["K-pop", "Rock 'n' Roll"]),
        ("Zürich", [unicodedata.normalize("NFD", "Zürich")], ["Zürich"]),
        # Signs without letters, single characters and nothing are no names.
        ("🇮🇷 !! – 42", ["42", "🇮🇷", "!!", "–", "", " "], ["42"]),
        ("A man of B, I think.", ["A"], []),
        ("A man of B, I think.", ["Bo", "B"], []),
        ("anything", [], []),
    ],
)  # fmt: skip
def test_mentions_of_names(text: str, names: list[str], found: list[str]) -> None:
    assert forms(text, *names) == found


def test_a_name_inside_another_name_is_not_mentioned() -> None:
    text = "The Oslo Opera House stands in Oslo. Oslo Opera House is new."
    assert [found.start for found in mentions(text, ["Oslo"], inside=["Oslo Opera House"])] == [text.index("Oslo.")]
    assert forms("Metallica is by Metallica.", "Metallica", inside=("Metallica",)) == []
    assert forms("Oslo Municipality governs Oslo.", "Oslo Municipality", inside=("Oslo",)) == ["Oslo Municipality"]


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (("India", "in", "IN", "IND"), "They live in a house, they indeed can, in South Bend, IN.", []),
        (("Norway", "no", "NO"), "There is no doubt: NO.", []),
        (("Italy", "it", "IT"), "Is it so? The IT company says it is.", []),
        (("Her (film)", "Her"), "She saw her mother.", []),
        (("United States of America", "US", "us", "USA"), "The US and the USA joined us.", ["US", "USA"]),
        (("United Kingdom", "Great Britain", "UK", "GB"), "UK or GB, uk or gb", ["UK", "GB"]),
        (("pop music", "pop", "Pop"), "Pop or pop, not POP", ["Pop", "pop"]),
        (("rhythm and blues", "R&B"), "an R&B song", ["R&B"]),
        (("C#", "C"), "C# is like C, not c#.", ["C#"]),
        (("Brian Eno", "Eno"), "Eno met ENO", ["Eno"]),
    ],
)
def test_short_forms_are_initials_or_words_in_their_case(names: tuple[str, ...], text: str, found: list[str]) -> None:
    assert forms(text, *names) == found


def test_in_any_case_short_forms_keep_theirs() -> None:
    text = "Nice is nice, and us is not the US."
    found = mentions(text, ["Nice", "Nice US", "US"], any_case=True)
    assert [text[mention.start : mention.end] for mention in found] == ["Nice", "nice", "US"]


def test_whether_a_name_is_written_anywhere() -> None:
    assert is_written("in pre-New\u00a0Yorkers", "New  York")
    assert not is_written("new york", "New York")
    assert not is_written("anything", " ")


@pytest.mark.parametrize(
    "name", ["C++ (\\Harbour) [sic].*", "{0} %s ${HOME}", "../../etc/passwd", "<b>Bold</b> & Co", "^$|"]
)
def test_a_name_is_no_pattern(name: str) -> None:
    assert forms(f"He was born in {name} once, and in C++ Harbour.", name) == ([name] if name != "^$|" else [])
