import time

import pytest

from tasks.contexts.disputes.running_text import running_text, sentence_at, words_of


@pytest.mark.parametrize(
    ("wikitext", "lines"),
    [
        ("'''Velm''' is a ''very'' old [[town]].", ["Velm is a very old town."]),
        ("[[Town|A town]] with [[wall]]s, [https://x.org a tower] https://y.org.", ["A town with walls, a tower."]),
        ("One.<ref>Not this.</ref> Two.<ref name=a /> Three.<!-- nor this -->", ["One. Two. Three."]),
        ("{{Infobox|name=Velm\n|x=y}}\nVelm{{cn}} is old {{citation needed}}.", ["Velm is old."]),
        ("== Life ==\nShe lived.\n=== Death ===", ["She lived."]),
        ("* one\n# two\n: three\n; four", ["one", "two", "three", "four"]),
        ("{| class=x\n| cell\n|}\nText.", ["Text."]),
        ("[[File:a.jpg|thumb|A [[caption]].]]Text.[[Category:Towns]][[de:Velm]]", ["Text."]),
        ("[[Eve: a story]] and [[wikt:word|word]].", ["Eve: a story and word."]),
        ("H<sub>2</sub>O, 5&nbsp;m,<br/>&lt;b&gt; &amp; &#123;&#x7b;x&#125;}.", ["H2O, 5 m, <b> & {{x}}."]),
        ("<gallery>a.jpg|One</gallery><math>x</math><code>y</code><b>z</b>.", ["z."]),
        ("Velm ({{lang|xx|Vélm}}; born {{birth date}}) is old.", ["Velm (born) is old."]),
        ("Velm ({{pron|x}}) is old.", ["Velm is old."]),
        ("__NOTOC__\n{{{1}}}\n----\nText.", ["Text."]),
        ("#REDIRECT [[Velm]]", []),
        ("A broken [[link\nand a {{template\nText.", ["Text."]),
        ("&#xD800;&#x202e;A &#0; and \ud800 text.", ["A &#0; and? text."]),
        ("", []),
    ],
)  # fmt: skip
def test_what_a_reader_sees(wikitext: str, lines: list[str]) -> None:
    assert running_text(wikitext) == lines


@pytest.mark.parametrize("mark", ["<b>", "<ref>", "[http://x ", "<!--", "[[a|", "{{"])
def test_markup_that_never_ends_does_not_take_for_ever(mark: str) -> None:
    began = time.monotonic()
    assert running_text("Text.\n" + 30_000 * mark) == []
    assert time.monotonic() - began < 5


def test_words_are_not_parted_at_hyphens_apostrophes_and_points_within_numbers() -> None:
    text = "The third-year king's 1,000.5 U.S. ships—\u05d9\u05e4\u05d5, na\u0308ive."
    said = [word[0] for word in words_of(text)]
    assert said == ["The", "third-year", "king's", "1,000.5", "U.S", "ships", "\u05d9\u05e4\u05d5", "na\u0308ive"]


def _sentence(paragraph: str, span: str) -> str | None:
    start = paragraph.index(span)
    return sentence_at(paragraph, start, start + len(span))


def test_the_sentence_that_holds_a_span() -> None:
    text = 'Dr. Kelm was born in St. Orm in 1901. "She had a very long life," they say. She had 3.5 ships of her own!'
    assert _sentence(text, "Orm") == "Dr. Kelm was born in St. Orm in 1901."
    assert _sentence(text, "3.5") == "She had 3.5 ships of her own!"
    assert _sentence(text, '1901. "She') is None  # it is in two


@pytest.mark.parametrize(
    "text", ["Lighthouse: grey", "It is grey.", "a grey tower on the western shore", "grey " * 101 + "."]
)
def test_an_entry_a_fragment_and_a_flood_are_no_sentences(text: str) -> None:
    assert _sentence(text, "grey") is None


def test_spaces_that_make_the_library_panic_are_made_plain_first() -> None:
    text = "She was here with D\u2029. and\u2028then\u2005she left\u0085. Well."
    assert _sentence(text, "then") is not None
