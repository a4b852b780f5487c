import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from reports.figures import Plate, plates, printed
from reports.figures.answer_set import answer_set_plates
from reports.figures.entity_independent import entity_independent_plates
from reports.figures.fisher import fisher_plates
from reports.figures.followed import followed_plates, pooled
from reports.figures.memorization import memorization_plates, susceptibility_by_memorization
from reports.figures.precision import cost, precision_plates
from reports.frames import checked
from tests.reports.frames import MODEL, study

KNOWN = checked(study([(MODEL, "bfloat16")], entities=4, questions=6))
NAMES = ("entity-", "persuasion-by-followed", "susceptibility-by-mem", "answer-sets", "fisher-", "precision-")


def _changed(name: str, **columns: object) -> dict[str, pd.DataFrame]:
    return {**KNOWN, name: KNOWN[name].assign(**columns)}


def _new(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    return [plate for plate in plates(frames)[0] if plate.name.startswith(NAMES)]


@pytest.mark.parametrize("relations", [["capital"], [f"a relation with a long name, number {at}" for at in range(122)]])
def test_one_relation_and_many_are_drawn_and_counted(relations: list[str]) -> None:
    made = _new(checked(study([(MODEL, "bfloat16")], relations=relations, entities=2, questions=3)))
    assert len(made) == len(NAMES)
    for plate in made:
        assert f" {len(relations)} relation{'s' if len(relations) > 1 else ''}" in plate.caption
        assert "n = " in plate.caption
        assert f"{MODEL} (bfloat16)" in plate.caption
        assert "nats" in plate.alt
        assert isinstance(plate.paint(), Figure)


@pytest.mark.parametrize("kept", ["open", "closed"])
def test_a_study_of_one_query_type_has_one_panel(kept: str) -> None:
    frames = {
        name: frame[frame["query_type"] == kept] if "query_type" in frame else frame for name, frame in KNOWN.items()
    }
    made = _new(frames)
    assert len(made) == len(NAMES)
    assert all(len(plate.paint().axes) == 1 for plate in made)


def test_correlations_come_from_the_table_of_agreement() -> None:
    agreement = KNOWN["agreement"]
    here = (agreement["measure_a"] == "fisher") & (agreement["query_type"] == "open") & (agreement["level"] == "query")
    frames = _changed("agreement", pearson=agreement["pearson"].mask(here, -0.12), spearman=0.34)
    words = [text.get_text() for text in fisher_plates(frames)[0].paint().axes[0].texts]
    assert words[0].splitlines()[0] == "Pearson -0.12, Spearman 0.34 over 128 queries"
    assert words[0].splitlines()[1].endswith("over 8 relation means")


def test_a_correlation_that_could_not_be_made_says_why() -> None:
    caption = fisher_plates(_changed("agreement", untestable="all values are equal", pearson=None))[0].caption
    assert "No correlation: " in caption
    assert "open, relation means: all values are equal" in caption


def test_fisher_is_the_full_vocabulary_where_it_was_drawn_else_the_top_answers() -> None:
    full = fisher_plates(KNOWN)[0]
    assert "over the full vocabulary, from 64 random draws" in full.caption
    top = fisher_plates(_changed("fisher_of_queries", draws=0, fisher=None, fisher_standard_error=None))[0]
    assert "over the top 10 answers, exact" in top.caption
    assert "standard error" not in top.caption
    capital = "relation == 'capital' and query_type == 'open'"
    mean = KNOWN["fisher_of_queries"].query(capital)["fisher_top_k"].mean()
    assert top.shown.query(capital)["mean_fisher"].item() == pytest.approx(mean)


def test_the_scale_is_logarithmic_only_where_every_value_is_positive() -> None:
    scores = KNOWN["fisher_of_queries"]["fisher"].copy()
    positive = fisher_plates(KNOWN)[0]
    scores.iloc[0] = 0.0
    zero = fisher_plates(_changed("fisher_of_queries", fisher=scores))[0]
    assert [plate.paint().axes[0].get_yscale() for plate in (positive, zero)] == ["log", "linear"]
    assert ["logarithmic" in plate.caption for plate in (positive, zero)] == [True, False]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("fisher_of_queries", fisher_plates),
        ("answer_set_of_queries", answer_set_plates),
        ("precision_of_queries", precision_plates),
    ],
)
def test_queries_without_a_score_are_counted_and_stay_in_the_csv(name: str, make: object) -> None:
    scores = KNOWN[name]["susceptibility"].copy()
    scores.iloc[0], scores.iloc[1] = np.nan, np.inf
    plate = make(_changed(name, susceptibility=scores))[0]  # type: ignore[operator]
    assert f" 2 of {len(scores)} " in plate.caption
    assert len(plate.numbers) == len(scores)
    assert make(_changed(name, susceptibility=None)) == []  # type: ignore[operator]


def test_a_query_without_a_ratio_is_in_no_box_and_counted() -> None:
    rows = KNOWN["memorization_of_queries"]
    plate = memorization_plates(KNOWN)[0]
    undefined = int(rows["memorization_ratio"].isna().sum())
    assert undefined > 0
    assert f"{undefined} of {len(rows)} queries have no ratio (0/0" in plate.caption
    assert plate.shown["queries"].sum() == len(rows) - undefined
    assert plate.shown.groupby("query_type")["share_queries"].sum().tolist() == pytest.approx([1, 1])


def test_the_bins_are_closed_below_and_the_last_on_both_sides() -> None:
    ratios = [0.0, 0.2, 3 / 5, 0.8, 1.0]
    rows = KNOWN["memorization_of_queries"].iloc[:5].assign(memorization_ratio=ratios, query_type="open")
    shown = memorization_plates({**KNOWN, "memorization_of_queries": rows})[0].shown
    assert dict(zip(shown["memorization_ratio"], shown["queries"], strict=True)) == {
        "0 to 0.2": 1,
        "0.2 to 0.4": 1,
        "0.6 to 0.8": 1,
        "0.8 to 1": 2,
    }


def test_few_queries_are_dots_and_not_a_box() -> None:
    data = pd.DataFrame({"query_type": "open", "bin": [0] * 6 + [4] * 2, "susceptibility": np.arange(8.0)})
    axes = susceptibility_by_memorization(Figure().subplots(), data)
    assert len(axes.patches) == 1
    assert [len(line.get_xdata()) for line in axes.lines if line.get_marker() == "o"][-1] == 2
    assert axes.get_xticklabels()[0].get_text() == "0–0.2\n75%\nn = 6"


def test_a_mean_of_followed_contexts_weighs_answers_and_passes_over_unscored_ones() -> None:
    rows = pd.DataFrame(
        {
            "relation": "capital",
            "query_type": "open",
            "follows": "context",
            "answers": [1, 3, 6],
            "persuasion": [2.0, 1.0, None],
        }
    )
    one = pooled(rows).iloc[0]
    assert (one["answers"], one["persuasion"]) == (10, 1.25)
    some = KNOWN["followed"].assign(persuasion=KNOWN["followed"]["persuasion"].mask(KNOWN["followed"].index == 0))
    plate = followed_plates({**KNOWN, "followed": some})[0]
    assert f"{some['answers'].iloc[0]} of {some['answers'].sum()} answers have no persuasion score" in plate.caption


def test_shares_of_what_was_followed_are_of_all_answers_and_of_those_in_conflict() -> None:
    rows = KNOWN["followed"]
    shown = followed_plates(KNOWN)[0].shown
    assert shown.groupby(["query_type", "contexts"])["share_answers"].sum().tolist() == pytest.approx([1] * 8)
    conflict = rows[rows["conflict"].notna()]["answers"].sum()
    assert shown[shown["contexts"].str.startswith("in conflict")]["answers"].sum() == conflict
    assert f"{conflict} of them under a context in conflict" in followed_plates(KNOWN)[0].caption


def test_strips_span_a_relations_contexts() -> None:
    rows = KNOWN["entity_independent_of_contexts"]
    spread = entity_independent_plates(KNOWN)[0].numbers
    part = rows[(rows["relation"] == "spouse") & (rows["query_type"] == "open") & (rows["kind"] == "negation")]
    row = spread.query("relation == 'spouse' and query_type == 'open' and kind == 'negation'").iloc[0]
    score = part["entity_independent_persuasion"]
    assert (row["smallest"], row["median"], row["largest"]) == (score.min(), score.median(), score.max())
    assert row["rows"] == 2 * row["contexts"] == len(part)


def test_the_cost_of_a_format_by_hand() -> None:
    rows = pd.DataFrame(
        {
            "reference": "float32",
            "susceptibility": [1.0, 2.5, 2.0],
            "susceptibility_reference": [1.1, 2.2, 2.3],
            "largest_difference": [0.5, 0.9, 0.1],
            "mean_difference": [0.1, 0.3, 0.2],
        }
    )
    found = cost(rows)
    assert found.mean == pytest.approx(0.7 / 3)
    assert (found.largest, found.spearman) == (pytest.approx(0.3), pytest.approx(0.5))
    assert (found.largest_persuasion, found.mean_persuasion) == (0.9, pytest.approx(0.2))
    assert "on 3 sampled queries: susceptibility differs by 0.23 nats on average, at most 0.3; Spearman 0.500" in (
        found.words("bfloat16")
    )
    assert "Spearman" not in cost(rows.iloc[:1]).words("bfloat16")


def test_the_cost_of_a_format_is_missed_only_where_a_model_is_in_a_reduced_one() -> None:
    full = checked(study(relations=["capital"], entities=2, questions=3))
    assert not any("reduced" in one.title for one in plates(full)[1])
    without = {**KNOWN, "precision_of_queries": KNOWN["precision_of_queries"].iloc[:0]}
    assert any("reduced" in one.title for one in plates(without)[1])


def test_every_missing_measure_is_named_among_what_is_left_out() -> None:
    frames = {"susceptibility_of_queries": KNOWN["susceptibility_of_queries"]}
    titles = {plate.title for plate in _new(KNOWN)}
    assert titles <= {one.title for one in plates(checked(frames))[1]}


def test_many_queries_make_a_small_picture() -> None:
    frames = checked(study(relations=["capital", "spouse"], entities=200, questions=3))
    assert len(printed(fisher_plates(frames)[0]).page_svg) < 250_000
