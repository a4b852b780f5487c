import unicodedata

import pytest

from tasks.contexts.wikidata.mentions import is_written, mentions


def forms(text: str, *names: str, inside: tuple[str, ...] = ()) -> list[str]:
    found = mentions(text, names, inside=inside)
    assert all(text[mention.start : mention.end] == mention.form for mention in found)
    return [mention.form for mention in found]


def test_names_are_found_in_the_order_of_the_text() -> None:
    assert forms("OSLO was Christiania; it is Oslo.", "Oslo", "Christiania") == ["OSLO", "Christiania", "Oslo"]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Reading", "As a boy he enjoyed reading books. He was born in Reading, England.", ["Reading"]),
        ("Nice", "It was nice in Nice.", ["Nice"]),
        ("Polish", "You may polish it as the Polish do.", ["Polish"]),
        ("Bath", "He took a bath in Bath.", ["Bath"]),
        ("Cork", "A cork came from CORK.", ["CORK"]),
        ("Split", "They split up in Split.", ["Split"]),
        ("Orange", "An orange grows in Orange.", ["Orange"]),
        ("Nice Guys", "The nice guys were the Nice Guys.", ["Nice Guys"]),
        ("eBay", "They sold it on eBay; EBay grew; EBAY; ebay.", ["eBay", "EBay", "EBAY"]),
        ("The The", "Is the the band of The The?", ["The The"]),
    ],
)
def test_a_name_with_capitals_is_no_word_without_them(name: str, text: str, found: list[str]) -> None:
    assert forms(text, name) == found
    assert forms(text, name, name.lower()) == found  # nor does an alias in small letters make it one


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("journalist", "Journalist by trade, a journalist, JOURNALIST", ["Journalist", "journalist", "JOURNALIST"]),
        ("Film actor", "A film actor. Film Actor!", ["film actor", "Film Actor"]),
        ("The Hague", "He came to the Hague, that is The Hague.", ["the Hague", "The Hague"]),
        ("van der Berg", "Van der Berg, Van Der Berg, van der Berg", ["Van der Berg", "Van Der Berg", "van der Berg"]),
        ("Bank Of Oslo", "Bank of Oslo", ["Bank of Oslo"]),
    ],
)
def test_capitals_that_tell_nothing_do_not_matter(name: str, text: str, found: list[str]) -> None:
    assert forms(text, name) == found


def test_where_any_case_will_do_short_forms_have_theirs_still() -> None:
    found = mentions("Nice is nice, and us is not the US.", ["Nice", "Nice US", "US"], any_case=True)
    assert [mention.form for mention in found] == ["Nice", "nice", "US"]


def test_whether_a_name_is_written_anywhere() -> None:
    assert is_written("in pre-New\u00a0Yorkers", "New  York")
    assert not is_written("new york", "New York")
    assert not is_written("anything", " ")


@pytest.mark.parametrize(
    "text",
    ["Oslofjord", "Trondheim-Oslo", "Oslo2", "Oslo_", "Łoslo", "Oslo\u0308", "दOslo", "Oslo\u200d\u0928"],
)
def test_a_part_of_a_word_is_no_mention(text: str) -> None:
    assert forms(f"That is {text} here.", "Oslo") == []


@pytest.mark.parametrize(
    "text", ["(Oslo)", "Oslo's", "Oslo-based", "“Oslo”", "Oslo–Bergen", "Bergen–Oslo", "Oslo/Bergen"]
)
def test_a_sign_beside_a_word_does_no_harm(text: str) -> None:
    assert forms(f"That is {text} here.", "Oslo") == ["Oslo"]


def test_a_word_without_case_is_whole_too() -> None:
    assert forms("הוא נולד בנמל. נמל הדמיון יפה.", "נמל הדמיון") == ["נמל הדמיון"]
    assert forms("वह हिन्दी है", "हिन्द") == []  # a vowel sign follows


def test_the_longest_of_names_that_begin_together_counts() -> None:
    names = ("Norway", "Kingdom of Norway", "Norway, Europe")
    assert forms("The Kingdom of Norway, or Norway, Europe.", *names) == ["Kingdom of Norway", "Norway, Europe"]


def test_part_of_a_word_leaves_the_shorter_name() -> None:
    assert forms("New Yorkers of New York City", "New York", "New Yorker", "New York City") == ["New York City"]
    assert forms("the film directors", "film director", "film") == ["film"]


def test_what_lies_inside_another_name_is_not_mentioned() -> None:
    text = "The Oslo Opera House stands in Oslo. Oslo Opera House is new."
    assert [found.start for found in mentions(text, ["Oslo"], inside=["Oslo Opera House"])] == [text.index("Oslo.")]
    assert forms("Metallica is by Metallica.", "Metallica", inside=("Metallica",)) == []


def test_a_longer_name_is_one_mention() -> None:
    assert forms("Oslo Municipality governs Oslo.", "Oslo Municipality", inside=("Oslo",)) == ["Oslo Municipality"]


@pytest.mark.parametrize("text", ["New\u00a0York", "New\u202fYork"])
def test_spaces_that_keep_words_together_are_spaces(text: str) -> None:
    assert forms(f"He left {text} early.", "New York") == [text]


def test_hyphens_and_apostrophes_of_any_kind_are_the_same() -> None:
    assert forms("K‑pop and ‘Rock ’n’ Roll’", "K-pop", "Rock 'n' Roll") == ["K‑pop", "Rock ’n’ Roll"]
    assert forms("K-pop and 'Rock 'n' Roll'", "K‑pop", "Rock ’n’ Roll") == ["K-pop", "Rock 'n' Roll"]


def test_an_accent_written_apart_is_the_same_letter() -> None:
    assert forms("Zürich", unicodedata.normalize("NFD", "Zürich")) == ["Zürich"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("India", "in", "IN", "IND"), "They live in a house, they indeed can, in South Bend, IN."),
        (("Norway", "no", "NO"), "There is no doubt: NO."),
        (("Canada", "can", "CA", "CAN"), "One can move to Los Angeles, CA."),
        (("Italy", "it", "IT"), "Is it so? The IT company says it is."),
        (("Her (film)", "Her"), "She saw her mother."),
    ],
)
def test_codes_of_countries_are_no_names(names: tuple[str, ...], text: str) -> None:
    assert forms(text, *names) == []


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (("United States of America", "US", "us", "USA"), "The US and the USA joined us.", ["US", "USA"]),
        (("United Kingdom", "Great Britain", "UK", "GB"), "UK or GB, uk or gb", ["UK", "GB"]),
        (("pop music", "pop", "Pop"), "Pop or pop, not POP", ["Pop", "pop"]),
        (("rhythm and blues", "R&B"), "an R&B song", ["R&B"]),
        (("C#", "C"), "C# is like C, not c#.", ["C#"]),
        (("Brian Eno", "Eno"), "Eno met ENO", ["Eno"]),
    ],
)
def test_short_forms_are_names_in_their_own_case(names: tuple[str, ...], text: str, found: list[str]) -> None:
    assert forms(text, *names) == found


def test_signs_without_letters_are_no_names() -> None:
    assert forms("🇮🇷 !! – 42", "42", "🇮🇷", "!!", "–", "", " ") == ["42"]
    assert forms("anything", "", "a") == []
    assert forms("A man of B, I think.", "A") == forms("A man of B, I think.", "Bo", "B") == []
    assert forms("anything") == []


@pytest.mark.parametrize(
    "name", ["C++ (\\Harbour) [sic].*", "{0} %s ${HOME}", "../../etc/passwd", "<b>Bold</b> & Co", "^$|"]
)
def test_a_name_is_no_pattern(name: str) -> None:
    assert forms(f"He was born in {name} once, and in C++ Harbour.", name) == ([name] if name != "^$|" else [])
