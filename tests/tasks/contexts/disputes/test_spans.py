import pytest

from swaymeter.data import reasons
from swaymeter.tasks.contexts.disputes.running_text import PlacedSentence
from swaymeter.tasks.contexts.disputes.spans import Replacement, likeness, replacement

TEXT = """{{Infobox|owner=Crown}}
'''Velm''' is an old [[town]].<ref>x</ref> It was founded by Ada Kelm, a weaver, in 1621.

== Trade ==
Its trade with Paris, France is large.
"""


def _replaced(old: str, new: str, *, text: str = TEXT, max_words: int = 5) -> Replacement | str:
    assert text.count(old) == 1
    return replacement(text, text.replace(old, new), max_words=max_words)


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        ("weaver", "queen", ("weaver", "queen")),
        ("a weaver", "an old queen of Velm", ("a weaver", "an old queen of Velm")),
        ("Paris, France", "Bern, Switzerland", ("Paris, France", "Bern, Switzerland")),
        ("Paris, France", "Paris, Texas", ("France", "Texas")),
        ("1621", "1622", ("1621", "1622")),
        ("[[town]]", "[[town|village]]", ("town", "village")),
        ("[[town]]", "village", ("town", "village")),
        ("'''Velm'''", "'''Orm'''", ("Velm", "Orm")),
        ("old [[town]].<ref>", "old [[seaside resort]].<ref>", ("town", "seaside resort")),
    ],
)
def test_the_words_that_differ_are_the_spans(old: str, new: str, spans: tuple[str, str]) -> None:
    forward = _replaced(old, new)
    assert isinstance(forward, Replacement)
    assert (forward.first.text, forward.second.text) == spans
    backward = replacement(TEXT.replace(old, new), TEXT, max_words=5)
    assert isinstance(backward, Replacement)
    assert (backward.second.text, backward.first.text) == spans


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Crown", "City", reasons.NOT_IN_RUNNING_TEXT),
        ("x</ref>", "y</ref>", reasons.NOT_IN_RUNNING_TEXT),
        ("Trade ==", "Commerce ==", reasons.NOT_IN_RUNNING_TEXT),
        ("[[town]]", "[[city|town]]", reasons.NOT_IN_RUNNING_TEXT),
        ("weaver", "<b>queen</b>", reasons.NOT_IN_RUNNING_TEXT),
        ("weaver", "{{queen}}", reasons.NOT_IN_RUNNING_TEXT),
        ("[[town]]", "town", reasons.ONLY_MARKUP),
        ("a weaver, in", "a weaver in", reasons.ONLY_MARKUP),
        ("a weaver, ", "", reasons.NOT_SINGLE_SPAN),
        ("weaver", "weaver and queen", reasons.NOT_SINGLE_SPAN),
        ("weaver", "queen\n\nand more", reasons.NOT_SINGLE_SPAN),
        ("weaver", '"queen"', reasons.NOT_SINGLE_SPAN),
        ("weaver", "{0}", reasons.NOT_SINGLE_SPAN),
        ("weaver", "queen of all those lands there", reasons.SPAN_TOO_LONG),
        ("is an old [[town]].<ref>x</ref> It was founded by Ada Kelm", "was", reasons.SPAN_TOO_LONG),
        ("old [[town]].<ref>x</ref> It was", "new [[town]].<ref>x</ref> It is", reasons.NOT_IN_RUNNING_TEXT),
        ("'''Velm''' is", "{|\n'''Velm''' is", reasons.NOT_SINGLE_SPAN),
    ],
)
def test_other_edits_are_rejected_with_a_reason(old: str, new: str, reason: str) -> None:
    assert _replaced(old, new) == reason


def test_zero_and_two_changes_are_no_span() -> None:
    both = TEXT.replace("weaver", "queen").replace("large", "small")
    for other in (TEXT, both):
        assert replacement(TEXT, other, max_words=50) == reasons.NOT_SINGLE_SPAN


@pytest.mark.parametrize(
    ("opening", "closing"), [("<!--", "-->"), ("{{box|", "}}"), ("<ref>", "</ref>"), ("{|\n|", "\n|}")]
)
def test_markup_over_headings_hides_text_between(opening: str, closing: str) -> None:
    text = f"{opening}\n== One ==\nAda Kelm was a weaver in her time.\n== Two ==\n{closing}\nText."
    assert _replaced("weaver", "queen", text=text) == reasons.NOT_IN_RUNNING_TEXT


def test_repeated_lines_differ_by_their_position() -> None:
    text = "Ada was a weaver in Velm.\n\nAda was a weaver in Velm.\n"
    other_last_line = "queen".join(text.rsplit("weaver", 1))
    change = replacement(text, other_last_line, max_words=5)
    assert isinstance(change, Replacement)
    assert (change.first.text, change.second.text) == ("weaver", "queen")
    assert change.first.sentence() == PlacedSentence("Ada was a weaver in Velm.", 10)


def _change_at_sign(text: str) -> Replacement:
    """Return the replacement of `old` by `new` at the sign @."""
    change = replacement(text.replace("@", "old"), text.replace("@", "new"), max_words=5)
    assert isinstance(change, Replacement)
    return change


FRAME = "One two three four five @ six seven eight nine ten."


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (FRAME, 1),
        (FRAME.replace("One two", "Eleven"), 0.8),  # 3 of 5 words before the span, 5 of 5 after it
        ("Something else is @ and stands in other words.", 0),
        ("One two three four five @ eleven twelve thirteen fourteen fifteen.", 0),  # only the words before are equal
        ("Eleven twelve thirteen fourteen fifteen @ six seven eight nine ten.", 0),
        ("Five four three two one @ ten nine eight seven six.", 0),  # the words have another order
        ("@", 0),
    ],
)
def test_likeness_of_changes_compares_neighbouring_words(other: str, expected: float) -> None:
    change = _change_at_sign(FRAME)
    assert change.before == ("one", "two", "three", "four", "five")
    assert change.after == ("six", "seven", "eight", "nine", "ten")
    assert likeness(change, _change_at_sign(other)) == pytest.approx(expected)


def test_likeness_of_lines_compares_neighbouring_lines() -> None:
    text = "* A mole\n* @\n* A quay\n* #\n* A pier of stone"
    first, second = _change_at_sign(text.replace("#", "x")), _change_at_sign(text.replace("@", "x").replace("#", "@"))
    assert first.before == ("a", "mole")
    assert first.after == ("a", "quay", "x", "a", "pier")
    assert second.before == ("a", "mole", "x", "a", "quay")
    assert likeness(first, first) == likeness(_change_at_sign("@"), _change_at_sign("@")) == 1
    assert likeness(first, second) == 0


@pytest.mark.parametrize("heading", ["= One =", "== One == ", "==One== <!-- a --> ", "=== One ===<!-- a = b -->"])
def test_heading_may_end_with_a_comment(heading: str) -> None:
    text = f"Text.\n{heading}\nMore."
    assert _replaced("One", "Two", text=text) == reasons.NOT_IN_RUNNING_TEXT


def test_broken_markup_of_another_section_hides_nothing() -> None:
    text = f"Ada was a weaver in Velm, p < 0.05.\n== Two ==\n{20_000 * '<b x=1 '}"
    change = _replaced("weaver", "queen", text=text)
    assert isinstance(change, Replacement)
