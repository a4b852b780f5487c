import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from reports.figures.uncertainty import entropy_against_persuasion, entropy_plates
from reports.intervals import mean_interval

from data.errors import InputError
from reports.figures import Plate, plates, printed
from reports.figures.coherent_persuasion import persuasion_of_partitions
from reports.figures.effects import effect_of_relations, effect_plates
from reports.figures.susceptibility import susceptibility_plates
from reports.frames import checked
from tests.reports.frames import MODEL, study

KNOWN = checked(study(entities=4, questions=30))
PLATES = plates(KNOWN)[0]


def _changed(name: str, **columns: object) -> dict[str, pd.DataFrame]:
    return {**KNOWN, name: KNOWN[name].assign(**columns)}


@pytest.mark.parametrize("plate", PLATES, ids=lambda plate: plate.name)
def test_every_figure_asks_a_question_and_says_n_model_dtype_and_unit(plate: Plate) -> None:
    assert plate.title.endswith("?")
    assert "n = " in plate.caption
    assert f"{MODEL} (float32)" in plate.caption
    assert MODEL in plate.alt
    assert "nats" in plate.alt or "Cohen's d" in plate.alt
    assert not plate.numbers.empty


def test_every_axis_names_quantity_and_unit() -> None:
    for plate in PLATES:
        figure = plate.paint()
        labels = [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel()) if text]
        labels.append(figure.get_supxlabel())
        assert any("(nats)" in label or "no unit" in label for label in labels), plate.name


def test_the_figures_come_in_the_order_of_the_questions() -> None:
    starts = [
        "susceptibility",
        "familiarity",
        "susceptibility",
        "persuasion",
        "relevance",
        "assertiveness",
        "negation",
        "entity",
        "persuasion",
        "susceptibility",
        "answer",
        "fisher",
        "coherent",
        "entropy",
        "entropy",
    ]
    assert [plate.name.split("-")[0] for plate in PLATES] == starts


def test_two_models_and_two_dtypes_are_never_mixed() -> None:
    frames = checked(
        study([("a", "float32"), ("a", "bfloat16"), ("b", "float32")], relations=["capital"], entities=2, questions=6)
    )
    made = susceptibility_plates(frames)
    assert [plate.about for plate in made] == ["a (bfloat16)", "a (float32)", "b (float32)"]
    assert {plate.numbers["entities"].sum() for plate in made} == {8}
    made_of = [plate.name for plate in plates(frames)[0] if not plate.name.startswith("precision-")]
    assert len(set(made_of)) == len(made_of) == 3 * len(PLATES)


def test_the_mean_of_a_relation_is_the_mean_of_its_entities() -> None:
    rows = KNOWN["susceptibility_of_queries"]
    shown = susceptibility_plates(KNOWN)[0].numbers
    part = rows[(rows["relation"] == "capital") & (rows["query_type"] == "open") & ~rows["invented"]]
    row = shown[(shown["relation"] == "capital") & (shown["query_type"] == "open") & ~shown["invented"]].iloc[0]
    assert row["mean"] == pytest.approx(part["susceptibility"].mean())
    assert row["low"] < row["mean"] < row["high"]


def test_scores_that_are_no_numbers_are_counted_in_the_caption() -> None:
    scores = KNOWN["susceptibility_of_queries"]["susceptibility"].copy()
    scores.iloc[:2], scores.iloc[2] = np.nan, np.inf
    plate = susceptibility_plates(_changed("susceptibility_of_queries", susceptibility=scores))[0]
    assert f"3 of {len(scores)} queries have a score that is missing or not finite" in plate.caption


def test_a_figure_without_any_finite_score_is_left_out_and_named() -> None:
    made, left_out = plates(_changed("susceptibility_of_queries", susceptibility=np.nan))
    assert not any(plate.name.startswith("susceptibility-by-relation") for plate in made)
    assert "How easily are queries" in left_out[0].title


def test_instances_that_are_not_drawn_stay_in_the_csv() -> None:
    answers = KNOWN["answers_of_questions"]
    first = answers.index[answers["condition"] == "original"][0]
    broken = answers["coherent_persuasion"].copy()
    broken[first] = np.inf
    plate = entropy_plates(_changed("answers_of_questions", coherent_persuasion=broken))[0]
    assert np.isinf(plate.numbers["coherent_persuasion"]).sum() == 1
    assert "1 of 60 instances" in plate.caption


def test_untestable_relations_are_counted_and_not_drawn() -> None:
    plate = effect_plates(KNOWN, "relevance")[0]
    assert "untestable: 1" in plate.caption
    assert len(plate.numbers) == 16
    drawn = sum(
        len(line.get_xdata()) for axes in plate.paint().axes for line in axes.lines if line.get_linestyle() == "None"
    )
    assert drawn == 15


def test_an_infinite_effect_is_said_and_not_drawn() -> None:
    effects = KNOWN["statistics"]["effect_size"].copy()
    effects[effects.index[KNOWN["statistics"]["comparison"] == "relevance"][0]] = np.inf
    plate = effect_plates(_changed("statistics", effect_size=effects), "relevance")[0]
    assert "1 of 16 tests gave no finite effect size" in plate.caption


def test_effects_are_sorted_by_size() -> None:
    rows = effect_plates(KNOWN, "relevance")[0].numbers
    effects = rows.loc[rows["query_type"] == "open", "effect_size"].to_numpy()
    assert (np.diff(effects) <= 0).all()


def test_the_zero_line_is_drawn_and_significance_is_a_shape() -> None:
    data = pd.DataFrame(
        {
            "relation": pd.Categorical(["a", "b"], categories=["a", "b"]),
            "query_type": "open",
            "effect_size": [0.9, -0.2],
            "significant": [True, False],
        }
    )
    axes = effect_of_relations(Figure().subplots(), data)
    assert list(axes.lines[0].get_xdata()) == [0, 0]
    assert {"D", "|"} <= {line.get_marker() for line in axes.lines}


def test_outcomes_differ_by_shape() -> None:
    data = pd.DataFrame(
        {
            "entropy": [1.0, 2.0, 3.0],
            "coherent_persuasion": [1.0, 2.0, 3.0],
            "partition": "static",
            "outcome": ["persuaded", "stubborn", "other"],
        }
    )
    axes = entropy_against_persuasion(Figure().subplots(), data)
    assert {line.get_marker() for line in axes.lines} == {"^", "s", "o"}


def test_an_outcome_that_was_not_measured_is_no_other_outcome() -> None:
    plate = entropy_plates(_changed("answers_of_questions", persuaded=None, stubborn=None))[0]
    assert set(plate.numbers["outcome"]) == {"unmeasured"}
    assert "60 whose outcome was not measured" in plate.caption


@pytest.mark.parametrize(
    "values", [[1.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [0.0, 1.0, 2.0]], ids=["one", "equal", "few"]
)
def test_few_or_equal_values_are_points_without_a_violin(values: list[float]) -> None:
    data = pd.DataFrame({"partition": pd.Categorical(["static"] * len(values)), "coherent_persuasion": values})
    axes = persuasion_of_partitions(Figure().subplots(), data)
    assert not axes.collections
    assert axes.get_xticklabels()[0].get_text() == f"static\nn = {len(values)}"


def test_a_question_that_occurs_twice_is_refused() -> None:
    answers = KNOWN["answers_of_questions"]
    with pytest.raises(InputError, match="twice"):
        entropy_plates({**KNOWN, "answers_of_questions": pd.concat([answers, answers])})


def test_the_interval_of_a_mean_does_not_depend_on_the_order_of_rows() -> None:
    values = [3.0, 1.0, 2.0, 5.0]
    assert mean_interval(values) == mean_interval(values[::-1])


def test_a_single_value_has_a_mean_and_no_interval() -> None:
    found = mean_interval([2.0])
    assert (found.mean, found.n) == (2.0, 1)
    assert np.isnan([found.low, found.high]).all()


def test_equal_values_have_an_interval_of_no_width() -> None:
    found = mean_interval([2.0] * 7)
    assert found.low == found.high == found.mean == 2.0


def test_a_figure_is_drawn_to_the_same_bytes_twice() -> None:
    assert printed(PLATES[-1]) == printed(entropy_plates(KNOWN)[-1])
    assert b"dc:date" not in printed(PLATES[0]).svg
