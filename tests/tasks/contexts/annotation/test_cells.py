from time import perf_counter

import pytest

from tasks.contexts.annotation.cells import (
    LARGEST_CELL,
    coded,
    decoded,
    guarded,
    looks_like_formula,
    plain,
    size,
    unguarded,
)

ANY = [
    "", "Oslo", "=1+1", "-5", "+47 22", "@SUM(1)", "\t=1", " =1", '"=1', "\u202e=1", "＝1+1", "1914", "1/2", "3 pm",
    "12 March 2020", "May 5", "TRUE", "false", "5E3", "€5", "'s-Hertogenbosch", "'68 Comeback", "'=1", "''1", "'", "''",
    "a; =cmd|' /C calc'!A0", "x\n- item", "x\n", "\x07bell", "a\rb", "a\r\nb", "_x0041_", "_x005F_x0041_", "\ufffe",
    "[ENTITY] {0} {entity}", "<b>", '"', "שלום", "👩‍🚀", "../../etc/passwd", "\x00", "e", "May",
]  # fmt: skip


@pytest.mark.parametrize("text", ANY)
def test_a_text_is_read_back_as_it_was(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert decoded(coded(text)) == text


@pytest.mark.parametrize("text", ANY)
def test_no_cell_of_a_csv_begins_like_a_formula(text: str) -> None:
    assert not looks_like_formula(guarded(text).lstrip("'")) or guarded(text).startswith("'")
    assert guarded(text)[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n", "＝")


@pytest.mark.parametrize("text", ["=1", " =1", '"=1', "\u202e=1", "＝1", "\n+1", "-x", "@x"])
def test_what_a_program_might_run_is_told(text: str) -> None:
    assert looks_like_formula(text)


@pytest.mark.parametrize("text", ["", "Oslo", "a=b", "e-mail", "(=1)", "1-2"])
def test_what_no_program_runs_is_not(text: str) -> None:
    assert not looks_like_formula(text)


@pytest.mark.parametrize("text", ["1914", "1,000", "1/2", "3:15 pm", "12 March 2020", "Sept 5", "TRUE", "5E3", "10%"])
def test_numbers_and_dates_get_an_apostrophe_in_csv(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["Oslo", "1914 Oslo", "'s-Hertogenbosch", "Mayor", "May", "1st", "a 1 b 2"])
def test_other_texts_stand_in_a_csv_as_they_are(text: str) -> None:
    assert guarded(text) == text


def test_typed_csv_cells_are_taken_as_they_are() -> None:
    assert unguarded("=1+1") == "=1+1"
    assert unguarded("'s-Hertogenbosch") == "'s-Hertogenbosch"
    assert unguarded("'1914") == "1914"


def test_formulas_do_not_begin_behind_a_semicolon() -> None:
    assert guarded('a;=HYPERLINK("x")') == 'a;_x003D_HYPERLINK("x")'
    assert guarded("a\n @x") == "a\n _x0040_x"


@pytest.mark.parametrize("blanks", ["\n", "\n ", ";", "; ", '\t"', "'\n"])
def test_a_cell_full_of_blanks_takes_no_time(blanks: str) -> None:
    text = blanks * (LARGEST_CELL // len(blanks))
    begun = perf_counter()
    assert unguarded(guarded(f"a{text}b=1")) == f"a{text}b=1"
    assert perf_counter() - begun < 0.5


@pytest.mark.parametrize("between", ["; ", ";", "\n", " \n ", "\n\n\t", ";;\"' ", ' \t"', " ; "])
@pytest.mark.parametrize("sign", "=+-@\uff1d")
def test_formulas_do_not_begin_after_a_line_end(between: str, sign: str) -> None:
    cell = guarded(f"a{between}{sign}{sign}1")
    assert cell == f"a{between}_x{ord(sign):04X}_{sign}1"
    assert unguarded(cell) == f"a{between}{sign}{sign}1"


def test_within_a_line_a_sign_stays_what_it_is() -> None:
    assert guarded('a "=b" - c = d') == 'a "=b" - c = d'


def test_control_signs_are_written_as_office_open_xml_has_them() -> None:
    assert coded("a\x07b\r\n\tc") == "a_x0007_b_x000D_\n\tc"
    assert coded("_x0041_") == "_x005F_x0041_"


@pytest.mark.parametrize("text", ANY)
def test_texts_are_equal_however_they_were_saved(text: str) -> None:
    for saved in (coded(text), guarded(text), decoded(guarded(text)), decoded(text), f" {text}\n"):
        assert plain(saved) == plain(text)


def test_other_texts_are_others() -> None:
    assert len({plain(text) for text in ("Oslo", "oslo", "Os lo", "Oslo.", "Osl\u00f8", "")}) == 6


def test_the_size_of_a_cell_is_counted_as_excel_does() -> None:
    assert size("a" * LARGEST_CELL) == LARGEST_CELL
    assert size("👩") == 2
