from time import perf_counter

import pytest

from swaymeter.data.escaping import looks_like_formula
from swaymeter.tasks.contexts.annotation.cells import (
    LARGEST_CELL,
    coded,
    decoded,
    fits,
    guarded,
    plain,
    unguarded,
)

ANY = [
    "", "Oslo", "=1+1", "-5", "+47 22", "@SUM(1)", "\t=1", " =1", '"=1', "\u202e=1", "＝1+1", "1914", "1/2", "3 pm",
    "12 March 2020", "May 5", "TRUE", "false", "5E3", "€5", "'s-Hertogenbosch", "'68 Comeback", "'=1", "''1", "'", "''",
    "a; =cmd|' /C calc'!A0", "x\n- item", "x\n", "\x07bell", "a\rb", "a\r\nb", "_x0041_", "_x005F_x0041_", "\ufffe",
    "[ENTITY] {0} {entity}", "<b>", '"', "שלום", "👩‍🚀", "../../etc/passwd", "\x00", "e", "May",
]  # fmt: skip


@pytest.mark.parametrize("text", ANY)
def test_a_text_is_harmless_and_read_back_as_it_was(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert decoded(coded(text)) == text
    assert not looks_like_formula(guarded(text).lstrip("'")) or guarded(text).startswith("'")
    assert guarded(text)[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n", "＝")
    for saved in (coded(text), guarded(text), decoded(guarded(text)), decoded(text), f" {text}\n"):
        assert plain(saved) == plain(text)


@pytest.mark.parametrize(
    ("text", "is_formula"),
    [(text, True) for text in ("=1", " =1", '"=1', "\u202e=1", "＝1", "\n+1", "-x", "@x")]
    + [(text, False) for text in ("", "Oslo", "a=b", "e-mail", "(=1)", "1-2")],
)
def test_formulas_are_recognised(text: str, is_formula: bool) -> None:
    assert looks_like_formula(text) is is_formula


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (text, f"'{text}")
        for text in ("1914", "1,000", "1/2", "3:15 pm", "12 March 2020", "Sept 5", "TRUE", "5E3", "10%")
    ]
    + [(text, text) for text in ("Oslo", "1914 Oslo", "'s-Hertogenbosch", "Mayor", "May", "1st", "a 1 b 2")]
    + [("a\x07b\r\n\tc", "a_x0007_b_x000D_\n\tc"), ("_x0041_", "_x005F_x0041_")]
    + [('a "=b" - c = d', 'a "=b" - c = d'), ('a;=HYPERLINK("x")', 'a;_x003D_HYPERLINK("x")')],
)
def test_numbers_and_dates_get_an_apostrophe_in_csv(text: str, cell: str) -> None:
    assert guarded(text) == cell


@pytest.mark.parametrize("between", ["; ", ";", "\n", " \n ", "\n\n\t", ";;\"' ", ' \t"', " ; "])
@pytest.mark.parametrize("sign", "=+-@\uff1d")
def test_formulas_do_not_begin_after_a_line_end(between: str, sign: str) -> None:
    cell = guarded(f"a{between}{sign}{sign}1")
    assert cell == f"a{between}_x{ord(sign):04X}_{sign}1"
    assert unguarded(cell) == f"a{between}{sign}{sign}1"


@pytest.mark.parametrize("blanks", ["\n", "\n ", ";", "; ", '\t"', "'\n"])
def test_a_cell_full_of_blanks_takes_no_time(blanks: str) -> None:
    text = blanks * (LARGEST_CELL // len(blanks))
    begun = perf_counter()
    assert unguarded(guarded(f"a{text}b=1")) == f"a{text}b=1"
    assert perf_counter() - begun < 0.5


def test_the_size_of_a_cell_is_counted_as_excel_does() -> None:
    assert fits("a" * LARGEST_CELL)
    assert fits("👩" * (LARGEST_CELL // 2))
    assert not fits("👩" * (LARGEST_CELL // 2 + 1))
