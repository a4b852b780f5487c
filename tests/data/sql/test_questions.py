import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from data.errors import UnknownName
from data.sql.schema import questions
from data.tables import CONTEXTS, RUNS, STATISTICS
from data.warehouse import Warehouse, opened, rebuilt
from tests.data.sql.small_study import load, row, small_study

QUERY_COLUMNS = ["model", "dtype", "relation", "query_type", "form", "entity", "invented", "query_id"]
ENTROPIES = ["semantic_entropy", "semantic_entropy_length_normalised", "semantic_entropy_rao"]
ASKED_COLUMNS = [
    *("model", "dtype", "partition", "relation", "question_id", "subject", "question", "condition"),
    *("edits", "subject_popularity", "object_popularity", *ENTROPIES, "cluster_assignment_entropy", "groups"),
    *("answer", "accurate", "coherent_persuasion", "persuaded", "stubborn", "stand_in"),
]
SUMMARY_COLUMNS = [
    *("model", "dtype", "partition", "condition", "questions", "accuracy"),
    *(*ENTROPIES, "coherent_persuasion", "persuaded", "stubborn"),
]
OVERVIEW_COLUMNS = [
    *("models", "relations", "queries", "contexts", "prompts", "questions", "answers", "seconds", "forward_passes"),
]


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Warehouse]:
    database = tmp_path / "loaded.duckdb"
    with rebuilt(database, "content") as warehouse:
        load(warehouse, small_study())
    with opened(database) as warehouse:
        yield warehouse


def test_susceptibility_of_queries(loaded: Warehouse) -> None:
    frame = loaded.frame("susceptibility_of_queries")
    assert list(frame.columns) == [*QUERY_COLUMNS, "contexts", "susceptibility"]
    assert frame[["query_id", "invented", "contexts", "susceptibility"]].values.tolist() == [
        ["q1", False, 3, 2.0], ["q2", True, 3, 5.0]
    ]  # fmt: skip


def test_persuasion_by_kind_is_the_mean_over_contexts_of_a_kind_and_relevance(loaded: Warehouse) -> None:
    frame = loaded.frame("persuasion_by_kind")
    assert list(frame.columns) == [*QUERY_COLUMNS, "kind", "relevant", "contexts", "persuasion"]
    assert frame[["query_id", "kind", "relevant", "contexts", "persuasion"]].values.tolist() == [
        ["q1", "assertive", False, 1, 3.0], ["q1", "base", False, 1, 2.0], ["q1", "base", True, 1, 1.0],
        ["q2", "assertive", False, 1, 6.0], ["q2", "base", False, 1, 5.0], ["q2", "base", True, 1, 4.0],
    ]  # fmt: skip


def test_a_mean_over_contexts_has_the_same_last_digit_in_every_order(tmp_path: Path) -> None:
    study = small_study()
    values = [0.3, 0.2, 0.1]
    means = []
    for order in (values, values[::-1], sorted(values)):
        contexts = [row(CONTEXTS, relation="capital", context_id=f"c{value}", kind="base") for value in values]
        scores = [{**study["persuasion"][0], "context_id": f"c{value}", "persuasion": value} for value in order]
        with rebuilt(tmp_path / "study.duckdb") as warehouse:
            load(warehouse, {"queries": study["queries"], "contexts": contexts, "persuasion": scores})
            means.append(warehouse.frame("persuasion_by_kind")["persuasion"].tolist())
    assert means[0] == means[1] == means[2]
    assert means[0] == [pytest.approx(0.2)]


def test_answers_of_questions_has_null_where_nothing_was_measured(loaded: Warehouse) -> None:
    frame = loaded.frame("answers_of_questions")
    assert list(frame.columns) == ASKED_COLUMNS
    assert frame["condition"].tolist() == ["none", "original"]
    alone, with_context = frame.to_dict("records")
    assert (alone["answer"], alone["semantic_entropy"], alone["groups"]) == ("Bergen", 1.5, 2)
    assert alone["accurate"] is False
    assert alone["stand_in"] == "embedder for entailment"
    assert frame["persuaded"].isna().tolist() == frame["stubborn"].isna().tolist() == [True, False]
    assert math.isnan(alone["coherent_persuasion"])
    assert (with_context["persuaded"], with_context["stubborn"]) == (True, False)
    assert frame["groups"].isna().tolist() == [False, True]
    assert with_context["coherent_persuasion"] == 2.5
    assert pd.isna(with_context["stand_in"])
    assert math.isnan(with_context["subject_popularity"])


def test_a_measure_that_was_not_run_loses_no_question(tmp_path: Path) -> None:
    study = {name: small_study()[name] for name in ("questions", "accuracy")}
    with rebuilt(tmp_path / "study.duckdb") as warehouse:
        load(warehouse, study)
        frame = warehouse.frame("answers_of_questions")
    assert frame["accurate"].tolist() == [False, True]
    assert frame["answer"].tolist() == ["x", "x"]
    assert frame["semantic_entropy"].isna().all()


def test_partition_summary_leaves_null_out_of_its_means(loaded: Warehouse) -> None:
    frame = loaded.frame("partition_summary")
    assert list(frame.columns) == SUMMARY_COLUMNS
    alone, with_context = frame.to_dict("records")
    assert (alone["questions"], alone["accuracy"], alone["semantic_entropy"]) == (1, 0.0, 1.5)
    assert math.isnan(alone["persuaded"])
    assert (with_context["accuracy"], with_context["persuaded"], with_context["stubborn"]) == (1.0, 1.0, 0.0)


def test_overview_counts_what_a_family_took_once(loaded: Warehouse) -> None:
    frame = loaded.frame("overview")
    assert list(frame.columns) == OVERVIEW_COLUMNS
    assert frame.values.tolist() == [[1, 2, 2, 3, 6, 1, 3, 3.0, 7]]


def test_statistics_come_largest_effect_first_and_untestable_last(tmp_path: Path) -> None:
    effects = {"a": 0.1, "b": None, "c": -2.0, "d": 1.0}
    with rebuilt(tmp_path / "study.duckdb") as warehouse:
        warehouse.load_rows(STATISTICS, [row(STATISTICS, relation=r, effect_size=d) for r, d in effects.items()])
        frame = warehouse.frame("statistics")
    assert list(frame.columns) == [column.name for column in STATISTICS.columns]
    assert frame["relation"].tolist() == ["d", "a", "c", "b"]


def test_stand_ins_name_model_and_measure(loaded: Warehouse) -> None:
    assert loaded.frame("stand_ins").values.tolist() == [["m", "answers", "embedder for entailment"]]


def test_runs_are_all_there(loaded: Warehouse) -> None:
    frame = loaded.frame("runs")
    assert list(frame.columns) == [column.name for column in RUNS.columns]
    assert frame["measure"].tolist() == ["persuasion", "susceptibility"]


def test_a_frames_types_do_not_depend_on_its_values(tmp_path: Path, loaded: Warehouse) -> None:
    with rebuilt(tmp_path / "empty.duckdb") as empty:
        for name in questions():
            full = loaded.frame(name)
            assert set(map(str, full.dtypes)) <= {"str", "Int64", "boolean", "float64"}, name
            pd.testing.assert_series_equal(full.dtypes, empty.frame(name).dtypes)


def test_five_examples_answer_the_study(loaded: Warehouse) -> None:
    examples = [name for name in questions() if name.startswith("example_")]
    assert [name.split("_")[1] for name in examples] == ["1", "2", "3", "4", "5"]
    rows = {name.split("_")[1]: len(loaded.frame(name)) for name in examples}
    assert rows == {"1": 1, "2": 3, "3": 1, "4": 0, "5": 2}


def test_an_unknown_question_suggests_the_nearest(loaded: Warehouse) -> None:
    with pytest.raises(UnknownName, match="did you mean 'overview'"):
        loaded.frame("overveiw")
