import pytest

from data import reasons
from tasks.contexts.disputes.spans import NoReplacement, Replacement, replacement, same_place

TEXT = """{{Infobox|owner=Crown}}
'''Velm''' is an old [[town]].<ref>x</ref> It was founded by Ada Kelm, a weaver, in 1621.

== Trade ==
Its trade with Paris, France is large.
"""


def _replaced(old: str, new: str, *, text: str = TEXT, most_words: int = 5) -> Replacement | NoReplacement:
    assert text.count(old) == 1
    return replacement(text, text.replace(old, new), most_words=most_words)


@pytest.mark.parametrize(
    ("old", "new", "spans"),
    [
        ("weaver", "queen", ("weaver", "queen")),
        ("a weaver", "an old queen", ("a weaver", "an old queen")),
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
    found = _replaced(old, new)
    assert isinstance(found, Replacement)
    assert (found.first.text, found.second.text) == spans
    other = replacement(TEXT.replace(old, new), TEXT, most_words=5)
    assert isinstance(other, Replacement)
    assert (other.second.text, other.first.text) == spans


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
        ("a weaver, ", "", reasons.NOT_ONE_SPAN),
        ("weaver", "weaver and queen", reasons.NOT_ONE_SPAN),
        ("weaver", "queen\n\nand more", reasons.NOT_ONE_SPAN),
        ("weaver", '"queen"', reasons.NOT_ONE_SPAN),
        ("weaver", "{0}", reasons.NOT_ONE_SPAN),
        ("weaver", "queen of all who were there then", reasons.SPAN_TOO_LONG),
        ("is an old [[town]].<ref>x</ref> It was founded by Ada Kelm", "was", reasons.SPAN_TOO_LONG),
        ("old [[town]].<ref>x</ref> It was", "new [[town]].<ref>x</ref> It is", reasons.NOT_IN_RUNNING_TEXT),
        ("'''Velm''' is", "{|\n'''Velm''' is", reasons.NOT_ONE_SPAN),
    ],
)  # fmt: skip
def test_anything_else_is_no_replacement_of_a_span(old: str, new: str, reason: str) -> None:
    assert _replaced(old, new) == NoReplacement(reason)


def test_a_span_may_have_as_many_words_as_asked_for() -> None:
    five = "queen of all the land"
    assert isinstance(_replaced("weaver", five), Replacement)
    assert _replaced("weaver", five, most_words=4) == NoReplacement(reasons.SPAN_TOO_LONG)


def test_changes_in_two_lines_are_not_one_span() -> None:
    both = TEXT.replace("weaver", "queen").replace("large", "small")
    assert replacement(TEXT, both, most_words=50) == NoReplacement(reasons.NOT_ONE_SPAN)


def test_equal_texts_differ_in_nothing() -> None:
    assert replacement(TEXT, TEXT, most_words=5) == NoReplacement(reasons.NOT_ONE_SPAN)


@pytest.mark.parametrize(
    ("opening", "closing"), [("<!--", "-->"), ("{{box|", "}}"), ("<ref>", "</ref>"), ("{|\n|", "\n|}")]
)
def test_what_reaches_over_headings_hides_what_is_between(opening: str, closing: str) -> None:
    text = f"{opening}\n== One ==\nAda Kelm was a weaver in her time.\n== Two ==\n{closing}\nText."
    assert _replaced("weaver", "queen", text=text) == NoReplacement(reasons.NOT_IN_RUNNING_TEXT)


def test_the_same_line_twice_is_told_apart_by_its_place() -> None:
    text = "Ada was a weaver in Velm.\n\nAda was a weaver in Velm.\n"
    found = replacement(text, text[::-1].replace("revaew", "neeuq", 1)[::-1], most_words=5)
    assert isinstance(found, Replacement)
    assert (found.first.text, found.second.text) == ("weaver", "queen")
    assert found.first.sentence() == "Ada was a weaver in Velm."


def test_a_place_is_known_by_the_words_beside_it() -> None:
    frame = "One two three four five {} six seven eight nine ten."
    here, changed, elsewhere = (
        replacement(text.replace("{}", "old"), text.replace("{}", "new"), most_words=5)
        for text in (frame, frame.replace("One two", "Eleven"), "Something else is {} and stands in other words.")
    )
    assert isinstance(here, Replacement)
    assert isinstance(changed, Replacement)
    assert isinstance(elsewhere, Replacement)
    assert here.around == ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    assert same_place(here, changed)
    assert not same_place(here, elsewhere)
