import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.findings import findings
from swaymeter.reports.page import MOST_ROWS, cell, example, heading, in_common, linked, page
from swaymeter.reports.tables import TABLES, Filled, Table, filled
from tests.reports.parsed import Parsed
from tests.reports.study import CARD, MODEL

NOTHING = dict.fromkeys(("overview", "runs_in_short", "readings", "stand_ins", "chosen_queries"), pd.DataFrame())


@pytest.fixture(scope="module")
def parsed(html: str) -> Parsed:
    """The page's elements, each of which is closed in order."""
    return Parsed(html)


def test_the_page_opens_with_question_example_and_findings(html: str) -> None:
    headings = ["What was asked", "A worked example", "What was found", "Figures", "Tables", "How it was made",
                "What was not run or not drawn"]  # fmt: skip
    assert re.findall(r"<h2 [^>]*>([^<]+)", html) == headings
    assert CARD.asked in html
    assert CARD.not_run[0].reason in html


def test_the_page_says_which_ways_of_reading_were_not_used(html: str) -> None:
    assert "not by padded batches: it changes answers by 0.15 nats" in html


def test_the_page_is_self_contained(parsed: Parsed) -> None:
    parsed.assert_self_contained()
    parsed.assert_inner_links_arrive()
    assert "script" not in {tag for tag, _ in parsed.found}


def test_the_policy_allows_own_style_and_pictures_alone(parsed: Parsed) -> None:
    rules = parsed.policy()
    assert rules.pop("style-src").startswith("'sha256-")
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}


def test_every_picture_has_its_words(parsed: Parsed) -> None:
    pictures = [attributes for tag, attributes in parsed.found if tag == "img"]
    assert len(pictures) == len(FIGURES) - 1  # precision is that of a reduced dtype
    assert all(len(picture["alt"]) > 60 for picture in pictures)


def test_headings_go_down_one_step_at_a_time(parsed: Parsed) -> None:
    levels = [int(tag[1]) for tag, _ in parsed.found if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_boxes_that_scroll_can_be_reached_by_keyboard(parsed: Parsed) -> None:
    boxes = [attributes for _, attributes in parsed.found if attributes.get("class") == "scroll"]
    assert boxes
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)


def test_a_web_address_becomes_a_plain_link() -> None:
    made = str(linked('<b> https://example.org/a?b=1&c="x". See'))
    assert made == (
        '&lt;b&gt; <a href="https://example.org/a?b=1&amp;c=" rel="noopener noreferrer">'
        "https://example.org/a?b=1&amp;c=</a>&#34;x&#34;. See"
    )
    assert "<a" not in linked("javascript:alert(1)")


def test_cells_show_what_is_not_a_number() -> None:
    assert [cell(value) for value in (None, math.nan, pd.NA)] == ["\N{EN DASH}"] * 3
    assert [cell(value) for value in (math.inf, -math.inf)] == ["∞", "\N{MINUS SIGN}∞"]
    values = (True, np.bool_(False), 1234, 1.23456, 1e-5, 4321.0)
    assert [cell(value) for value in values] == ["yes", "no", "1,234", "1.235", "1.0e-05", "4,321"]
    assert cell(0.4125, SHARE) == "41.2%"
    assert heading("share_persuaded", SHARE) == "% persuaded"
    assert heading("mean_a", "nats") == "mean a (nats)"


def test_a_very_long_table_is_cut_and_says_so() -> None:
    rows = pd.DataFrame({"relation": ["capital"] * (MOST_ROWS + 5)})
    table = Table("long", "Long", "Long.", (), lambda frames: rows)
    text = page(CARD, {}, [], [], [Filled(table, "Long.", rows)], NOTHING)
    assert text.count('<th scope="row"><bdi>capital') == MOST_ROWS
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows" in text


@pytest.mark.parametrize("measured", [False, True])
def test_scores_without_figures_are_not_called_missing(measured: bool) -> None:
    runs = pd.DataFrame([{"model": "m", "measure": "accuracy"}] * measured)
    text = page(CARD, {}, [], [], [], {**NOTHING, "runs_in_short": runs})
    assert ("the study holds no scores" in text) is not measured
    assert ("their scores are in study.duckdb" in text) is measured


def test_captions_share_their_common_sentences_once() -> None:
    captions = ["A dot is a query. gpt2; n = 4. In nats.", "A dot is a query. pythia; n = 5. In nats."]
    assert in_common(captions) == ("A dot is a query. In nats.", ["gpt2; n = 4.", "pythia; n = 5."])
    assert in_common(captions[:1]) == ("", captions[:1])
    cited = ["One interval. In Du et al. 2024, Fig. 9. gpt2.", "One interval. In Liu et al. 2024, Fig. 9. pythia."]
    assert in_common(cited)[1] == ["In Du et al. 2024, Fig. 9. gpt2.", "In Liu et al. 2024, Fig. 9. pythia."]


def test_the_example_is_the_query_of_middle_susceptibility(html: str, known: dict[str, pd.DataFrame]) -> None:
    queries = known["fisher_of_queries"].query("query_type == 'open' and not invented").sort_values("susceptibility")
    middle = queries.iloc[(len(queries) - 1) // 2]
    most, least = known["worked_query"].to_dict("records")
    assert most["query_id"] == least["query_id"] == middle["query_id"]
    assert most["persuasion"] > least["persuasion"]
    words = html[html.index('id="example"') : html.index('id="found"')]
    for said in (most["query"], most["context"].strip(), least["context"].strip(), cell(middle["susceptibility"])):
        assert said in words
    for term in ("open", "closed", "base", "assertive", "relevant"):
        assert f"<dfn>{term}</dfn>" in words


def test_an_answer_that_was_cut_off_is_marked(known: dict[str, pd.DataFrame]) -> None:
    cut = known["worked_question"].assign(finished=False)
    assert example({**known, "worked_question": cut}, "", "").count("… (unfinished)") == len(cut)
    assert "unfinished" not in example(known, "", "")


def test_a_stand_in_is_named_where_coherent_persuasion_is(known: dict[str, pd.DataFrame]) -> None:
    judge, none = "embedder for an entailment model", {**known, "stand_ins": known["stand_ins"].iloc[:0]}
    for frames, expected in ((known, True), (none, False)):
        said = " ".join(findings(frames)[f"{MODEL} (float32)"])
        glance = filled(TABLES["models-at-a-glance"], frames).caption
        assert [judge in text for text in (said, glance, example(frames, "", ""))] == [expected] * 3
