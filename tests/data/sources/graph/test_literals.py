from dataclasses import replace

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.sources.graph.literals import LONGEST, plain, text
from swaymeter.data.sources.graph.sparql import Literal
from tests.data.dataset_samples import YAGO

XSD = "http://www.w3.org/2001/XMLSchema#"
BIRTH, HEIGHT = catalog.relation("birthDate"), catalog.relation("elevation")
COUNT = replace(HEIGHT, object_class="number", unit=None)
CODE = replace(COUNT, object_class="identifier")
METRE = YAGO + "Metre"
DATES = {
    ("1879-03-14", "date"): "14 March 1879",
    ("1879-03-14+01:00", "date"): "14 March 1879",
    ("1879-03-14T23:59:59.999-05:00", "dateTime"): "14 March 1879",
    ("1879-03", "gYearMonth"): "March 1879",
    ("1879", "gYear"): "1879",
    ("1879-01-01", "gYear"): "1879",
    ("2000-02-29", "date"): "29 February 2000",
    ("12024-05-06", "date"): "6 May 12024",
    ("0000", "gYear"): "1 BC",
    ("-0043", "gYear"): "44 BC",
    ("-043-03-15T00:00:00Z", "dateTime"): "15 March 44 BC",
    ("-0004-02-29", "date"): "29 February 5 BC",
    ("1879-02-29", "date"): None,
    ("1900-02-29", "date"): None,
    ("1879-00-01", "date"): None,
    ("1879-13-01", "date"): None,
    ("1879-04-31", "date"): None,
    ("1879-04-00", "date"): None,
    ("14 March 1879", "date"): None,
    ("1879-3-14", "date"): None,
    ("", "date"): None,
    ("1879-03-14T", "dateTime"): None,
    ("1879-13", "gYearMonth"): None,
    ("MDCCCLXXIX", "gYear"): None,
    ("١٨٧٩", "gYear"): None,
}
NUMBERS = {
    ("42", "integer"): "42",
    ("+11825551", "decimal"): "11825551",
    ("-7", "int"): "-7",
    ("007", "integer"): "7",
    ("828.0", "decimal"): "828",
    ("0.50", "decimal"): "0.5",
    (".5", "decimal"): "0.5",
    ("-0.0", "double"): "0",
    ("1.5E6", "double"): "1500000",
    ("2.5e-3", "double"): "0.0025",
    ("1E3", "float"): "1000",
    ("0E999999", "double"): "0",
    ("123456789012345678901234567890.5", "decimal"): "123456789012345678901234567890.5",
    **{
        (value, "double"): None
        for value in ("NaN", "INF", "-INF", "1E999999", "1E-999999", "many", "1,5", "", "1" * 400, "٤٢")
    },
}


@pytest.mark.parametrize(
    ("relation", "values"), [(BIRTH, DATES), (COUNT, NUMBERS)], ids=["dates in words, or none", "numbers, or none"]
)
def test_a_value_reads_as_text_or_is_none(relation: Relation, values: dict[tuple[str, str], str | None]) -> None:
    assert {value: text(Literal(value[0], XSD + value[1]), relation) for value in values} == values


def test_a_number_has_its_unit() -> None:
    no_unit = replace(HEIGHT, unit=None)
    assert text(Literal("+828", METRE), no_unit, {METRE: "metre"}) == "828 metre"
    assert text(Literal("828.0", METRE), no_unit) == "828 metre"
    assert text(Literal("9", YAGO + "Kilometre_per_second"), no_unit) == "9 kilometre per second"
    assert text(Literal("9", YAGO + "Foot_u0028unit_u0029"), no_unit) == "9 foot(unit)"
    assert text(Literal("828", XSD + "decimal"), HEIGHT) == "828 metres"
    assert text(Literal("828", XSD + "decimal"), no_unit) == "828"


def test_a_number_without_a_named_unit_is_none() -> None:
    unit = "http://www.wikidata.org/entity/Q11573"
    assert text(Literal("828", unit), HEIGHT) is None
    assert text(Literal("828", unit), HEIGHT, {unit: "metre"}) == "828 metres"
    assert text(Literal("high", METRE), HEIGHT) is None


def test_a_text_in_another_language_is_none() -> None:
    texts = {language: text(Literal("word", None, language), BIRTH) for language in ("en", "en-GB", None, "de", "eng")}
    assert texts == {"en": "word", "en-GB": "word", None: "word", "de": None, "eng": None}


def test_identifiers_texts_and_addresses_stay_as_written() -> None:
    for relation, value, kind in (
        (CODE, "007", "integer"),
        (CODE, "1879-03-14", "date"),
        (COUNT, "https://a.example/?q=%20#x", "anyURI"),
    ):
        assert text(Literal(value, XSD + kind), relation) == value


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("  Line\nBreak\r\n\tTab\u2028end\u00a0", "Line Break Tab end"),
        ("Ame\u0301lie", "Amélie"),
        ("Be\u0007ll\x00", "Bell"),
        ("Over\u202eride\u202c \u2067x\u2069", "Override x"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("in\U000e0041\U000e0042visible", "invisible"),
        ("half \ud83d", "half"),
        ("نمی\u200cدانم\u200f", "نمی\u200cدانم\u200f"),
        ("<b>Bold</b> &amp; {entity}", "<b>Bold</b> &amp; {entity}"),
        ("\\u0022 \"quoted\" 'name'", "\\u0022 \"quoted\" 'name'"),
        ("x" * LONGEST, "x" * LONGEST),
        ("", None),
        (" \n\t", None),
        ("\u200b\x00", None),
        ("x" * (LONGEST + 1), None),
        ("x " * 10_000_000, None),
    ],
    ids=range(16),
)
def test_a_name_is_one_visible_line_or_none(name: str, line: str | None) -> None:
    assert plain(name) == line
