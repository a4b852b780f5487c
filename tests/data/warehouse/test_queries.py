import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from data.errors import UnknownName
from data.records.tables import CONTEXTS, CORRELATIONS, RUNS, STATISTICS
from data.warehouse import QUERIES, Warehouse
from tests.data.warehouse.small_study import row, small_study, warehouse_of

QUERY_COLUMNS = ["model", "dtype", "relation", "query_type", "form", "entity", "invented", "query_id"]
ENTROPIES = ["semantic_entropy", "semantic_entropy_length_normalised", "semantic_entropy_rao"]
ASKED_COLUMNS = [
    *("model", "dtype", "partition", "relation", "question_id", "subject", "question", "condition"),
    *("edits", "subject_popularity", "object_popularity", *ENTROPIES, "cluster_assignment_entropy"),
    *(f"{name}_standard_error" for name in (*ENTROPIES, "cluster_assignment_entropy")),
    *("groups", "group_sizes", "context_cut", "answers", "empty_answers", "unfinished_answers"),
    *("answer", "accurate", "coherent_persuasion", "coherent_persuasion_standard_error"),
    *("persuaded", "stubborn", "stand_in"),
]
SUMMARY_COLUMNS = [
    *("model", "dtype", "partition", "condition", "questions", "answers", "empty_answers", "unfinished_answers"),
    *("contexts_cut", "accuracy", "groups", *ENTROPIES, "coherent_persuasion", "persuaded", "stubborn"),
]
OVERVIEW_COLUMNS = [
    *("models", "relations", "queries", "contexts", "prompts", "questions", "answers", "seconds", "forward_passes"),
]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with warehouse_of(tmp_path_factory.mktemp("study"), small_study()) as warehouse:
        yield warehouse


def test_susceptibility_of_queries(loaded: Warehouse) -> None:
    frame = loaded.frame("susceptibility_of_queries")
    assert list(frame.columns) == [*QUERY_COLUMNS, "contexts", "susceptibility"]
    assert frame[["query_id", "invented", "contexts", "susceptibility"]].values.tolist() == [
        ["q1", False, 3, 2.0], ["q2", True, 3, 5.0]
    ]  # fmt: skip


def test_persuasion_by_kind_is_a_mean_over_contexts(loaded: Warehouse) -> None:
    frame = loaded.frame("persuasion_by_kind")
    assert list(frame.columns) == [*QUERY_COLUMNS, "kind", "relevant", "contexts", "persuasion"]
    assert frame[["query_id", "kind", "relevant", "contexts", "persuasion"]].values.tolist() == [
        ["q1", "assertive", False, 1, 3.0], ["q1", "base", False, 1, 2.0], ["q1", "base", True, 1, 1.0],
        ["q2", "assertive", False, 1, 6.0], ["q2", "base", False, 1, 5.0], ["q2", "base", True, 1, 4.0],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["persuasion_by_kind", "followed"])
def test_a_mean_is_the_same_in_every_order(name: str, tmp_path: Path) -> None:
    study = small_study()
    values = [0.3, 0.2, 0.1]
    means = []
    for order in (values, values[::-1]):
        contexts = [row(CONTEXTS, relation="capital", context_id=f"c{value}", kind="base") for value in values]
        scores = [{**study["persuasion"][0], "context_id": f"c{value}", "persuasion": value} for value in order]
        answers = [{**study["greedy_answers"][0], "context_id": f"c{value}"} for value in order]
        tables = {"queries": study["queries"], "contexts": contexts, "persuasion": scores, "greedy_answers": answers}
        with warehouse_of(tmp_path, tables) as warehouse:
            means.append(warehouse.frame(name)["persuasion"].tolist())
    assert means[0] == means[1]
    assert means[0] == [pytest.approx(0.2)]


def test_entity_independent_of_contexts_has_the_contexts_words(loaded: Warehouse) -> None:
    frame = loaded.frame("entity_independent_of_contexts")
    assert list(frame.columns) == [
        *("model", "dtype", "relation", "query_type", "form", "context_id", "kind", "context"),
        *("entities", "entity_independent_persuasion"),
    ]
    assert frame[["context_id", "kind", "context", "entity_independent_persuasion"]].values.tolist() == [
        ["c1", "base", "c1", 2.5], ["c2", "base", "c2", 3.5], ["c3", "assertive", "c3", 4.5]
    ]  # fmt: skip


def test_followed_counts_answers_with_the_mean_persuasion_of_their_contexts(loaded: Warehouse) -> None:
    frame = loaded.frame("followed")
    assert list(frame.columns) == [
        *("model", "dtype", "relation", "query_type", "kind", "conflict", "follows", "answers", "persuasion"),
    ]
    counted = frame[["kind", "conflict", "follows", "answers", "persuasion"]]
    assert counted.astype(object).where(counted.notna(), None).values.tolist() == [
        ["assertive", None, "original", 1, 6.0], ["assertive", None, "other", 1, 3.0],
        ["base", None, "original", 3, pytest.approx((2 + 4 + 5) / 3)], ["base", "substitution", "context", 1, 1.0],
    ]  # fmt: skip


def test_memorization_of_queries_has_null_where_nothing_was_counted(loaded: Warehouse) -> None:
    frame = loaded.frame("memorization_of_queries")
    counts = [
        *("original", "substitute", "memorization_ratio", "negation_original", "negation_substitute"),
        *("all_original", "all_substitute", "memorization_ratio_all"),
    ]
    assert list(frame.columns) == [*QUERY_COLUMNS, *counts, "susceptibility"]
    first, second = frame.to_dict("records")
    assert [first[name] for name in counts] == [0, 1, 0.0, 2, 3, 4, 1, 0.8]
    assert (second["original"], second["substitute"], second["susceptibility"]) == (0, 0, 5.0)
    assert math.isnan(second["memorization_ratio"])


def test_fisher_of_queries_has_null_where_nothing_was_drawn(loaded: Warehouse) -> None:
    frame = loaded.frame("fisher_of_queries")
    fisher = ["top_k", "fisher_top_k", "draws", "fisher", "fisher_standard_error"]
    assert list(frame.columns) == [*QUERY_COLUMNS, *fisher, "susceptibility", "contexts"]
    first, second = frame.to_dict("records")
    assert [first[name] for name in (*fisher, "susceptibility", "contexts")] == [10, 3.0, 64, 4.0, 0.5, 2.0, 3]
    assert (second["fisher_top_k"], second["draws"]) == (2.0, 0)
    assert math.isnan(second["fisher"])
    assert math.isnan(second["fisher_standard_error"])


def test_answer_set_of_queries(loaded: Warehouse) -> None:
    frame = loaded.frame("answer_set_of_queries")
    scores = ["contexts", "answers", "answer_set_susceptibility", "mass", "susceptibility"]
    assert list(frame.columns) == [*QUERY_COLUMNS, *scores]
    assert frame[["query_id", *scores]].values.tolist() == [["q1", 3, 7, 0.5, 0.25, 2.0]]


def test_precision_of_queries(loaded: Warehouse) -> None:
    frame = loaded.frame("precision_of_queries")
    scores = ["susceptibility", "susceptibility_reference", "largest_difference", "mean_difference"]
    assert list(frame.columns) == ["model", "dtype", "relation", "query_type", "query_id", "reference", *scores]
    assert frame[["query_id", "reference", *scores]].values.tolist() == [["q2", "float32", 5.0, 5.1, 0.3, 0.2]]


def test_correlations_are_sorted(loaded: Warehouse) -> None:
    frame = loaded.frame("correlations")
    assert list(frame.columns) == [column.name for column in CORRELATIONS.columns]
    assert frame["level"].tolist() == ["query", "relation"]


def test_without_susceptibility_other_measures_of_a_query_stand_alone(tmp_path: Path) -> None:
    study = small_study()
    del study["susceptibility"], study["persuasion"]
    with warehouse_of(tmp_path, study) as warehouse:
        for name in ("fisher_of_queries", "memorization_of_queries", "answer_set_of_queries"):
            assert len(warehouse.frame(name)) > 0
            assert warehouse.frame(name)["susceptibility"].isna().all()
        followed = warehouse.frame("followed")
    assert followed["answers"].sum() == 6
    assert followed["persuasion"].isna().all()


def test_answers_of_questions_has_null_where_nothing_was_measured(loaded: Warehouse) -> None:
    frame = loaded.frame("answers_of_questions")
    assert list(frame.columns) == ASKED_COLUMNS
    assert frame["condition"].tolist() == ["none", "original"]
    alone, with_context = frame.to_dict("records")
    assert (alone["answer"], alone["semantic_entropy"], alone["groups"]) == ("Bergen", 1.5, 2)
    assert (alone["group_sizes"], alone["semantic_entropy_standard_error"]) == ("3, 2", 0.25)
    assert math.isnan(alone["semantic_entropy_rao_standard_error"])
    assert alone["accurate"] is False
    assert alone["stand_in"] == "embedder for entailment"
    assert frame["persuaded"].isna().tolist() == frame["stubborn"].isna().tolist() == [True, False]
    assert math.isnan(alone["coherent_persuasion"])
    assert (with_context["persuaded"], with_context["stubborn"]) == (True, False)
    assert frame["groups"].isna().tolist() == [False, True]
    assert with_context["coherent_persuasion"] == 2.5
    assert with_context["coherent_persuasion_standard_error"] == 0.75
    assert pd.isna(with_context["stand_in"])
    assert math.isnan(with_context["subject_popularity"])


def test_only_samples_are_counted_as_answers(loaded: Warehouse) -> None:
    counts = ["answers", "empty_answers", "unfinished_answers", "context_cut"]
    assert loaded.frame("answers_of_questions")[counts].values.tolist() == [[4, 2, 1, 0], [1, 0, 0, 5]]


def test_a_measure_that_was_not_run_loses_no_question(tmp_path: Path) -> None:
    study = {name: small_study()[name] for name in ("questions", "accuracy")}
    with warehouse_of(tmp_path, study) as warehouse:
        frame = warehouse.frame("answers_of_questions")
    assert frame["accurate"].tolist() == [False, True]
    assert frame["answer"].tolist() == ["x", "x"]
    assert frame["semantic_entropy"].isna().all()
    assert frame[["answers", "empty_answers", "context_cut"]].isna().all(axis=None)


def test_partition_summary_leaves_null_out_of_its_means(loaded: Warehouse) -> None:
    frame = loaded.frame("partition_summary")
    assert list(frame.columns) == SUMMARY_COLUMNS
    alone, with_context = frame.to_dict("records")
    assert (alone["questions"], alone["accuracy"], alone["semantic_entropy"]) == (1, 0.0, 1.5)
    assert math.isnan(alone["persuaded"])
    assert alone["groups"] == 2.0
    assert (with_context["accuracy"], with_context["persuaded"], with_context["stubborn"]) == (1.0, 1.0, 0.0)


def test_partition_summary_counts_what_became_of_the_answers(tmp_path: Path) -> None:
    study = small_study()
    study["questions"] += [{**study["questions"][0], "question_id": name} for name in ("w2", "w3")]
    study["answers"] += [{**one, "question_id": "w2"} for one in study["answers"]]
    study["semantic_entropy"] += [{**one, "question_id": "w2", "groups": 5} for one in study["semantic_entropy"]]
    study["accuracy"] += [{**one, "question_id": "w3"} for one in study["accuracy"]]
    counts = ["questions", "answers", "empty_answers", "unfinished_answers", "contexts_cut"]
    with warehouse_of(tmp_path, study) as warehouse:
        frame = warehouse.frame("partition_summary")
    assert frame[counts].values.tolist() == [[3, 8, 4, 2, 0], [3, 2, 0, 0, 2]]
    assert frame["groups"].tolist()[0] == 3.5


def test_what_was_not_sampled_is_not_counted_as_none(tmp_path: Path) -> None:
    study = {name: small_study()[name] for name in ("questions", "accuracy")}
    with warehouse_of(tmp_path, study) as warehouse:
        frame = warehouse.frame("partition_summary")
    assert frame[["answers", "empty_answers", "unfinished_answers", "contexts_cut"]].isna().all(axis=None)


def test_overview_adds_up_what_was_asked(loaded: Warehouse) -> None:
    frame = loaded.frame("overview")
    assert list(frame.columns) == OVERVIEW_COLUMNS
    assert frame.values.tolist() == [[1, 2, 2, 3, 6, 1, 7, 3.0, 7]]


def test_statistics_come_largest_effect_first_and_untestable_last(tmp_path: Path) -> None:
    effects = {"a": 0.1, "b": None, "c": -2.0, "d": 1.0}
    rows = [row(STATISTICS, relation=r, effect_size=d) for r, d in effects.items()]
    with warehouse_of(tmp_path, {"statistics": rows}) as warehouse:
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
    with warehouse_of(tmp_path, {}) as empty:
        for name in QUERIES:
            full = loaded.frame(name)
            assert set(map(str, full.dtypes)) <= {"str", "Int64", "boolean", "float64"}, name
            pd.testing.assert_series_equal(full.dtypes, empty.frame(name).dtypes)


def test_five_examples_answer_the_study(loaded: Warehouse) -> None:
    examples = [name for name in QUERIES if name.startswith("example_")]
    assert [name.split("_")[1] for name in examples] == ["1", "2", "3", "4", "5"]
    rows = {name.split("_")[1]: len(loaded.frame(name)) for name in examples}
    assert rows == {"1": 1, "2": 3, "3": 1, "4": 0, "5": 2}


def test_an_unknown_question_suggests_the_nearest(loaded: Warehouse) -> None:
    with pytest.raises(UnknownName, match="did you mean 'overview'"):
        loaded.frame("overveiw")


def test_degree_of_queries_has_entities_of_a_graph(tmp_path: Path) -> None:
    rows = small_study()
    first, second = rows["queries"]
    rows["queries"] = [first | {"degree": 100, "relation_degree": 10}, second | {"degree": 0, "relation_degree": 0}]
    with warehouse_of(tmp_path, rows) as warehouse:
        frame = warehouse.frame("degree_of_queries").set_index("query_id")
    assert frame.loc["q1", ["log_degree", "log_relation_degree", "susceptibility"]].tolist() == [2, 1, 2]
    assert frame.loc["q2", "degree"] == 0
    assert frame["log_degree"].isna().tolist() == [False, True]


def test_degree_of_queries_is_empty_without_a_graph(loaded: Warehouse) -> None:
    assert loaded.frame("degree_of_queries").empty
