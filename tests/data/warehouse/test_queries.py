from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from swaymeter.data.records.tables import CONTEXTS, QUERIES, RUNS
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery, needed_tables, with_views
from swaymeter.data.warehouse.warehouse import Warehouse, opened
from swaymeter.tasks.statistics import STATISTICS
from tests.data.warehouse.small_study import (
    Row,
    build_study,
    plain_values,
    row,
    small_study,
    table,
    warehouse_of,
)

QUERY_COLUMNS = ["model", "dtype", "relation", "query_type", "form", "entity", "invented", "query_id"]
ENTROPIES = ["semantic_entropy", "semantic_entropy_length_normalised", "semantic_entropy_rao"]
ANSWER_COLUMNS = [
    *("model", "dtype", "partition", "relation", "question_id", "subject", "subject_key", "question", "context_id"),
    *(
        "condition",
        "evidence_set",
        "passage_order",
        "states_answer",
        "edits",
        "subject_popularity",
        "object_popularity",
    ),
    *(*ENTROPIES, "cluster_assignment_entropy"),
    *(f"{name}_standard_error" for name in (*ENTROPIES, "cluster_assignment_entropy")),
    *("groups", "group_sizes", "context_cut", "answers", "empty_answers", "unfinished_answers"),
    *("unfinished_thoughts", "withheld", "greedy_unfinished", "answer", "accurate"),
    *("coherent_persuasion", "coherent_persuasion_standard_error", "coherent_persuasion_unchanged"),
    *("verdict", "reason", "outcome", "decided_by", "decider", "samples_that_follow"),
    *("persuaded_as_published", "stubborn_as_published"),
    *("binary_utilisation", "continuous_utilisation", "stand_in"),
]
SUMMARY_COLUMNS = [
    *("model", "dtype", "partition", "condition", "questions", "answers", "empty_answers", "unfinished_answers"),
    *("unfinished_greedy_answers", "unfinished_thoughts", "withheld", "contexts_cut", "accuracy", "groups"),
    *ENTROPIES,
    *("coherent_persuasion", "states_context_answer", "samples_that_follow"),
]
OVERVIEW_COLUMNS = [
    *("models", "relations", "queries", "contexts", "prompts", "questions", "answers", "seconds", "forward_passes"),
]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with warehouse_of(tmp_path_factory.mktemp("study"), small_study()) as warehouse:
        yield warehouse


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        (
            "susceptibility_of_queries",
            [*QUERY_COLUMNS, "contexts", "susceptibility"],
            {"query_id": ["q1", "q2"], "invented": [False, True], "contexts": [3, 3], "susceptibility": [2.0, 5.0]},
        ),
        (
            "persuasion_by_kind",
            [*QUERY_COLUMNS, "kind", "relevant", "contexts", "persuasion"],
            {
                "query_id": ["q1"] * 3 + ["q2"] * 3,
                "kind": ["assertive", "base", "base"] * 2,
                "relevant": [False, False, True] * 2,
                "contexts": [1] * 6,
                "persuasion": [3.0, 2.0, 1.0, 6.0, 5.0, 4.0],
            },
        ),
        (
            "entity_independent_of_contexts",
            [
                "model",
                "dtype",
                "relation",
                "query_type",
                "form",
                "context_id",
                "kind",
                "context",
                "template",
                "entities",
                "entity_independent_persuasion",
            ],
            {
                "context_id": ["c1", "c2", "c3"],
                "kind": ["base", "base", "assertive"],
                "context": ["c1", "c2", "c3"],
                "entity_independent_persuasion": [2.5, 3.5, 4.5],
            },
        ),
        (
            "followed",
            ["model", "dtype", "relation", "query_type", "kind", "conflict", "follows", "answers", "persuasion"],
            {
                "kind": ["assertive", "assertive", "base", "base"],
                "conflict": [None, None, None, "substitution"],
                "follows": ["original", "other", "original", "context"],
                "answers": [1, 1, 3, 1],
                "persuasion": [6.0, 3.0, pytest.approx((2 + 4 + 5) / 3), 1.0],
            },
        ),
        (
            "memorization_of_queries",
            [
                *QUERY_COLUMNS,
                "original",
                "substitute",
                "memorization_ratio",
                "negation_original",
                "negation_substitute",
                "all_original",
                "all_substitute",
                "memorization_ratio_all",
                "susceptibility",
            ],
            {
                "original": [0, 0],
                "substitute": [1, 0],
                "memorization_ratio": [0.0, None],
                "memorization_ratio_all": [0.8, None],
                "susceptibility": [2.0, 5.0],
            },
        ),
        (
            "fisher_of_queries",
            [
                *QUERY_COLUMNS,
                "top_k",
                "fisher_top_k",
                "draws",
                "fisher",
                "fisher_standard_error",
                "susceptibility",
                "contexts",
            ],
            {
                "top_k": [10, 10],
                "fisher_top_k": [3.0, 2.0],
                "draws": [64, 0],
                "fisher": [4.0, None],
                "fisher_standard_error": [0.5, None],
                "susceptibility": [2.0, 5.0],
                "contexts": [3, 3],
            },
        ),
        (
            "both_susceptibilities_of_queries",
            [*QUERY_COLUMNS[:5], "wording", *QUERY_COLUMNS[5:], "contexts", "susceptibility", "fisher"],
            {"wording": ["question", "completion"], "susceptibility": [2.0, 5.0], "fisher": [4.0, 2.0]},
        ),
        (
            "answer_set_of_queries",
            [*QUERY_COLUMNS, "contexts", "answers", "answer_set_susceptibility", "mass", "susceptibility"],
            {
                "query_id": ["q1"],
                "contexts": [3],
                "answers": [7],
                "answer_set_susceptibility": [0.5],
                "mass": [0.25],
                "susceptibility": [2.0],
            },
        ),
        (
            "precision_of_queries",
            [
                "model",
                "dtype",
                "relation",
                "query_type",
                "query_id",
                "reference",
                "susceptibility",
                "susceptibility_reference",
                "largest_difference",
                "mean_difference",
            ],
            {
                "query_id": ["q2"],
                "reference": ["float32"],
                "susceptibility": [5.0],
                "susceptibility_reference": [5.1],
                "largest_difference": [0.3],
                "mean_difference": [0.2],
            },
        ),
        ("correlations", [column.name for column in table("correlations").columns], {"level": ["query", "relation"]}),
        (
            "runs",
            ["relation", "model", "label", *(column.name for column in RUNS.columns[3:])],
            {"measure": ["persuasion", "susceptibility"]},
        ),
        (
            "answers_of_questions",
            ANSWER_COLUMNS,
            {
                "condition": ["none", "original"],
                "answer": ["Bergen", ""],
                "semantic_entropy": [1.5, None],
                "semantic_entropy_standard_error": [0.25, None],
                "semantic_entropy_rao_standard_error": [None, None],
                "groups": [2, None],
                "group_sizes": ["3, 2", None],
                "accurate": [False, True],
                "persuaded_as_published": [None, True],
                "stubborn_as_published": [None, False],
                "verdict": ["neither", "refusal"],
                "reason": ["denied", None],
                "outcome": [None, "other"],
                "samples_that_follow": [0.5, 1.0],
                "coherent_persuasion": [None, 2.5],
                "coherent_persuasion_standard_error": [None, 0.75],
                "subject_popularity": [None, None],
                "stand_in": ["embedder for entailment", None],
                # counts of samples, without the greedy reply
                "answers": [4, 1],
                "empty_answers": [2, 0],
                "unfinished_answers": [1, 0],
                "unfinished_thoughts": [1, 0],
                "withheld": [1, 0],
                "context_cut": [0, 5],
            },
        ),
        (
            "unfinished_greedy_answers",
            [
                "model",
                "dtype",
                "greedy_answers",
                "unfinished",
                "tokens",
                "empty",
                "tool_calls",
                "unfinished_thoughts",
                "withheld",
                "failed",
                "unrecorded",
                "errors",
                "thinking",
            ],
            {
                "greedy_answers": [2],
                "unfinished": [1],
                "tokens": [1],
                "empty": [1],
                "unfinished_thoughts": [0],
                "withheld": [0],
                "thinking": ["on"],
            },
        ),
        (
            "greedy_answers_of_neither",
            ["model", "dtype", "greedy_answers", "reason", "answers", "of_all_variants"],
            {"greedy_answers": [], "reason": [], "answers": []},
        ),
        (
            "partition_summary",
            SUMMARY_COLUMNS,
            {
                "questions": [1, 1],
                "accuracy": [0.0, 1.0],
                "semantic_entropy": [1.5, None],
                "groups": [2.0, None],
                "states_context_answer": [0.0, 0.0],
                "samples_that_follow": [0.5, 1.0],
                "unfinished_greedy_answers": [0, 1],
                "unfinished_thoughts": [1, 0],
                "withheld": [1, 0],
            },
        ),
        (
            "overview",
            OVERVIEW_COLUMNS,
            dict(zip(OVERVIEW_COLUMNS, [[1], [2], [2], [3], [6], [1], [9], [3.0], [7]], strict=True)),
        ),
        (
            "readings",
            ["model", "dtype", "reading"],
            {"model": ["m", "m"], "reading": ["not by prefix tree: b", "not by slots: a"]},
        ),
        (
            "stand_ins",
            ["model", "dtype", "measure", "stand_in"],
            {"model": ["m"], "measure": ["answers"], "stand_in": ["embedder for entailment"]},
        ),
    ],
)
def test_results_equal_results_computed_by_hand(
    name: str, columns: list[str], rows: dict[str, list[Any]], loaded: Warehouse
) -> None:
    frame = loaded.frame(name)
    assert list(frame.columns) == columns
    assert plain_values(frame, rows) == rows


@pytest.mark.parametrize("name", ["persuasion_by_kind", "followed"])
def test_mean_does_not_depend_on_row_order(name: str, tmp_path: Path) -> None:
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


def test_views_that_a_view_reads_are_included() -> None:
    query = NamedQuery("mine", "SELECT * FROM instances")
    names = [view.name for view in with_views([query, query])]
    assert sorted(names) == ["answers_of_questions", "instances", "mine", "question_contexts", "stated_answers"]


def test_queries_without_needed_rows_have_no_rows(loaded: Warehouse) -> None:
    names = [query.name for query in NAMED_QUERIES.values()]
    with_rows = loaded.with_rows(names)
    assert {"followed", "susceptibility_by_label"} & {*with_rows} == {"followed"}
    assert [name for name in names if name not in with_rows and len(loaded.frame(name))] == []


def test_needed_tables_include_needs_of_views() -> None:
    query = NamedQuery("mine", "-- needs: instances, runs\nSELECT * FROM instances, runs")
    assert needed_tables(query) == needed_tables(NAMED_QUERIES["instances"]) | {"runs"}
    assert not needed_tables(query) & {"instances", "answers_of_questions"}


@pytest.mark.parametrize("rows", [small_study()["queries"], []])
def test_export_writes_sorted_rows_if_any(rows: list[Row], tmp_path: Path) -> None:
    database, file = build_study(tmp_path / "study.duckdb", {"queries": rows}, [QUERIES]), tmp_path / "queries.parquet"
    with opened(database, [QUERIES], exports=tmp_path) as warehouse:
        assert warehouse.export(QUERIES, file) == len(rows)
    exported = pq.read_table(file)["query_id"].to_pylist() if file.exists() else None
    assert exported == (sorted(row["query_id"] for row in rows) or None)


def test_a_named_query_with_capitals_is_refused() -> None:
    with pytest.raises(TypeError, match="named query Mine: write its name in lower case"):
        NamedQuery("Mine", "SELECT 1")


def test_other_measures_do_not_need_susceptibility(tmp_path: Path) -> None:
    study = small_study()
    del study["susceptibility"], study["persuasion"]
    with warehouse_of(tmp_path, study) as warehouse:
        for name in ("fisher_of_queries", "memorization_of_queries", "answer_set_of_queries"):
            assert len(warehouse.frame(name)) > 0
            assert warehouse.frame(name)["susceptibility"].isna().all()
        followed = warehouse.frame("followed")
    assert followed["answers"].sum() == 6
    assert followed["persuasion"].isna().all()


def test_runtimes_are_compared_on_the_same_device(tmp_path: Path) -> None:
    study = {name: small_study()[name] for name in ("susceptibility", "fisher_susceptibility", "runs")}
    susceptibility_run = {**study["runs"][0], "dtype": "float32"}
    fisher_run = {**susceptibility_run, "file": "fisher", "measure": "fisher_susceptibility", "seconds": 0.5}
    study["runs"] = [susceptibility_run, fisher_run]
    study["runs"] += [
        {**run, "file": f"{run['file']} of {relation}", "relation": relation}
        for relation in ("author", "resumed")
        for run in (susceptibility_run, fisher_run)
    ]
    # In relation author, each measure has a device of its own. In relation resumed, each query has a
    # device of its own, as if another machine had resumed the run.
    for name in ("susceptibility", "fisher_susceptibility"):
        device = {"relation": "author", "device": f"device of {name}"}
        resumed = [{**score, "relation": "resumed", "device": f"device {n}"} for n, score in enumerate(study[name])]
        study[name] += [{**score, **device} for score in study[name]] + resumed
    with warehouse_of(tmp_path, study) as warehouse:
        (runtime,) = warehouse.frame("runtime_of_susceptibilities").to_dict("records")
    assert (runtime["relations"], runtime["queries"], runtime["most_contexts"], runtime["draws"]) == (1, 2, 3, 0)
    assert (runtime["seconds_susceptibility"], runtime["seconds_fisher"], runtime["times_as_long"]) == (3.0, 0.5, 6.0)


def test_contexts_are_counted_by_relation_and_query(loaded: Warehouse) -> None:
    setup = loaded.frame("setup").query("quantity.str.startswith('contexts')")
    assert plain_values(setup, ("quantity", "of", "fewest", "most", "total")) == {
        "quantity": ["contexts", "contexts", "contexts of a query"],
        "of": ["assertive", "base", ""],
        "fewest": [1, 2, 3],
        "most": [1, 2, 3],
        "total": [1, 2, None],
    }


def test_statistics_are_sorted_by_decreasing_effect_size(tmp_path: Path) -> None:
    effects = {"a": 0.1, "b": None, "c": -2.0, "d": 1.0}
    rows = [row(table("statistics"), relation=relation, effect_size=size) for relation, size in effects.items()]
    with warehouse_of(tmp_path, {"statistics": rows}) as warehouse:
        frame = warehouse.frame("statistics")
    assert list(frame.columns) == [column.name for column in table("statistics").columns]
    assert frame["relation"].tolist() == ["d", "a", "c", "b"]


def followed_study(answers: int) -> dict[str, list[Row]]:
    """Return replies to a query about Norway and a query about Peru in turn.

    Of three successive replies, one states the answer of its context, one the original answer, one another answer.
    """
    scored = {"model": "m", "dtype": "float32", "relation": "capital"}
    pairs = [{"query_id": f"q{number % 2}", "context_id": f"c{number}"} for number in range(answers)]
    follows = ("context", "original", "other")
    return {
        "queries": [
            row(table("queries"), query_id=f"q{number}", relation="capital", query_type="open", entity=entity)
            for number, entity in enumerate(("Norway", "Peru"))
        ],
        "persuasion": [
            row(table("persuasion"), **scored, **pair, persuasion=(number * 7919 % 1000) / 250)  # spread over 0 to 4
            for number, pair in enumerate(pairs)
        ],
        "greedy_answers": [
            row(table("greedy_answers"), **scored, **pair, conflict=None, follows=follows[number % 3])
            for number, pair in enumerate(pairs)
        ],
    }


@pytest.mark.parametrize("answers", [60, 1800])
def test_levels_include_all_followed_answers(tmp_path: Path, answers: int) -> None:
    study = followed_study(answers)
    with warehouse_of(tmp_path, study) as warehouse:
        frame = warehouse.frame("followed_levels")
    scores = pd.Series([score["persuasion"] for score in study["persuasion"]])
    for start, follows in enumerate(("context", "original")):
        expected, group = scores[start::3], frame[frame["follows"] == follows]
        # A row has a level or an entity.
        by_level, by_entity = group[group["entity"].isna()], group[group["level"].isna()]
        for rows in (by_level, by_entity):
            assert rows["answers"].sum() == len(expected)
            for column, values in (("persuasion", expected), ("squared_persuasion", expected**2)):
                assert (rows["answers"] * rows[column]).sum() == pytest.approx(values.sum(), rel=1e-12)
        entities = by_entity.set_index("entity")["persuasion"]
        assert entities["Norway"] == pytest.approx(expected[expected.index % 2 == 0].mean(), rel=1e-12)
    levels, followed = frame["level"].dropna(), scores[scores.index % 3 < 2]
    if len(followed) <= 1024:  # up to this limit of followed_levels.sql, each score is a level
        assert set(levels) == set(followed)
    else:  # a level is a range; its width is a power of 2, at most a quarter of the standard deviation
        width = np.diff(np.unique(levels)).min()
        assert followed.std() / 8 < width <= followed.std() / 4


def test_a_template_is_a_context_with_gaps(tmp_path: Path) -> None:
    contexts = [
        row(CONTEXTS, relation="capital", context_id=f"c{n}", entity=entity, object=answer, text=text, kind="base")
        for n, (entity, answer, text) in enumerate(
            (
                ("York", "New York", "York's capital is New York.\n"),
                ("New York", "York", "In New York it is York.\n"),
                ("", "", "Nobody knows.\n"),
                ("W", "C++", "Without C++, W rests.\n"),
            )
        )
    ]
    about = {"relation": "capital", "model": "m", "dtype": "float32", "query_type": "open", "form": 1, "entities": 2}
    name = "entity_independent_persuasion"
    scores = [row(table(name), **about, **{"context_id": f"c{n}", name: 1.0}) for n in range(4)]
    with warehouse_of(tmp_path, {"contexts": contexts, name: scores}) as warehouse:
        templates = list(warehouse.frame("entity_independent_of_contexts")["template"])
    assert templates == [
        "{entity}'s capital is {answer}.",
        "In {entity} it is {answer}.",
        "Nobody knows.",
        "Without {answer}, {entity} rests.",
    ]


def test_column_types_do_not_depend_on_values(tmp_path: Path, loaded: Warehouse) -> None:
    with warehouse_of(tmp_path, {}) as empty:
        for name in NAMED_QUERIES:
            full = loaded.frame(name)
            # a list would give the dtype object
            assert set(map(str, full.dtypes)) <= {"str", "Int64", "boolean", "float64"}, name
            pd.testing.assert_series_equal(full.dtypes, empty.frame(name).dtypes)


@pytest.mark.parametrize("query", NAMED_QUERIES.values(), ids=lambda query: query.name)
def test_declared_units_belong_to_columns_of_query(query: NamedQuery, loaded: Warehouse) -> None:
    assert query.units.keys() <= {*loaded.rows(query).column_names}


def test_degrees_are_listed_for_entities_with_degree(tmp_path: Path, loaded: Warehouse) -> None:
    rows = small_study()
    first, second = rows["queries"]
    rows["queries"] = [first | {"degree": 100, "relation_degree": 10}, second | {"degree": 0, "relation_degree": 0}]
    with warehouse_of(tmp_path, rows) as warehouse:
        frame = warehouse.frame("degree_of_queries").set_index("query_id")
    assert list(frame.loc["q1", ["log_degree", "log_relation_degree", "susceptibility"]]) == [2, 1, 2]
    assert frame.loc["q2", "degree"] == 0
    assert frame["log_degree"].isna().tolist() == [False, True]
    assert loaded.frame("degree_of_queries").empty


def test_familiarity_drops_invented_names_that_the_corpus_has(tmp_path: Path) -> None:
    about = {"relation": "capital", "query_type": "open", "form": 1, "answer": "Oslo"}
    counts = {"Norway": 9, "Chad": 0, "Peru": 5, "Fia": 0, "Gan": 0, "Hud": 2}  # the last three are invented
    study = {
        "queries": [
            row(table("queries"), **about, query_id=name, entity=name, invented=number > 2)
            for number, name in enumerate(counts)
        ],
        "susceptibility": [
            row(
                table("susceptibility"),
                relation="capital",
                model="m",
                dtype="float32",
                query_id=name,
                susceptibility=float(number),
            )
            for number, name in enumerate(counts)
        ],
        "frequencies": [
            row(table("frequencies"), entity=name, answer="Oslo", entity_count=count, pair_count=0)
            for name, count in counts.items()
        ],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        queries = warehouse.frame("unattested_queries")
    assert sorted(queries["entity"]) == ["Chad", "Fia", "Gan", "Norway", "Peru"]
    (test,) = [
        statistic
        for statistic in STATISTICS["familiarity_unattested"].rows({"unattested_queries": queries}, 0)
        if statistic["unit_of_analysis"] == "query"
    ]
    assert (test["comparison"], test["group_a"]) == ("familiarity_unattested", "invented and unattested")
    assert (test["n_a"], test["mean_a"], test["n_b"], test["mean_b"]) == (2, 3.5, 3, 1.0)
