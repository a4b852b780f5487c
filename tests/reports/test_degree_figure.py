"""The figure of susceptibility against degree: what is drawn, what is said, and what a graph without entities gives."""

import numpy as np
import pytest

from reports.figures.degree import degree_plates, spearman, upper_bound
from reports.frames import checked
from tests.reports.frames import MODEL, study

KNOWN = checked(study([(MODEL, "float32")], entities=12, questions=6))


def test_each_degree_has_a_panel_for_each_query_type_with_its_correlation() -> None:
    (plate,) = degree_plates(KNOWN)
    figure = plate.paint()
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "degree (triples)", "degree (triples)",
        "degree under the relation (triples)", "degree under the relation (triples)",
    ]  # fmt: skip
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert words[0] == spearman(KNOWN["agreement"], "degree", "open")
    assert words[3] == spearman(KNOWN["agreement"], "relation_degree", "closed")
    assert all(word in plate.alt for word in words)


def test_real_entities_stand_at_their_degree_and_invented_ones_left_of_the_scale() -> None:
    (plate,) = degree_plates(KNOWN)
    real, invented, _ = plate.paint().axes[0].lines
    rows = KNOWN["degree_of_queries"]
    rows = rows[rows["query_type"] == "open"]
    assert sorted(real.get_xdata()) == sorted(
        rows[~rows["invented"]].groupby(["relation", "entity"])["degree"].first().astype(float)
    )
    assert len(invented.get_xdata()) == rows[rows["invented"]].groupby(["relation", "entity"]).ngroups
    assert max(invented.get_xdata()) < 1
    assert invented.get_markerfacecolor() == "none"


def test_an_entity_s_forms_are_averaged() -> None:
    (plate,) = degree_plates(KNOWN)
    rows = KNOWN["degree_of_queries"]
    means = (
        rows[(rows["query_type"] == "open") & ~rows["invented"]]
        .groupby(["relation", "entity"])["susceptibility"]
        .mean()
    )
    assert sorted(plate.paint().axes[0].lines[0].get_ydata()) == pytest.approx(sorted(means))


def test_the_upper_bound_is_the_95th_percentile_of_entities_of_half_to_double_the_degree() -> None:
    degrees = np.array([1.0] * 10 + [2.0] * 10 + [4.0] * 10 + [100.0] * 19)
    scores = np.arange(49.0)
    at, bound = upper_bound(degrees[::-1], scores[::-1])
    assert at.tolist() == [1, 2, 4]
    assert bound.tolist() == pytest.approx([np.percentile(scores[:20], 95), np.percentile(scores[:30], 95),
                                            np.percentile(scores[10:30], 95)])  # fmt: skip


def test_too_few_entities_have_no_upper_bound() -> None:
    at, bound = upper_bound(np.ones(19), np.zeros(19))
    assert (len(at), len(bound)) == (0, 0)
    (plate,) = degree_plates(checked(study([(MODEL, "float32")], relations=["capital"], entities=4, questions=6)))
    assert "percentile" not in plate.caption


def test_the_scale_is_in_plain_numbers_with_0_for_invented_entities() -> None:
    (plate,) = degree_plates(KNOWN)
    axes = plate.paint().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()][:4] == ["0", "1", "10", "100"]


def test_a_source_without_a_graph_gives_no_figure() -> None:
    assert degree_plates({**KNOWN, "degree_of_queries": KNOWN["degree_of_queries"].iloc[:0]}) == []


def test_invented_entities_alone_give_no_figure() -> None:
    rows = KNOWN["degree_of_queries"]
    assert degree_plates({**KNOWN, "degree_of_queries": rows[rows["invented"]]}) == []


def test_a_correlation_that_could_not_be_made_says_why() -> None:
    agreement = KNOWN["agreement"].assign(spearman=np.nan, untestable="no spread")
    (plate,) = degree_plates({**KNOWN, "agreement": agreement})
    assert "No correlation: no spread." in plate.caption
    assert "no correlation (n = " in plate.paint().axes[0].texts[0].get_text()
