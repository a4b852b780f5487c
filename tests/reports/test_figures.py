import dataclasses
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure as Canvas
from PIL import Image

from swaymeter.reports.figures import FIGURES, effects, susceptibility
from swaymeter.reports.figures.against_susceptibility import correlation
from swaymeter.reports.figures.distributions import values_of_partitions
from swaymeter.reports.figures.effects import draw_effects
from swaymeter.reports.figures.entropy import entropy_against_persuasion
from swaymeter.reports.figures.figure import SINGLE, Drawing, DrawnFigure, Figure, draw_all
from swaymeter.reports.figures.labels import BY_STRENGTH, BY_TYPE, tone_words
from swaymeter.reports.figures.panels import column_of_values, columns_of_bins
from swaymeter.reports.figures.popularity import corpus_note, spearman, susceptibility_by_count
from swaymeter.reports.figures.reliability import by_query_type
from swaymeter.reports.figures.rendering import PNG_DPI, rendered
from swaymeter.reports.frames import Frames, as_published, where
from swaymeter.reports.models import Model, sizes
from swaymeter.reports.report import PAGE_QUERIES
from swaymeter.reports.tables import TABLES, filled
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.statistic import Statistic
from tests.reports.study import MODEL, frames, tables

MISSING_FOR_ONE_MODEL = ("precision", "front-of-variants", "tests-by-model", "over-time")
QUESTION_COLUMNS = {"question_id": "w1", "model": MODEL, "dtype": "float32"}


@pytest.fixture(scope="module")
def drawn(study_frames: dict[str, pd.DataFrame]) -> dict[str, DrawnFigure]:
    return {drawn_figure.figure.name: drawn_figure for drawn_figure in draw_all(FIGURES.values(), study_frames)[0]}


def drawing_of(name: str, frames: Frames, model: str = MODEL) -> Drawing:
    """Return the drawing of a figure for a model."""
    drawing = FIGURES[name].draw(Model(model, "float32"), frames)
    assert drawing is not None
    return drawing


def units_of(drawn: DrawnFigure) -> set[str]:
    return {"nats", "no unit", "Cohen's d", *drawn.drawing.numbers.attrs.get("units", {}).values()}


def test_figures_say_question_n_model_and_unit(drawn: dict[str, DrawnFigure]) -> None:
    assert list(drawn) == [name for name in FIGURES if name not in MISSING_FOR_ONE_MODEL]
    for drawn_figure in drawn.values():
        assert drawn_figure.figure.question.endswith("?")
        assert "n = " in drawn_figure.caption
        assert f"{MODEL} (float32)" in drawn_figure.caption
        assert any(unit in drawn_figure.alt for unit in units_of(drawn_figure))
        assert not drawn_figure.drawing.numbers.empty


def test_a_single_group_has_no_comparison(study_frames: dict[str, pd.DataFrame]) -> None:
    groups, kinds = study_frames["both_susceptibilities_summary"], study_frames["persuasion_of_relations"]
    single_groups = {
        "both_susceptibilities_summary": groups[groups["of_group"].isin(["real", "completion"])],
        "persuasion_of_relations": kinds[kinds["kind"] == "base"],
    }
    names = ("both-susceptibilities-by-entities", "both-susceptibilities-by-wording", "persuasion-by-kind")
    figures = [FIGURES[name] for name in names]
    assert draw_all(figures, study_frames | single_groups) == ([], [figure.question for figure in figures])


def test_axes_name_quantity_and_unit(drawn: dict[str, DrawnFigure]) -> None:
    for name, figure in drawn.items():
        canvas = figure.drawing.paint()
        labels = [text for axes in canvas.axes for text in (axes.get_xlabel(), axes.get_ylabel()) if text]
        labels.append(canvas.get_supxlabel())
        assert any(f"{unit})" in label for unit in units_of(figure) for label in labels), name


def queries_of(figures: Iterable[Figure]) -> set[str]:
    """Return the queries of these figures and the queries of the page."""
    return {*PAGE_QUERIES, *(name for figure in figures for name in figure.queries)}


def test_shared_axes_show_every_point() -> None:
    rows = tables([(MODEL, "float32")], relations=["capital"], entities=4, questions=6)
    # Closed queries have three times larger scores than open ones.
    for row in (*rows["susceptibility"], *rows["persuasion"], *rows["entity_independent_persuasion"]):
        if row.get("query_type", "closed") == "closed" and " open " not in row.get("query_id", ""):
            row |= {name: 3 * value for name, value in row.items() if name in rows}  # a score is named as its table
    names = (
        "susceptibility-by-relation",
        "persuasion-by-kind",
        "entity-independent-persuasion",
        "entity-independent-by-template",
    )
    figures = [FIGURES[name] for name in names]
    for figure in draw_all(figures, frames(rows, queries_of(figures)))[0]:
        for axes in figure.drawing.paint().axes:
            points = np.vstack([line.get_xydata() for line in axes.lines])
            inside = zip(points.T, (axes.get_xlim(), axes.get_ylim()), strict=True)
            assert all(
                min(limits) <= np.nanmin(coordinates) <= np.nanmax(coordinates) <= max(limits)
                for coordinates, limits in inside
            ), figure.name


def test_models_and_dtypes_are_not_mixed() -> None:
    models = [("a", "float32"), ("a", "bfloat16"), ("somebody/with-a-long-name", "float32")]
    figures = [FIGURES[name] for name in ("susceptibility-by-relation", "precision", "tests-by-model")]
    rows = tables(models, relations=["capital"], entities=2, questions=6)
    drawn, _ = draw_all(figures, frames(rows, queries_of(figures)))
    means = [drawn_figure for drawn_figure in drawn if drawn_figure.figure.name == "susceptibility-by-relation"]
    assert [str(figure.model) for figure in means] == [
        "a (bfloat16)",
        "a (float32)",
        "somebody/with-a-long-name (float32)",
    ]
    assert {len(figure.drawing.numbers) for figure in means} == {4}
    assert [str(drawn_figure.model) for drawn_figure in drawn if drawn_figure.figure.name == "precision"] == [
        "a (bfloat16)"
    ]
    (tests_by_model,) = [drawn_figure for drawn_figure in drawn if drawn_figure.figure.name == "tests-by-model"]
    assert str(tests_by_model.model) == "all models"
    assert set(tests_by_model.drawing.numbers["dtype"]) == {"float32", "bfloat16"}
    assert "1 a (bfloat16); 2 a (float32); 3 somebody/with-a-long-name (float32)." in tests_by_model.caption
    assert [label.get_text() for label in tests_by_model.drawing.paint().axes[-1].get_xticklabels()] == ["1", "2", "3"]


def test_shown_numbers_carry_their_units(drawn: dict[str, DrawnFigure]) -> None:
    units = {name: figure.drawing.shown.attrs["units"] for name, figure in drawn.items()}
    assert units["susceptibility-by-relation"]["low"] == "nats"
    assert units["fisher-against-susceptibility"]["mean_fisher"] == "nats per squared embedding unit"
    assert units["persuasion-by-followed"]["share_answers"] == "share"
    assert units["relevance-of-persuasion"]["mean_a"] == "nats"
    assert units["entropy-with-against-persuasion"]["mean_semantic_entropy_with"] == "nats"


def test_a_stand_in_is_named_in_the_caption(drawn: dict[str, DrawnFigure]) -> None:
    assert drawn["entropy-with-against-persuasion"].caption.endswith("Stand-in: embedder for an entailment model.")
    assert "Stand-in" not in drawn["coherent-persuasion"].caption


def test_figures_without_scores_are_listed_by_question() -> None:
    drawn, omitted = draw_all(FIGURES.values(), {})
    assert not drawn
    not_expected = (  # the page of this study does not mention these figures
        "precision",
        "variance-of-scores",
        "susceptibility-by-label",
        "susceptibility-by-label-and-set",
        "persuasion-by-strength",
        "susceptibility-by-frequency",
        "familiarity-by-frequency",
        "persuasion-by-edits",
        "front-of-variants",
        "tests-by-model",
        "over-time",
    )
    questions = [figure.question for name, figure in FIGURES.items() if name not in not_expected]
    assert omitted == questions


@pytest.mark.parametrize("count", [1, 2])
def test_a_single_mark_is_no_figure(count: int, study_frames: dict[str, pd.DataFrame]) -> None:
    figure = FIGURES["persuasion-by-kind"]
    rows = study_frames[figure.queries[0]].head(count)
    drawing = Drawing("n = 1", rows, rows, Canvas)
    single = dataclasses.replace(figure, draw=lambda model, frames: drawing, expected=lambda frames: False)
    drawn, omitted = draw_all([single], study_frames)
    assert (len(drawn), omitted) == ((0, [f"{figure.question}{SINGLE}"]) if count == 1 else (1, []))


def test_a_single_query_type_has_one_row() -> None:
    rows = [{"query_type": kind, "queries": 3} for kind in ("all", "closed", "open")]
    assert [*by_query_type(pd.DataFrame(rows))["query_type"]] == ["open", "closed", "both"]
    assert [*by_query_type(pd.DataFrame(rows[:2]))["query_type"]] == ["closed"]


def test_missing_scores_are_counted_and_stay_in_csv(study_frames: dict[str, pd.DataFrame]) -> None:
    instances = study_frames["instances"].copy()
    instances.loc[0, "coherent_persuasion"] = np.inf
    drawing = drawing_of("entropy-without-against-persuasion", {**study_frames, "instances": instances})
    assert len(drawing.numbers) == len(instances)
    assert f"1 of {len(instances)} instances have a score that is missing or not finite" in drawing.caption


def test_the_caption_names_counts_of_other_units() -> None:
    kinds = [("the answer near it", "approximate", 3), ("the answer near it", "words", 7), ("the entity", "tokens", 10)]
    counted = {
        "corpus_summary": pd.DataFrame([{"corpus": "Pile", "shard": "all 1 shards", "words": None, "tokens": 12_345}]),
        "kinds_of_counts": pd.DataFrame(kinds, columns=["what", "counted", "pairs"]).assign(of_pairs=10),
        "excluded_entities": pd.DataFrame(),
    }
    assert corpus_note(counted) == (
        " Counted in Pile: all 1 shards, 12,345 tokens. Not all pairs of entity and answer are counted in words: the "
        "answer near it is estimated for 3 of 10; the entity is counted in tokens for 10 of 10."
    )


def test_effects_by_frequency_equal_the_published_tests(study_frames: dict[str, pd.DataFrame]) -> None:
    keys = ["relation", "query_type"]
    tests = as_published(study_frames["statistics"].query("comparison == 'familiarity'")).set_index(keys).sort_index()
    effects = study_frames["effects_by_frequency"].set_index(keys).sort_index()
    assert effects[["effect_size", "p_adjusted"]].equals(tests[["effect_size", "p_adjusted"]])
    assert effects["entities"].max() <= study_frames["frequency_of_entities"].query("not invented")["entity"].nunique()


def test_numbers_of_a_forest_include_tests_by_entity(study_frames: dict[str, pd.DataFrame]) -> None:
    shown = drawing_of("familiarity-of-susceptibility", study_frames).shown
    tests = study_frames["statistics"].query("comparison == 'familiarity' and unit_of_analysis == 'entity'")
    assert shown["unit_of_analysis"].tolist()[: len(tests)] == ["entity"] * len(tests)
    assert sorted(shown["p"].head(len(tests)).dropna()) == sorted(tests["p"].dropna())
    assert {*shown["unit_of_analysis"]} > {"entity"}


def test_instances_are_drawn_in_their_class(study_frames: dict[str, pd.DataFrame]) -> None:
    counts = study_frames["entropy_classes"].query("partition == 'all'").set_index("entropy_class")["instances"]
    assert study_frames["classed_instances"]["entropy_class"].value_counts().to_dict() == counts.to_dict()
    between = study_frames["classed_instances"].assign(entropy_class="low")
    between.loc[:9, "entropy_class"] = None
    drawing = drawing_of("entropy-classes", study_frames | {"classed_instances": between})
    assert "A grey dot lies between two classes." in drawing.caption
    drawn = [(line.get_marker(), len(line.get_xdata())) for line in drawing.paint().axes[0].lines]
    assert drawn[:2] == [("o", 10), ("<", len(between) - 10)]


def test_marked_instances_are_temporal(study_frames: dict[str, pd.DataFrame]) -> None:
    marked = study_frames["marked_instances"].query("most_edited or most_viewed")
    assert set(marked["partition"]) == {"temporal"}
    drawing = drawing_of("persuasion-of-most-edited", study_frames)
    drawn = {line.get_marker(): len(line.get_xdata()) for line in drawing.paint().axes[1].lines}
    assert (drawn["P"], drawn["*"]) == (marked["most_edited"].sum(), marked["most_viewed"].sum())


def test_untestable_comparisons_are_counted_and_not_drawn(study_frames: dict[str, pd.DataFrame]) -> None:
    tests = as_published(study_frames["statistics"].query("comparison == 'relevance'")).reset_index(drop=True)
    tests.loc[0, ["effect_size", "p_adjusted", "untestable"]] = [None, None, "a group is empty"]
    drawing = drawing_of("relevance-of-persuasion", {"statistics": tests})
    assert f"n = {len(tests) - 1} tests" in drawing.caption
    assert "untestable: 1" in drawing.caption


def test_significance_and_outcomes_are_shapes() -> None:
    data = pd.DataFrame({"relation": ["a", "b"], "query_type": "open", "effect_size": [0.9, -0.2]})
    axes = Canvas().subplots()
    draw_effects(axes, data.assign(significant=[True, False]), ["a", "b"])
    assert list(axes.lines[0].get_xdata()) == [0, 0]
    assert {"D", "|"} <= {line.get_marker() for line in axes.lines}
    outcomes = pd.DataFrame({"outcome": ["persuaded", "agreed", "stubborn", "other"], "partition": "static"})
    outcomes = outcomes.assign(entropy=[1.0, 2.0, 3.0, 4.0], coherent_persuasion=1.0, **QUESTION_COLUMNS)
    axes = Canvas().subplots()
    entropy_against_persuasion(axes, outcomes)
    assert {line.get_marker() for line in axes.lines} == {"^", "D", "s", "o"}


@pytest.mark.parametrize("values", [[1.0], [2.0] * 60, [*range(29)]], ids=["one", "equal", "few"])
def test_few_or_equal_values_have_no_violin(values: list[float]) -> None:
    data = pd.DataFrame({"partition": pd.Categorical(["static"] * len(values)), "value": values, **QUESTION_COLUMNS})
    axes = Canvas().subplots()
    values_of_partitions(axes, data, data.iloc[:0])
    assert not any(isinstance(collection, PolyCollection) for collection in axes.collections)
    assert axes.get_xticklabels()[0].get_text() == f"static\nn = {len(values)}"


def test_fifths_of_few_queries_are_dots() -> None:
    data = pd.DataFrame({"memorization_ratio": [0.1, 0.2, 1.0], "susceptibility": [1.0, 2.0, 3.0]})
    fifths = pd.DataFrame(
        {
            "query_type": "open",
            "memorization_ratio": ["0 to 0.2", "0.2 to 0.4", "0.8 to 1"],
            "queries": 1,
            "share_queries": 1 / 3,
            "mean": [1.0, 2.0, 3.0],
            "low": None,
            "high": None,
        }
    )
    axes = Canvas().subplots()
    columns_of_bins(axes, data["susceptibility"], data["memorization_ratio"], fifths, "memorization_ratio", 5)
    positions = [round(float(line.get_xdata()[0])) for line in axes.lines if line.get_marker() == "o"]
    assert positions == [0, 1, 4]


def test_under_thirty_values_are_dots() -> None:
    row = {
        "mean": 1.0,
        "low": 0.5,
        "high": 1.5,
        "percentile_5": 0,
        "lower_quartile": 1,
        "median": 1,
        "upper_quartile": 1,
        "percentile_95": 2,
    }
    few, many = (Canvas().subplots() for _ in range(2))
    for axes, count in ((few, 29), (many, 30)):
        column_of_values(axes, 0, [1.0] * count, row, "#000000")
    assert (len(few.patches), len(few.lines[0].get_xdata())) == (0, 29)
    assert len(many.patches) == 1


def test_a_size_is_counted_or_from_the_catalog() -> None:
    runs = pd.DataFrame(
        [["tiny", "a label", 5], ["openai-community/gpt2-xl", None, None], ["own-7b", None, None]],
        columns=["model", "label", "parameters"],
    ).assign(dtype="float32")
    expected = {Model("a label", "float32"): 5, Model("openai-community/gpt2-xl", "float32"): 1558000000}
    assert sizes(runs) == expected


def test_models_are_sorted_by_size_else_by_order() -> None:
    small, large, other = (Model(name, "float32") for name in ("b", "a", "unknown"))
    sizes_of_models = {small: 10**8, large: 10**9}
    # Models stand at logarithms of their sizes (True), or in their order (False).
    assert effects.positions([large, small], sizes_of_models) == ({large: 9.0, small: 8.0}, True)
    assert effects.positions([large, small, other], sizes_of_models) == ({small: 0.0, large: 1.0, other: 2.0}, False)
    assert effects.positions([large], sizes_of_models) == ({large: 0.0}, False)
    other_dtype = Model("b", "bfloat16")
    with_equal_sizes = effects.positions([small, large, other_dtype], sizes_of_models | {other_dtype: 10**8})
    assert with_equal_sizes == ({other_dtype: 0.0, small: 1.0, large: 2.0}, False)


def test_the_papers_relation_or_the_largest_is_drawn() -> None:
    data = pd.DataFrame({"relation": ["author", "capital", "officialLanguage"], "queries": [3, 9, 1]})
    assert susceptibility.relation_of(data) == "officialLanguage"
    assert susceptibility.relation_of(data.iloc[:2]) == "capital"


def test_invented_entities_stand_left_of_degree_one() -> None:
    data = pd.DataFrame(
        {"query_type": "open", "invented": [False, True], "susceptibility": [1.0, 2.0], "degree": [100.0, 0.0]}
    )
    line = pd.DataFrame({"at": [10.0, 100.0], "value": [1.0, 2.0]})
    axes = Canvas().subplots()
    susceptibility_by_count(axes, data, line, "degree")
    real, invented, bound = axes.lines
    assert list(real.get_xdata()) == [100.0]
    assert invented.get_xdata()[0] < 1
    assert list(bound.get_ydata()) == [1.0, 2.0]


@pytest.mark.parametrize("groups", [1, 3, 40])
def test_groups_of_own_questions_have_room(own_questions: dict[str, pd.DataFrame], groups: int) -> None:
    instances = own_questions["instances"].query(f"model == '{MODEL}'").reset_index(drop=True)
    names = [f"group {number % groups} $x_1$ \u202e{'very ' * 30}long" for number in range(len(instances))]
    data = {**own_questions, "instances": instances.assign(partition=names)}
    for name in ("coherent-persuasion", "entropy-without-against-persuasion"):
        drawing = drawing_of(name, data)
        canvas = drawing.paint()
        assert len(canvas.axes) <= 5 * 3
        assert max(len(text.get_text()) for axes in canvas.axes for text in axes.get_xticklabels()) < 30
        assert len(drawing.numbers) == len(instances)
        assert ("12 largest of 40 groups" in drawing.caption) is (groups == 40 and name == "coherent-persuasion")


def test_a_figure_is_rendered_to_the_same_bytes(drawn: dict[str, DrawnFigure], tmp_path: Path) -> None:
    figure = drawn["coherent-persuasion"]
    pictures = rendered(figure)
    assert pictures == rendered(figure)
    assert b"dc:date" not in pictures.svg
    assert b"words-title" in pictures.svg
    assert "words-" not in pictures.page_svg
    assert len(pictures.page_svg) < len(pictures.svg)
    width, height = (float(size) for size in re.findall(rb'(?:width|height)="([\d.]+)pt"', pictures.svg)[:2])
    with Image.open(io.BytesIO(pictures.png)) as pixels:
        assert pixels.size == pytest.approx((width * PNG_DPI / 72, height * PNG_DPI / 72), abs=2)


def test_figures_are_drawn_without_their_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, statistic in STATISTICS.items():
        without_rows = Statistic(name, statistic.version, statistic.row, statistic.queries, lambda frames, seed: [])
        monkeypatch.setitem(STATISTICS, name, without_rows)
    drawn, _ = draw_all(FIGURES.values(), frames())
    assert "entropy-with-against-persuasion" in {drawn_figure.figure.name for drawn_figure in drawn}


@pytest.mark.parametrize("n", [19, 20])
def test_a_panel_of_few_points_has_no_r(study_frames: dict[str, pd.DataFrame], n: int) -> None:
    correlations, queries = (study_frames[name].assign(n=n) for name in ("instance_correlations", "correlations"))
    drawing = drawing_of("entropy-with-against-persuasion", {**study_frames, "instance_correlations": correlations})
    rows = correlations.set_index(["measure_a", "partition", "condition"])
    single, pooled = (rows.loc[("semantic_entropy_with", *group)] for group in (("static", "original"), ("all", "all")))
    words = [f"r = {row['pearson']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" for row in (single, pooled)]
    too_few = "n = 19, too few for r"
    assert (words[0] if n == 20 else too_few) in drawing.paint().axes[0].get_title()
    assert (f"Pearson's {words[1]} over all instances" in drawing.caption) == (n == 20)
    fisher = where(queries, measure_a="fisher")
    assert correlation(fisher, "query", "open").startswith("Pearson" if n == 20 else too_few)
    assert spearman(queries, "degree", "open").startswith("Spearman's rho" if n == 20 else too_few)


def test_captions_name_the_units_of_intervals(
    drawn: dict[str, DrawnFigure], study_frames: dict[str, pd.DataFrame]
) -> None:
    captions = [figure.caption for figure in drawn.values() if {"low", "high"} <= {*figure.drawing.shown}]
    tables = [filled(table, study_frames) for table in TABLES.values()]
    captions += [table.caption for table in tables if "low" in table.rows or re.search(r"\d%? \[", table.rows.to_csv())]
    assert len(captions) > 12
    assert [caption for caption in captions if not re.search(INTERVAL, caption)] == []


INTERVAL = (
    r"[Ii]ntervals?( have 95%,| are)? (over|that draws whole) "
    "(what|the unit|the items|clusters|relation|entit|subject|question|context)"
)


def test_outcomes_of_change_are_counted_in_each_panel(study_frames: dict[str, pd.DataFrame]) -> None:
    drawing = drawing_of("entropy-change", study_frames)
    canvas = drawing.paint()
    assert [axes.get_title() for axes in canvas.axes] == ["any context", "original context", "counter-memory context"]
    pooled = drawing.shown.query("partition == 'all' and condition == 'any context'")
    assert [text.get_text() for text in canvas.axes[0].texts[:5]] == [str(n) for n in pooled["n"]]
    assert list(pooled["outcome"])[:2] == ["all", "persuaded"]


def test_questions_without_edits_have_no_edits_figure(own_questions: dict[str, pd.DataFrame]) -> None:
    figure = FIGURES["entropy-of-most-edited"]
    assert figure.draw(Model(MODEL, "float32"), own_questions) is None
    assert not figure.expected(own_questions)


Row = dict[str, Any]
COMMON_COLUMNS = {"model": "m", "dtype": "float32", "query_type": "open", "untestable": None, "within": "all"}


def comparison_row(
    relation: str, label_a: str, label_b: str, means: tuple[float, float], n: int = 5, p: float = 0.01
) -> Row:
    """Return a row of the frame `group_comparisons`: a test between two labels."""
    groups = {"group_a": label_a, "group_b": label_b, "mean_a": means[0], "mean_b": means[1], "n_a": n, "n_b": n}
    return {
        **COMMON_COLUMNS,
        **groups,
        "relation": relation,
        "comparison": "context",
        "measure": "persuasion",
        "p_adjusted": p,
    }


def test_persuasion_is_reported_for_each_set() -> None:
    tests = pd.DataFrame(
        [
            comparison_row("one", "negative", "positive", (0.3, 0.1)),
            comparison_row("two", "negative", "positive", (0.9, 0.7), p=0.5),
        ]
    )
    assert tone_words(tests) == (
        "one, open queries by 0.300 (negative), 0.100 (positive) nats, 1 of 1 difference significant; "
        "two, open queries by 0.900 (negative), 0.700 (positive) nats, 0 of 1 difference significant"
    )


def test_the_mean_over_most_entities_is_reported() -> None:
    rows = [
        comparison_row("one", "negative", "neutral", (0.5, 0.2), n=9),
        comparison_row("one", "negative", "positive", (0.4, 0.1), n=3),
    ]
    expected = "open queries by 0.500 (negative), 0.200 (neutral), 0.100 (positive) nats, 2 of 2 differences"
    assert tone_words(pd.DataFrame(rows)) == tone_words(pd.DataFrame(rows[::-1])) == f"{expected} significant"


def test_caption_by_type_counts_tests_of_drawn_set() -> None:
    sets, label_columns = ("one", "two"), {"comparison": "label", "measure": "susceptibility"}
    means = [
        {**COMMON_COLUMNS, "relation": name, "label": label, "type": kind, "entities": 2, "unit": "nats", "mean": 0.2}
        | dict.fromkeys(
            (
                "low",
                "high",
                "smallest",
                "percentile_5",
                "lower_quartile",
                "median",
                "upper_quartile",
                "percentile_95",
                "largest",
            ),
            0.2,
        )
        for name in sets
        for label in ("old", "young")
        for kind in (None, "x")
    ]
    entities = [
        {
            **COMMON_COLUMNS,
            "relation": name,
            "label": label,
            "type": "x",
            "entity": f"{label}{n}",
            "queries": 1,
            "susceptibility": 0.2,
        }
        for name in sets
        for label in ("old", "young")
        for n in (1, 2)
    ]
    tests = [
        comparison_row(name, "old", "young", (0.1, 0.1), p=p) | label_columns
        for name, p in zip(sets, (0.5, 0.01), strict=True)
    ]
    frames: Frames = {
        "susceptibility_by_label": pd.DataFrame(means),
        "susceptibility_of_labelled_entities": pd.DataFrame(entities),
        "group_comparisons": pd.DataFrame(tests),
        "persuasion_by_strength": pd.DataFrame(columns=["relation", "context_label"]),
    }
    drawing = drawing_of(BY_TYPE.name, frames, "m")
    assert "Permutation tests of two labels over all types of this set" in drawing.caption
    assert "open queries 0 of 1 significant." in drawing.caption


@pytest.mark.parametrize(
    ("tests", "has_result"),
    [
        ([], False),
        ([comparison_row("one", "negative", "positive", (0.3, 0.1))], True),
    ],
)
def test_caption_by_strength_reports_no_result_without_test(tests: list[Row], has_result: bool) -> None:
    means = pd.DataFrame(
        [
            {
                **COMMON_COLUMNS,
                "relation": "one",
                "label": "old",
                "about": "others",
                "context_label": label,
                "strength": None,
                "entities": 2,
                "mean": 0.2,
                "low": 0.1,
                "high": 0.3,
                "unit": "nats",
            }
            for label in ("negative", "positive")
        ]
    )
    frames: Frames = {"persuasion_by_strength": means, "group_comparisons": pd.DataFrame(tests)}
    drawing = drawing_of(BY_STRENGTH.name, frames, "m")
    assert ("Contexts about the queried entity move" in drawing.caption) == has_result
    assert "dotted: about others, or nobody." in drawing.caption
