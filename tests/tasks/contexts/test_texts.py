import random

from swaymeter.tasks.contexts.texts import sentences_of

ODD = [*"\u2028\u2029\u2005\u0085\u00a0\u3000.?! Beé東)(", chr(34)]


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "Dr. Ada Example of the U.S. was born in St. John. She left in 1990."
    assert list(sentences_of(text)) == ["Dr. Ada Example of the U.S. was born in St. John. ", "She left in 1990."]


def test_no_text_loses_a_letter_or_fails() -> None:
    draw = random.Random(7)
    for _ in range(3000):
        text = "".join(draw.choice(ODD) for _ in range(draw.randint(0, 14)))
        assert "".join(sentences_of(text)) == text
