"""Statistics of instances of questions, by partition and pooled, and TF-IDF, worked by hand."""

from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.entropy_classes import CUT, EntropyClasses, tf_idf, words
from swaymeter.tasks.statistics.means import ENTROPIES
from swaymeter.tasks.statistics.predictors import CORRELATED, regression_on
from tests.tasks.statistics.rows import row_of

Row = dict[str, Any]
MODEL = {"model": "m", "dtype": "float32"}


def instance(
    number: int, partition: str, condition: str, persuasion: float, outcome: str = "other", **values: Any
) -> Row:
    """Return a question with a context; question n is about subject n // 2."""
    return {
        **MODEL,
        "relation": "P36",
        "partition": partition,
        "question_id": f"q{number}",
        "context_id": condition,
        "condition": condition,
        "subject_key": f"s{number // 2}",
        "coherent_persuasion": persuasion,
        "coherent_persuasion_unchanged": None,
        "outcome": outcome,
        "answers": 10,
        "answers_without": 10,
        "persuaded_as_published": None,
        "stubborn_as_published": None,
        "states_answer": True,
        **dict.fromkeys(CORRELATED),
        **{f"{name}_{when}": None for name in ENTROPIES for when in ("without", "with")},
        **values,
    }


def answer(number: int, partition: str, condition: str, accurate: bool | None, entropy: float) -> Row:
    return {
        **MODEL,
        "relation": "P36",
        "partition": partition,
        "question_id": f"q{number}",
        "context_id": condition,
        "condition": condition,
        "subject_key": f"s{number // 2}",
        "accurate": accurate,
        "semantic_entropy": entropy,
        "semantic_entropy_length_normalised": entropy / 2,
        "semantic_entropy_rao": None,
        "cluster_assignment_entropy": None,
        "answers": 10,
    }


def computed(name: str, **rows: list[Row]) -> list[Row]:
    """Return the rows of a statistic, and check that they do not depend on the order of their input."""
    frames = {query: pd.DataFrame(query_rows) for query, query_rows in rows.items()}
    result = STATISTICS[name].rows(frames, 0)
    shuffled = {query: frame.sample(frac=1, random_state=1) for query, frame in frames.items()}
    assert STATISTICS[name].rows(shuffled, 0) == result
    assert STATISTICS[name].table.of(result).num_rows == len(result)
    return result


def test_partitions_and_contexts_are_pooled() -> None:
    answers = [
        answer(0, "static", "none", True, 4.0),
        answer(2, "temporal", "none", False, 2.0),
        answer(4, "disputable", "none", None, 9.0),
        answer(4, "disputable", "original", True, 1.0),
    ]
    instances = [
        instance(0, "static", "original", 1.0, "persuaded", semantic_entropy_without=4.0, semantic_entropy_with=1.0),
        instance(0, "static", "counter_memory", 3.0, "stubborn", semantic_entropy_without=4.0, semantic_entropy_with=5),
        instance(4, "temporal", "original", 8.0, "unmeasured"),
    ]
    result = computed("partition_means", answers_of_questions=answers, instances=instances)

    def mean(quantity: str, *group: str) -> tuple[int, Any]:
        row = row_of(result, quantity=quantity, group_values=list(group))
        return row["n"], row["mean"]

    assert mean("accuracy", "all", "none") == (2, 0.5)
    assert mean("semantic_entropy", "all", "none") == (3, 5.0)
    assert mean("semantic_entropy_length_normalised", "all", "none") == (3, 2.5)
    assert mean("coherent_persuasion", "static", "all") == (2, 2.0)
    assert mean("coherent_persuasion", "all", "all") == (3, 4.0)
    assert mean("persuaded", "all", "all") == (2, 0.5)
    assert mean("stubborn", "static", "counter_memory") == (1, 1.0)
    assert mean("semantic_entropy_change", "all", "all", "all") == (2, -1.0)
    assert mean("semantic_entropy_change", "static", "all", "persuaded") == (1, -3.0)
    assert mean("semantic_entropy_with", "all", "all", "stubborn") == (1, 5.0)
    everything = row_of(result, quantity="coherent_persuasion", group_values=["all", "all"])
    assert (everything["items"], everything["low"], everything["high"]) == (2, None, None)


@pytest.mark.parametrize(("answers_without", "quantity_count"), [(4, 0), (9, 1), (10, 2)])
def test_persuasion_needs_enough_closed_book_answers(answers_without: int, quantity_count: int) -> None:
    quantities = ("coherent_persuasion", "coherent_persuasion_unchanged")
    row = instance(0, "static", "original", 1.0, coherent_persuasion_unchanged=0.5, answers_without=answers_without)
    result = computed("partition_means", answers_of_questions=[answer(0, "static", "none", True, 4.0)], instances=[row])
    assert {row["quantity"] for row in result} & {*quantities} == {*quantities[:quantity_count]}
    assert any(row["n"] for row in computed("instance_correlations", instances=[row | {"edits": 1}])) == bool(
        quantity_count
    )


def test_persuasion_is_averaged_by_number_of_edits() -> None:
    edits = [1, 1, 2, 9, 10, 40]
    rows = [
        instance(number, "static" if count == 1 else "temporal", "original", float(number), edits=count)
        for number, count in enumerate(edits)
    ]
    rows.append(instance(9, "disputable", "original", 99.0, edits=None))
    result = computed("partition_means", answers_of_questions=[answer(0, "static", "none", True, 4.0)], instances=rows)
    original = [row for row in result if row["group_values"][0] == "original"]
    by_edits = {row["group_values"][1]: (row["n"], row["mean"]) for row in original}
    assert by_edits == {"1": (2, 0.5), "2": (1, 2.0), "5 to 9": (1, 3.0), "10 or more": (2, 4.5)}


def test_persuasion_is_correlated_by_partition_and_pooled() -> None:
    rng = np.random.default_rng(1)
    rows = [
        instance(number, ("static", "temporal")[number % 2], "original", float(persuasion), edits=edits)
        for number, (persuasion, edits) in enumerate(zip(rng.normal(0, 1, 30), [1, 4, 1, 7, 1, 9] * 5, strict=True))
    ]
    result = computed("instance_correlations", instances=rows)
    temporal = row_of(result, partition="temporal", condition="original", measure_a="edits")
    temporal_rows = [row for row in rows if row["partition"] == "temporal"]
    x, y = ([row[name] for row in temporal_rows] for name in ("edits", "coherent_persuasion"))
    expected = stats.pearsonr(x, y)
    assert temporal["pearson"] == pytest.approx(expected.statistic, abs=1e-12)
    z, half = np.arctanh(expected.statistic), stats.norm.ppf(0.975) / np.sqrt(15 - 3)
    assert (temporal["low"], temporal["high"]) == pytest.approx(tuple(np.tanh([z - half, z + half])), abs=1e-9)
    assert (temporal["n"], temporal["subjects"]) == (15, 15)
    static = row_of(result, partition="static", condition="all", measure_a="edits")
    assert (static["pearson"], static["low"], static["untestable"]) == (None, None, "no spread")
    everything = row_of(result, partition="all", condition="all", measure_a="edits")
    assert (everything["n"], everything["subjects"]) == (30, 15)
    assert {row["measure_a"] for row in result} == {"edits"}


PREDICTORS = ("edits", "subject_popularity", "object_popularity")


def regression_rows(rows: list[Row]) -> list[Row]:
    statistic = regression_on("of_three", 1, "summed", *PREDICTORS)  # name, version, kind of entropies
    result = statistic.rows({"instances": pd.DataFrame(rows)}, 0)
    assert statistic.table.of(result).num_rows == len(result)
    return result


def test_rows_without_predictor_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(2)
    rows = [
        instance(
            number,
            "temporal",
            "original",
            float(rng.normal()),
            edits=int(rng.geometric(0.3)),
            subject_popularity=float(rng.normal()),
            object_popularity=None if number < 4 else float(rng.normal()),
        )
        for number in range(24)
    ]
    edits = row_of(regression_rows(rows), partition="temporal", condition="original", predictor="edits")
    assert (edits["n"], edits["left_out"], edits["subjects"]) == (20, 4, 10)
    complete = row_of(regression_rows(rows[4:]), partition="temporal", condition="original", predictor="edits")
    columns = ("beta", "standard_error", "p", "subject_standard_error", "r_squared")
    assert [edits[name] for name in columns] == [complete[name] for name in columns]


def test_a_missing_or_constant_predictor_is_named() -> None:
    rng = np.random.default_rng(2)

    def rows(partition: str, **values: Any) -> list[Row]:
        return [
            instance(
                number,
                partition,
                "original",
                float(rng.normal()),
                **{name: float(rng.normal()) for name in PREDICTORS} | values,
            )
            for number in range(9)
        ]

    result = regression_rows([*rows("static", edits=1), *rows("disputable", object_popularity=None)])
    static = row_of(result, partition="static", condition="original")
    assert (static["untestable"], static["predictor"], static["beta"]) == ("edits: no spread", "none", None)
    disputable = row_of(result, partition="disputable", condition="original")
    assert disputable["untestable"] == "object_popularity: no instance has one"
    assert (disputable["n"], disputable["left_out"]) == (0, 9)
    assert row_of(result, partition="all", condition="all")["untestable"] == "edits: no spread"


def texts(entropies: list[float | None], questions: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            **MODEL,
            "relation": "P36",
            "partition": "static",
            "question_id": f"q{number}",
            "context_id": "original",
            "semantic_entropy_with": entropy,
            "question": question,
            "context": None,
        }
        for number, (entropy, question) in enumerate(zip(entropies, questions, strict=True))
    )


def classes_of(classes: EntropyClasses, frame: pd.DataFrame) -> tuple[list[Row], list[Row]]:
    """Return the rows of the classes over all partitions, and the rows of the words of each class."""
    counts, class_words = classes.statistics
    rows, word_rows = (statistic.rows({"texts_of_instances": frame}, 0) for statistic in (counts, class_words))
    assert class_words.table.of(word_rows).num_rows == len(word_rows)
    grouped = [{**row, **dict(zip(row["grouped_by"], row["group_values"], strict=True))} for row in rows]
    return [row for row in grouped if row["partition"] == "all"], word_rows


def test_bounds_define_the_classes() -> None:
    words = ["red cat", "red hat", "dog", "<b>sun</b>", "moon"]
    rows, class_words = classes_of(EntropyClasses(bounds=(1.0, 2.0)), texts([0.5, 1.0, 1.5, 9.0, None], words))
    assert {row["entropy_class"]: (row["n"], row["share"]) for row in rows} == {
        "low": (2, 0.5),
        "middle": (1, 0.25),
        "high": (1, 0.25),
    }
    assert {tuple(row[name] for name in CUT) for row in rows} == {("bounds of the study", "1.0", "1.0", "2.0", "2.0")}
    first_words = {
        row["entropy_class"]: (row["word"], row["texts"], row["texts_of_class"])
        for row in class_words
        if row["rank"] == 1
    }
    assert first_words == {"low": ("red", 2, 2), "middle": ("dog", 1, 1), "high": ("sun", 1, 1)}


def test_instances_between_published_classes_have_no_class() -> None:
    entropies = [10.5, 10.75, 11.0, 11.5, 16.0, 16.5, 17.0, 17.5]
    rows, words = classes_of(EntropyClasses(bounds=(10.5, 11.0, 16.0, 17.0)), texts(entropies, ["word"] * 8))
    assert {row["entropy_class"]: (row["n"], row["share"]) for row in rows} == {
        "low": (1, 0.25),
        "middle": (2, 0.5),
        "high": (1, 0.25),
    }
    assert words == []


def test_without_bounds_classes_are_thirds_of_a_model() -> None:
    frame = texts([float(value) for value in range(10)], ["word"] * 10)
    rows, words = classes_of(EntropyClasses(), pd.concat([frame, frame.assign(model="n")]))
    assert [row["n"] for row in rows] == [3, 4, 3] * 2  # high, low, middle
    assert {tuple(row[name] for name in CUT) for row in rows} == {
        ("thirds of the model's instances", "3.0", "3.0", "6.0", "6.0")
    }
    assert words == []


def test_at_most_fifty_words_mark_a_class() -> None:
    frame = texts([0.0] + [9.0] * 3, [" ".join(f"word{number:02}" for number in range(60)), "a cat", "a dog", "a sun"])
    _, words = classes_of(EntropyClasses(bounds=(1.0, 2.0)), frame)
    low = [row["word"] for row in words if row["entropy_class"] == "low"]
    assert low == [f"word{number:02}" for number in range(50)]


def test_words_are_lower_case_letters_and_digits() -> None:
    assert words("L'Été à Oslo_22, <b>東京</b> x 10") == ["été", "oslo", "22", "東京", "10"]


def test_scores_are_mean_over_texts_of_group() -> None:
    vocabulary, scores, text_counts = tf_idf(["red red cat", "cat", "dog red", "!"], [0, 0, 1, 1], 2)
    idf = {"red": log(5 / 3) + 1, "cat": log(5 / 3) + 1, "dog": log(5 / 2) + 1}
    first_norm, third_norm = sqrt((2 * idf["red"]) ** 2 + idf["cat"] ** 2), sqrt(idf["dog"] ** 2 + idf["red"] ** 2)
    assert list(vocabulary) == ["cat", "dog", "red"]
    expected = [
        [(idf["cat"] / first_norm + 1) / 2, 0, 2 * idf["red"] / first_norm / 2],
        [0, idf["dog"] / third_norm / 2, idf["red"] / third_norm / 2],
    ]
    assert scores == pytest.approx(np.array(expected), abs=1e-12)
    assert text_counts.tolist() == [[2, 0, 1], [0, 1, 1]]


def test_words_of_most_texts_are_left_out() -> None:
    vocabulary, scores, _ = tf_idf(["the cat", "the dog", "the sun", "moon"], [0, 0, 1, 1], 2)
    assert "the" not in vocabulary
    assert scores.sum(axis=1) == pytest.approx([1, 1])


def test_equal_texts_count_like_different_texts() -> None:
    others = ["dog", "sun", "dog", "sun", "moon", "moon"]
    single = tf_idf(["red cat", *others], [0, 1, 1, 1, 1, 1, 1], 2)[1]
    different = tf_idf(["red cat", "red cat ", *others], [0, 0, 1, 1, 1, 1, 1, 1], 2)[1]
    equal = tf_idf(["red cat", "red cat", *others], [0, 0, 1, 1, 1, 1, 1, 1], 2)[1]
    assert different == pytest.approx(equal)
    assert single.shape == equal.shape  # the repeated text adds no row


@pytest.mark.parametrize("texts", [[], ["!", "x"]])
def test_texts_without_words_have_no_scores(texts: list[str]) -> None:
    vocabulary, scores, text_counts = tf_idf(texts, [0] * len(texts), 3)
    assert (len(vocabulary), scores.shape, text_counts.shape) == (0, (3, 0), (3, 0))
