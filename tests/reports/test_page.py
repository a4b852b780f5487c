import itertools
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from reports.frames import SHARE
from reports.page import MOST_ROWS, Made, cell, heading, linked, page
from reports.tables import Filled, Table
from tests.reports.study import CARD

VOID = {"meta", "link", "img", "br"}
NOTHING = Made({}, pd.DataFrame(), pd.DataFrame())


class Tags(HTMLParser):
    """Every element of a page, and whether they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_element_is_closed_in_order(html: str) -> None:
    assert Tags(html).open == []


def test_the_page_opens_with_what_was_asked_found_and_not_run(html: str) -> None:
    assert re.findall(r"<h2 [^>]*>([^<]+)", html) == [
        "What was asked",
        "What was found",
        "What was not run",
        "Figures",
        "Tables",
        "How it was made",
    ]
    assert CARD.asked in html
    assert CARD.not_run[0].reason in html


def test_nothing_is_asked_of_the_outside(html: str) -> None:
    for tag, attributes in Tags(html).found:
        for name in ("src", "href", "srcset", "data", "poster", "action"):
            address = attributes.get(name, "")
            if address.startswith(("http:", "https:", "//")):
                assert (tag, name) == ("a", "href")
        assert tag not in {"script", "iframe", "object", "embed", "form", "base"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    assert "@import" not in html
    assert "url(http" not in html


def test_a_policy_forbids_everything_but_own_style_and_pictures(html: str) -> None:
    policy = next(a["content"] for _, a in Tags(html).found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy


def test_every_picture_has_its_words(html: str) -> None:
    pictures = [attributes for tag, attributes in Tags(html).found if tag == "img"]
    assert len(pictures) == 15
    assert all(len(picture["alt"]) > 60 for picture in pictures)


def test_headings_go_down_one_step_at_a_time(html: str) -> None:
    levels = [int(tag[1]) for tag, _ in Tags(html).found if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_id_is_there_once_and_every_inner_link_arrives(html: str) -> None:
    tags = Tags(html).found
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    inner = [a["href"][1:] for tag, a in tags if tag == "a" and a.get("href", "").startswith("#")]
    assert set(inner) <= set(ids)


def test_boxes_that_scroll_can_be_reached_by_keyboard(html: str) -> None:
    boxes = [attributes for _, attributes in Tags(html).found if attributes.get("class") == "scroll"]
    assert boxes
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)


def test_a_web_address_becomes_a_plain_link_and_the_rest_is_escaped() -> None:
    made = str(linked('<b> https://example.org/a?b=1&c="x". See'))
    assert made == (
        '&lt;b&gt; <a href="https://example.org/a?b=1&amp;c=" rel="noopener noreferrer">'
        "https://example.org/a?b=1&amp;c=</a>&#34;x&#34;. See"
    )
    assert "<a" not in linked("javascript:alert(1)")


def test_cells_show_what_is_not_a_number() -> None:
    assert [cell(value) for value in (None, math.nan, pd.NA)] == ["\N{EN DASH}"] * 3
    assert [cell(value) for value in (math.inf, -math.inf)] == ["∞", "\N{MINUS SIGN}∞"]
    assert [cell(value) for value in (True, np.bool_(False), 1234, 1.23456, 1e-5, 4321.0)] == [
        "yes",
        "no",
        "1,234",
        "1.235",
        "1.0e-05",
        "4,321",
    ]
    assert cell(0.4125, SHARE) == "41.2%"
    assert heading("share_persuaded", SHARE) == "% persuaded"
    assert heading("mean_a", "nats") == "mean a (nats)"


def test_a_very_long_table_is_cut_and_says_so() -> None:
    rows = pd.DataFrame({"relation": ["capital"] * (MOST_ROWS + 5)})
    table = Table("long", "Long", "Long.", (), lambda frames: rows)
    text = page(CARD, {}, [], [], [Filled(table, "Long.", rows)], NOTHING)
    assert text.count('<th scope="row"><bdi>capital') == MOST_ROWS
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows" in text
