"""Exchange rules: words in a text are replaced by their counterparts, one by one."""

import re
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter, ValidationError

from swaymeter.data.catalog.exchange import AnExchange, exchanges
from swaymeter.data.catalog.group_texts import FOLDER, group_texts

GENDER = exchanges()["gender"]
GENDERED = {word for pair in GENDER.pairs for word in pair}
TEXTS = group_texts(FOLDER / "gender.yaml")


def words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def exchanged_sentences() -> Iterator[tuple[str, str]]:
    for name, context_set in TEXTS.contexts.items():
        if context_set.exchanged is not None:
            pairs = zip(TEXTS.sets[context_set.exchanged], TEXTS.sets[name], strict=True)
            yield from ((sentence.text, exchanged.text) for sentence, exchanged in pairs)


@pytest.mark.parametrize("pair", GENDER.pairs, ids="-".join)
def test_the_words_of_a_pair_swap_places(pair: tuple[str, str]) -> None:
    after = " book." if pair == ("his", "her") else "."  # without a noun, her becomes him
    for word, counterpart in (pair, pair[::-1]):
        assert GENDER(f"So {word}{after}") == f"So {counterpart}{after}"
        assert GENDER(f"{word.capitalize()}{after}") == f"{counterpart.capitalize()}{after}"
        assert GENDER(f"So {word.upper()}{after}") == f"So {counterpart.upper()}{after}"
        part_of_longer_words = f"So un{word}y, {word}_x."
        assert GENDER(part_of_longer_words) == part_of_longer_words


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("her own book", "his own book"),
        ("I saw her.", "I saw him."),
        ("I saw her and left", "I saw him and left"),
        ("I gave it to her, her book", "I gave it to him, his book"),
        ("a book of hers", "a book of his"),
        ("a book of his", "a book of hers"),
        ("his book is his", "her book is hers"),
        ("a woman's book", "a man's book"),
        ("{he} and he", "{he} and she"),
        ("Men! MEN, men.", "Women! WOMEN, women."),
        ("the man herself", "the woman himself"),
        ("nobody here", "nobody here"),
    ],
)
def test_exchanged_texts_keep_case_slots_and_grammar(text: str, exchanged: str) -> None:
    assert GENDER(text) == exchanged


@pytest.mark.parametrize(("text", "exchanged"), list(exchanged_sentences()))
def test_bundled_sentences_are_exchanged_word_by_word(text: str, exchanged: str) -> None:
    before, after = words(text), words(exchanged)
    assert len(before) == len(after)
    for word, counterpart in zip(before, after, strict=True):
        if word.lower() in GENDERED:
            swap = (word.lower(), counterpart.lower())
            assert {swap, swap[::-1]} & set(GENDER.pairs)
            assert word[0].isupper() == counterpart[0].isupper()
        else:
            assert word == counterpart
    assert GENDER(exchanged) == text != exchanged


PAIRS = (("işçi", "doktor"), ("king", "queen"), ("mason", "cook"))
# The lower case of the Kelvin sign is k, and the capital of the long s is S.
KELVIN_SIGN, LONG_S = "\u212a", "\u017f"


@pytest.mark.parametrize(
    ("pairs", "text", "exchanged"),
    [
        (
            (("bus driver", "surgeon"), ("rich", "poor")),
            "A rich bus driver drives a bus.",
            "A poor surgeon drives a bus.",
        ),
        ((("his", "her"), ("him", "her")), "I saw her today with her book.", "I saw him today with his book."),
        (PAIRS, "İşçi çalışır.", "Doktor çalışır."),
        (PAIRS, "IŞÇI", "DOKTOR"),
        (PAIRS, f"a {KELVIN_SIGN}ing", "a Queen"),
        (PAIRS, f"a ma{LONG_S}on", "a cook"),
    ],
)
def test_pairs_may_be_phrases_of_any_letters(pairs: tuple[tuple[str, str], ...], text: str, exchanged: str) -> None:
    assert TypeAdapter(AnExchange).validate_python([list(pair) for pair in pairs])(text) == exchanged


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("he", "He")], "'he' would be exchanged with itself"),
        ([("young", "old"), ("new", "old")], "'old' is in 2 pairs; keep at most 1 of the pairs with 'old'"),
        ([("her", "a"), ("her", "b"), ("her", "c")], "'her' is in 3 pairs; keep at most 2 of the pairs with 'her'"),
        ([("he",)], "at least 2"),
        ([("a{entity}", "b")], "'a{entity}', 'b': write the words without '{', which marks slots"),
        ([], "at least 1"),
        ("sex", "no exchange rule is named 'sex'"),
    ],
)
def test_an_impossible_rule_is_refused(pairs: object, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        TypeAdapter(AnExchange).validate_python(pairs)
