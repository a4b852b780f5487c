import time
import unicodedata

import pytest

from swaymeter.data.records import SLOT
from swaymeter.tasks.contexts.wikidata.mentions import find_snippet, is_written, mentions


def forms(text: str, *names: str, inside: tuple[str, ...] = ()) -> list[str]:
    return [text[mention.start : mention.end] for mention in mentions(text, names, inside=inside)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Reading", "As a boy he enjoyed reading books. He was born in Reading, England.", ["Reading"]),
        ("Nice", "It was nice in Nice.", ["Nice"]),
        ("Cork", "A cork came from CORK.", ["CORK"]),
        ("Nice Guys", "The nice guys were the Nice Guys.", ["Nice Guys"]),
        ("eBay", "They sold it on eBay; EBay grew; EBAY; ebay.", ["eBay", "EBay", "EBAY"]),
        ("The The", "Is the the band of The The?", ["The The"]),
        # Capitals that do not distinguish a name are ignored.
        ("journalist", "Journalist by trade, a journalist, JOURNALIST", ["Journalist", "journalist", "JOURNALIST"]),
        ("Film actor", "A film actor. Film Actor!", ["film actor", "Film Actor"]),
        ("The Hague", "He came to the Hague, that is The Hague.", ["the Hague", "The Hague"]),
        ("van der Berg", "Van der Berg, Van Der Berg, van der Berg", ["Van der Berg", "Van Der Berg", "van der Berg"]),
        ("Bank Of Oslo", "Bank of Oslo", ["Bank of Oslo"]),
    ],
)
def test_capitalised_name_is_not_the_lowercase_word(name: str, text: str, expected: list[str]) -> None:
    assert forms(text, name) == expected
    if name[0].isupper():
        assert forms(text, name, name.lower()) == expected  # an alias in small letters changes nothing


@pytest.mark.parametrize(
    ("text", "is_word"),
    [(text, False) for text in ("Oslofjord", "Trondheim-Oslo", "Oslo2", "Oslo_", "Łoslo", "Oslo\u0308", "दOslo")]
    + [("Oslo\u200d\u0928", False)]
    + [(text, True) for text in ("(Oslo)", "Oslo's", "Oslo-based", "“Oslo”", "Oslo–Bergen", "Bergen–Oslo", "Oslo/B")],
)
def test_only_whole_words_are_mentions(text: str, is_word: bool) -> None:
    assert forms(f"That is {text} here.", "Oslo") == ["Oslo"] * is_word


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("OSLO was Christiania; it is Oslo.", ["Oslo", "Christiania"], ["OSLO", "Christiania", "Oslo"]),
        ("הוא נולד בנמל. נמל הדמיון יפה.", ["נמל הדמיון"], ["נמל הדמיון"]),
        ("वह हिन्दी है", ["हिन्द"], []),  # a vowel sign follows
        # Of names with the same beginning, the longest whole word counts.
        (
            "The Kingdom of Norway, or Norway, Europe.",
            ["Norway", "Kingdom of Norway", "Norway, Europe"],
            ["Kingdom of Norway", "Norway, Europe"],
        ),
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
)
def test_mentions_are_the_longest_whole_names(text: str, names: list[str], expected: list[str]) -> None:
    assert forms(text, *names) == expected


def test_a_name_inside_another_name_is_not_mentioned() -> None:
    text = "The Oslo Opera House stands in Oslo. Oslo Opera House is new."
    assert [mention.start for mention in mentions(text, ["Oslo"], inside=["Oslo Opera House"])] == [text.index("Oslo.")]
    assert forms("Metallica is by Metallica.", "Metallica", inside=("Metallica",)) == []
    assert forms("Oslo Municipality governs Oslo.", "Oslo Municipality", inside=("Oslo",)) == ["Oslo Municipality"]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
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
def test_short_names_are_initials_or_cased_words(names: tuple[str, ...], text: str, expected: list[str]) -> None:
    assert forms(text, *names) == expected


def test_any_case_does_not_apply_to_short_names() -> None:
    text = "Nice is nice, and us is not the US."
    all_mentions = mentions(text, ["Nice", "Nice US", "US"], any_case=True)
    assert [text[mention.start : mention.end] for mention in all_mentions] == ["Nice", "nice", "US"]


def test_name_inside_a_word_counts_as_written() -> None:
    assert is_written("in pre-New\u00a0Yorkers", "New  York")
    assert not is_written("new york", "New York")
    assert not is_written("anything", " ")


@pytest.mark.parametrize(
    "name", ["C++ (\\Harbour) [sic].*", "{0} %s ${HOME}", "../../etc/passwd", "<b>Bold</b> & Co", "^$|"]
)
def test_name_is_no_regular_expression(name: str) -> None:
    assert forms(f"He was born in {name} once, and in C++ Harbour.", name) == ([name] if name != "^$|" else [])


PAGE = """Ada Example (born 1 May 1901) is a chemist of St. Louis. She is known for her work, e.g. on salt.

Nothing is said here.


== Life ==
She was born in Oslo, the capital. Her father, Dr. J. Example, taught there. She left Oslo in 1920.


=== Later ===
She came back to Oslo.


== References ==
A. Author. Chemists of Bergen. Bergen University Press.


== Legacy ==
A street of Hamar bears her name.
"""


def snippet(text: str, *names: str, words: int = 80, subject: tuple[str, ...] = ()) -> str | None:
    return find_snippet(text, names, words=words, subject=subject)


def test_first_paragraph_with_a_mention_gets_slots() -> None:
    text = f"She was born in {SLOT}, {SLOT}. Her father, Dr. J. Example, taught there. She left {SLOT} in 1920."
    assert snippet(PAGE, "Oslo", "the capital") == text
    text = f"He came to {SLOT} by boat. {SLOT} was cold."
    assert snippet("He came to KRISTIANIA by boat. Oslo was cold.", "Oslo", "Kristiania") == text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (14, "One. Two has words. Three has no more. Four is the [ENTITY] here. Five."),
        (13, "One. Two has words. Three has no more. Four is the [ENTITY] here."),
        (12, "Two has words. Three has no more. Four is the [ENTITY] here."),
        (10, "Three has no more. Four is the [ENTITY] here. Five."),
        (6, "Four is the [ENTITY] here. Five."),
        (3, "Four is the [ENTITY] here."),
    ],
)
def test_snippet_has_as_many_sentences_as_words_allow(words: int, expected: str) -> None:
    text = "One. Two has words. Three has no more. Four is the goal here. Five."
    assert snippet(text, "goal", words=words) == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        # Abbreviations end no sentence, and the point of the last one stays.
        (
            PAGE,
            ["chemist"],
            f"Ada Example (born 1 May 1901) is a {SLOT} of St. Louis. She is known for her work, e.g. on salt.",
        ),
        (
            "She lived in the U.S. of old, then left the U.S.",
            ["United States", "U.S."],
            "She lived in the [ENTITY] of old, then left the [ENTITY].",
        ),
        # Headings, lists and sections about sources are no text. The text continues after them.
        (PAGE, ["Later"], None),
        (PAGE, ["Bergen"], None),
        (PAGE, ["Hamar"], "A street of [ENTITY] bears her name."),
        ("== Films ==\nOslo in Winter, 1920\nOslo:\nOslo.\nSome time in Oslo.\n", ["Oslo"], "Some time in [ENTITY]."),
        (
            "== Notes ==\n=== Of Oslo ===\nOslo was a town then.\n== Life ==\nShe lived in Oslo.\n",
            ["Oslo"],
            "She lived in [ENTITY].",
        ),
        (
            "She lived in Oslo. Her films were shown. They are these:",
            ["Oslo"],
            "She lived in [ENTITY]. Her films were shown.",
        ),
        # Common words are no names.
        (
            "As a boy he enjoyed reading books. He was born in Reading, England.",
            ["Reading"],
            "As a boy he enjoyed reading books. He was born in [ENTITY], England.",
        ),
        ("An Osloite, not-Oslo and Oslofjord.", ["Oslo"], None),
        ("She lived in Oslo.\nThe word [ENTITY] is reserved.", ["Oslo"], None),
        ("She\tlived\x07in Oslo.\r\nThere.", ["Oslo"], "She lived in [ENTITY]."),
        ("", ["Oslo"], None),
        (PAGE, [], None),
        (PAGE, [""], None),
    ],
)
def test_snippet_is_running_text_with_a_mention(text: str, names: list[str], expected: str | None) -> None:
    assert snippet(text, *names) == expected


def test_a_sentence_does_not_end_within_a_name() -> None:
    text = "She played in Who's Afraid of Virginia Woolf? and Yahoo! Answers. Then she slept."
    assert snippet(text, "Woolf? and Yahoo!", words=3) == "She played in Who's Afraid of Virginia [ENTITY] Answers."


def test_name_of_the_subject_gets_no_slot() -> None:
    text = "Oslo Opera House is a house.\nOslo Opera House stands in Oslo by the sea."
    assert snippet(text, "Oslo", subject=("Oslo Opera House",)) == "Oslo Opera House stands in [ENTITY] by the sea."


def test_equals_signs_give_the_depth_of_heading() -> None:
    for deeper in ("=== Of Oslo ===", "=== Of Oslo ====", "======= Of Oslo ======="):
        assert snippet(f"==Notes  ==\n{deeper}\nOslo was a town then.", "Oslo") is None
    for other in ("== Life ==", "== Life ===", "=Life=", "=="):
        assert snippet(f"== Notes ==\n{other}\nShe lived in Oslo.", "Oslo") == "She lived in [ENTITY]."
    # Neither "= Notes" nor "=" is a heading.
    assert snippet("= Notes\nShe lived in Oslo.\n=\nNo.", "Oslo") == "She lived in [ENTITY]."


@pytest.mark.parametrize("text", ["=" + " " * 100_000 + "x", "= " + " " * 100_000 + "=x", "=" * 100_000, "= " * 50_000])
def test_very_long_lines_take_little_time(text: str) -> None:
    start = time.process_time()
    assert snippet(f"{text}\nShe lived in Oslo.", "Oslo") == "She lived in [ENTITY]."
    assert time.process_time() - start < 1
