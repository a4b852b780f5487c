import random
import time

import pytest

from swaymeter.tasks.contexts.disputes.running_text import GAP, running_text, sentence_at, words_of
from swaymeter.tasks.contexts.texts import sentences_of


@pytest.mark.parametrize(
    ("wikitext", "lines"),
    [
        ("'''Velm''' is a ''very'' old [[town]].", ["Velm is a very old town."]),
        ("[[Town|A town]] with [[wall]]s, [https://x.org a tower][https://z.org].", ["A town with walls, a tower."]),
        ("See https://y.org, then.", [f"See {GAP}, then."]),
        ("One.<ref>Not this.</ref> Two.<ref name=a /> Three.<!-- nor this -->", ["One. Two. Three."]),
        ("{{Infobox|name=Velm\n|x=y}}\nVelm{{cn}} is old {{citation needed}}.", ["Velm is old."]),
        ("== Life ==\nShe lived.\n=== Death ===", ["She lived."]),
        ("* one\n# two\n: three\n; four", ["one", "two", "three", "four"]),
        ("{| class=x\n| cell\n|}\nText.", ["Text."]),
        ("[[File:a.jpg|thumb|A [[caption]].]]Text.[[Category:Towns]][[de:Velm]]", ["Text."]),
        ("[[Eve: a story]] and [[wikt:word|word]].", ["Eve: a story and word."]),
        ("H<sub>2</sub>O, 5&nbsp;m,<br/>&lt;b&gt; &amp; &#123;&#x7b;x&#125;}.", ["H2O, 5 m, <b> & {{x}}."]),
        ("<gallery>a.jpg|One</gallery><b>z</b>.", ["z."]),
        ("<math>x</math>, <code>y</code>, <s>z</s> and {{{1}}}.", [f"{GAP}, {GAP}, {GAP} and {GAP}."]),
        ("He lived in {{lang|xx|Vélm}} and {{convert|5|mi}}s.", [f"He lived in {GAP} and {GAP}s."]),
        ("Velm{{Sfn|Kelm|1901}}{{page_needed}} ({{r|x}}) is old.", ["Velm is old."]),
        ("{{Infobox}}\n__NOTOC__\n{{{1}}}\n----\nText.", ["Text."]),
        ("#REDIRECT [[Velm]]", []),
        ("A broken [[link\nand a {{template\nText.", ["Text."]),
        # A lone surrogate becomes a question mark.
        ("&#xD800;&#x202e;A &#0; and \ud800 text.", ["A &#0; and? text."]),
        ("", []),
    ],
)
def test_running_text_has_no_markup(wikitext: str, lines: list[str]) -> None:
    assert running_text(wikitext) == lines


@pytest.mark.parametrize(
    "markup",
    [
        "<b>",
        "<ref>",
        "<p>",
        "<nowiki>",
        "<a ",
        "<b x=1 ",
        "<br x=1 ",
        "<nowiki ",
        '<br x="> ',
        "<b / >",
        "<!--",
        "[http://x ",
        "[//x ",
        "[http://x }}",
        "[http://x ''",
        "[[a|",
        "[[a|]",
        "[[a|[http://x ]]",
        "{{a|",
        "{{a|}",
        "{{{a|}}",
        "\n==<li>}}}{{a|</li>",
        "{{a|<b>}}</b>",
        "<b>{{a|</b>}}",
        "\n{| a ",
        "\n{|\n|",
        "<li>\n!}}}'''",
        "<td>}}}''{{a|",
        "\n</b>{|\n*\n==}}}|{{{",
        "\n{|\n|-\n| ''a\n|}",
    ],
)
def test_slow_markup_is_not_parsed(markup: str) -> None:
    start = time.process_time()
    assert running_text("Text.\n" + 20_000 * markup) == []  # the parser would take minutes or hours
    assert time.process_time() - start < 2


def test_an_unclosed_tag_hides_no_later_text() -> None:
    page = "Text with <b>bold, a <ref name=x and a [[link.\n" + 2000 * "More of ''it'' is [[here]].<ref>x</ref>\n"
    assert running_text(page)[-1] == "More of it is here."


@pytest.mark.parametrize(("opening", "closing"), [("{{", "}}"), ("{{{", "}}}"), ("<b>", "</b>"), ("[[a|", "]]")])
def test_deeply_nested_markup_is_not_read(opening: str, closing: str) -> None:
    assert running_text(800 * opening + "x" + 800 * closing + "\nText.") == []
    assert running_text(20 * opening + "x" + 20 * closing + "\nText.")[-1] == "Text."


def test_words_are_not_split_at_hyphens_and_apostrophes() -> None:
    text = "The third-year king's 1,000.5 U.S. ships—\u05d9\u05e4\u05d5, na\u0308ive."
    words = [word[0] for word in words_of(text)]
    assert words == [
        "The",
        "third-year",
        "king's",
        "1,000.5",
        "U.S",
        "ships",
        "\u05d9\u05e4\u05d5",
        "na\u0308ive",
    ]


def _sentence(paragraph: str, span: str) -> str | None:
    start = paragraph.index(span)
    sentence = sentence_at(paragraph, start, start + len(span))
    assert sentence is None or sentence.text[sentence.start :].startswith(span)
    return sentence.text if sentence else None


LIFE = 'Dr. Kelm was born in St. Orm in 1901. "She had a very long life," they say. She had 3.5 ships of her own!'


@pytest.mark.parametrize(
    ("text", "span", "sentence"),
    [
        (LIFE, "Orm", "Dr. Kelm was born in St. Orm in 1901."),
        (LIFE, "3.5", "She had 3.5 ships of her own!"),
        (LIFE, '1901. "She', None),  # the span crosses two sentences
        ("  It is.  She was a king of kings, and a king. ", "king.", "She was a king of kings, and a king."),
        (f"He lived grey in {GAP} there and here.", "grey", None),
        (f"It is a grey tower here. {GAP}", "grey", "It is a grey tower here."),
        (f"The town of {GAP} is large. It is a grey tower here.", "grey", "It is a grey tower here."),
    ],
)
def test_sentence_contains_the_whole_span(text: str, span: str, sentence: str | None) -> None:
    assert _sentence(text, span) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "Lighthouse: grey",
        "It is grey.",
        "a grey tower on the western shore",
        "grey " * 101 + ".",
        f"A grey {2000 * 'o'} is in the sea.",
    ],
)
def test_entries_fragments_and_long_texts_are_no_sentences(text: str) -> None:
    assert _sentence(text, "grey") is None


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "Dr. Ada Example of the U.S. was born in St. John. She left in 1990."
    assert list(sentences_of(text)) == ["Dr. Ada Example of the U.S. was born in St. John. ", "She left in 1990."]


def test_splitting_odd_texts_loses_no_character() -> None:
    rng = random.Random(7)
    odd_characters = [*"\u2028\u2029\u2005\u0085\u00a0\u3000.?! Beé東)(", '"']
    for _ in range(3000):
        text = "".join(rng.choice(odd_characters) for _ in range(rng.randint(0, 14)))
        assert "".join(sentences_of(text)) == text
