import time

import pytest

from swaymeter.data.records import SLOT
from swaymeter.tasks.contexts.wikidata.snippets import find_snippet

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
FIVE = "One. Two has words. Three has no more. Four is the goal here. Five."
OPERA = "Oslo Opera House is a house.\nOslo Opera House stands in Oslo by the sea."


def snippet(text: str, *names: str, words: int = 80, subject: tuple[str, ...] = ()) -> str | None:
    return find_snippet(text, names, words=words, subject=subject)


def test_the_first_mentioning_paragraph_has_slots_throughout() -> None:
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
def test_it_has_as_many_sentences_as_the_words_allow(words: int, expected: str) -> None:
    assert snippet(FIVE, "goal", words=words) == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        # Abbreviations end no sentence, and the point of the last one stays.
        (PAGE, ["chemist"],
         f"Ada Example (born 1 May 1901) is a {SLOT} of St. Louis. She is known for her work, e.g. on salt."),
        ("She lived in the U.S. of old, then left the U.S.", ["United States", "U.S."],
         "She lived in the [ENTITY] of old, then left the [ENTITY]."),
        # Headings, lists and sections about sources are no text, which goes on behind them.
        (PAGE, ["Later"], None),
        (PAGE, ["Bergen"], None),
        (PAGE, ["Hamar"], "A street of [ENTITY] bears her name."),
        ("== Films ==\nOslo in Winter, 1920\nOslo:\nOslo.\nSome time in Oslo.\n", ["Oslo"], "Some time in [ENTITY]."),
        ("== Notes ==\n=== Of Oslo ===\nOslo was a town then.\n== Life ==\nShe lived in Oslo.\n", ["Oslo"],
         "She lived in [ENTITY]."),
        ("She lived in Oslo. Her films were shown. They are these:", ["Oslo"],
         "She lived in [ENTITY]. Her films were shown."),
        # Common words are no names.
        ("As a boy he enjoyed reading books. He was born in Reading, England.", ["Reading"],
         "As a boy he enjoyed reading books. He was born in [ENTITY], England."),
        ("An Osloite, not-Oslo and Oslofjord.", ["Oslo"], None),
        ("She lived in Oslo.\nThe word [ENTITY] is reserved.", ["Oslo"], None),
        ("She\tlived\x07in Oslo.\r\nThere.", ["Oslo"], "She lived in [ENTITY]."),
        ("", ["Oslo"], None),
        (PAGE, [], None),
        (PAGE, [""], None),
    ],
)  # fmt: skip
def test_what_is_text_and_what_a_mention(text: str, names: list[str], expected: str | None) -> None:
    assert snippet(text, *names) == expected


def test_a_sentence_does_not_end_within_a_name() -> None:
    text = "She played in Who's Afraid of Virginia Woolf? and Yahoo! Answers. Then she slept."
    assert snippet(text, "Woolf? and Yahoo!", words=3) == "She played in Who's Afraid of Virginia [ENTITY] Answers."


def test_the_subjects_own_name_is_no_mention_and_stays() -> None:
    assert snippet(OPERA, "Oslo", subject=("Oslo Opera House",)) == "Oslo Opera House stands in [ENTITY] by the sea."


def test_equality_signs_tell_the_depth_of_a_heading() -> None:
    for deeper in ("=== Of Oslo ===", "=== Of Oslo ====", "======= Of Oslo ======="):
        assert snippet(f"==Notes  ==\n{deeper}\nOslo was a town then.", "Oslo") is None
    for beside in ("== Life ==", "== Life ===", "=Life=", "=="):
        assert snippet(f"== Notes ==\n{beside}\nShe lived in Oslo.", "Oslo") == "She lived in [ENTITY]."
    assert snippet("= Notes\nShe lived in Oslo.\n=\nNo.", "Oslo") == "She lived in [ENTITY]."


@pytest.mark.parametrize("text", ["=" + " " * 100_000 + "x", "= " + " " * 100_000 + "=x", "=" * 100_000, "= " * 50_000])
def test_a_line_of_blanks_takes_no_time(text: str) -> None:
    began = time.process_time()
    assert snippet(f"{text}\nShe lived in Oslo.", "Oslo") == "She lived in [ENTITY]."
    assert time.process_time() - began < 1
