"""Answers, clusters, semantic entropy and coherent persuasion: in one pass, or derived later from what is stored."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import ScoreError
from swaymeter.data.sources import sample
from swaymeter.tasks.measures import measure, stored_chunks
from swaymeter.tasks.measures.reply_samples import page_of
from swaymeter.tasks.models import LanguageModel, load_entailment
from swaymeter.tasks.models.capabilities import SampledAnswers
from swaymeter.tasks.models.entailment import EntailmentModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.prompts import answer_prompts
from swaymeter.tasks.models.prompts.answer_prompts import AnswerPrompt, answer_prompt
from swaymeter.tasks.scoring.coherent_persuasion import GroupedAnswers, coherent_persuasion, coherent_persuasions
from swaymeter.tasks.scoring.half_samples import draw_halves
from swaymeter.tasks.scoring.semantic_entropy import group_answers, semantic_entropy, semantic_entropy_error
from tests.tasks.measures.conftest import Row, Study

SAMPLED = ("answers", "clusters", "coherent_persuasion")
Key = tuple[str, str]
Answers = dict[Key, SampledAnswers]
Equivalent = dict[Key, Any]


@pytest.fixture
def expected(study: Study, language_model: LanguageModel) -> Answers:
    """The answers to every question under every condition, sampled one at a time."""
    sampled = {}
    for question in study.inputs.questions:
        for case in question.cases:
            identity = (question.question_id, case.context_id)
            prompt = answer_prompt(language_model, question.question, case.text)
            (sampled[identity],) = sample_answers(
                language_model, [prompt.tokens], [identity], seed=7, **study.parameters["answers"]
            )
    return sampled


@pytest.fixture
def equivalent(expected: Answers, models: dict[str, str]) -> Equivalent:
    judge = load_entailment(models["entailment"])
    texts = [[answer.text for answer in one.samples] for one in expected.values()]
    return dict(zip(expected, judge.equivalent_in_bulk(texts), strict=True))


def halves_of(key: Key, equivalent: Equivalent) -> list[list[list[int]]]:
    return [group_answers(equivalent[key], half) for half in draw_halves(4, 12, 7, *key)]


def test_answers_are_those_of_their_question_and_condition(
    study: Study, expected: Answers, equivalent: Equivalent
) -> None:
    study.score(*SAMPLED)
    rows = study.rows("answers")
    assert len(rows) == len(expected) * 5
    for row in rows:
        of = expected[row["question_id"], row["condition"]]
        answer = of.greedy if row["sample"] is None else of.samples[row["sample"]]
        assert (row["text"], row["token_ids"], row["state"]) == (
            answer.text,
            list(answer.token_ids),
            answer.state,
        )
        np.testing.assert_allclose(row["token_log_probs"], answer.token_log_probs, atol=1e-3)
        assert (row["context_cut"], row["engine"], row["stand_in"]) == (0, "slots", None)
    assert len({tuple(row["token_ids"]) for row in rows}) > len(expected)
    for row in study.rows("clusters"):
        key = (row["question_id"], row["condition"])
        assert row["equivalent_to"] == np.flatnonzero(equivalent[key][row["sample"]]).tolist()
        assert row["sample"] in group_answers(equivalent[key])[row["cluster"]]


def test_entropies_and_errors_are_those_of_the_answers(study: Study, expected: Answers, equivalent: Equivalent) -> None:
    rows = study.by_question("semantic_entropy")
    assert rows.keys() == expected.keys()
    kinds = {"sum": "semantic_entropy", "rao": "semantic_entropy_rao", "assignment": "cluster_assignment_entropy"}
    for key, row in rows.items():
        log_probs = [answer.token_log_probs for answer in expected[key].samples]
        groups = group_answers(equivalent[key])
        assert (row["groups"], row["group_sizes"]) == (len(groups), [len(group) for group in groups])
        for kind, column in kinds.items():
            error = semantic_entropy_error(log_probs, halves_of(key, equivalent), kind=kind)
            assert row[column] == pytest.approx(semantic_entropy(log_probs, groups, kind=kind), abs=1e-3)
            assert row[f"{column}_standard_error"] == pytest.approx(error, abs=1e-3)
    assert len({row["semantic_entropy_standard_error"] for row in rows.values()}) > len(rows) / 2


def test_without_log_probabilities_the_clusters_have_an_entropy(study: Study) -> None:
    whole = study.by_question("semantic_entropy")
    texts = [{**row, "token_log_probs": []} for row in study.rows("answers")]
    later = replace(study, folder=study.folder.with_name("later"))
    for name, rows in (("answers", texts), ("clusters", study.rows("clusters"))):
        later.artifact(name).write(later.artifact(name).table.of(rows), study.artifact(name).about())
    rows = later.by_question("semantic_entropy")
    of_texts = ("groups", "group_sizes", "cluster_assignment_entropy", "cluster_assignment_entropy_standard_error")
    for key, row in rows.items():
        assert {name: row[name] for name in of_texts} == {name: whole[key][name] for name in of_texts}
        assert {row[name] for name in row if name.startswith("semantic_entropy")} == {None}
    assert rows.keys() == whole.keys()


def test_coherent_persuasion_is_that_of_both_sides(study: Study, expected: Answers, equivalent: Equivalent) -> None:
    def grouped(key: Key) -> GroupedAnswers:
        distributions = [answer.mean_distribution for answer in expected[key].samples]
        return GroupedAnswers("", distributions, group_answers(equivalent[key]), halves_of(key, equivalent))

    def unchanged(question: str) -> float:
        answers = expected[question, "none"].samples
        scores = []
        for half in draw_halves(4, 12, 7, question, "none"):
            other = [number for number in range(len(answers)) if number not in half]
            sides = []
            for chosen in (half, other):
                matrix = equivalent[question, "none"][np.ix_(chosen, chosen)]
                sides += [[answers[number].mean_distribution for number in chosen], group_answers(matrix)]
            scores.append(coherent_persuasion(*sides))
        return float(np.mean(scores))

    rows = study.by_question("coherent_persuasion")
    assert rows.keys() == {key for key in expected if key[1] != "none"}
    for key, row in rows.items():
        without, within = grouped((key[0], "none")), grouped(key)
        ((score, error),) = coherent_persuasions(without, [within])
        assert row["coherent_persuasion"] == pytest.approx(score, rel=1e-3, abs=1e-5)
        assert row["coherent_persuasion_standard_error"] == pytest.approx(error, rel=1e-3, abs=1e-5)
        assert row["coherent_persuasion_unchanged"] == pytest.approx(unchanged(row["question_id"]), rel=1e-3, abs=1e-5)
        for side, name in ((without, "without"), (within, "with")):
            assert row[f"group_sizes_{name}"] == [len(group) for group in side.groups]
            assert row[f"groups_{name}"] == len(side.groups)


def test_later_scores_equal_those_of_one_pass(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.score(*SAMPLED, "semantic_entropy")
    assert study.loaded == 1
    later = replace(study, folder=study.folder / "later", loaded=0)
    assert later.rows("answers") == study.rows("answers")
    assert later.rows("clusters") == study.rows("clusters")
    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: pytest.fail("loaded"))
    assert later.rows("semantic_entropy") == study.rows("semantic_entropy")
    assert later.loaded == 1
    assert later.rows("coherent_persuasion") == study.rows("coherent_persuasion")
    assert later.loaded == 2


@pytest.mark.parametrize("stored", [(), ("answers",)])
def test_clustering_reports_its_progress(
    stored: tuple[str, ...], study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_chunks, "REPORT_SECONDS", 0)
    study.score(*stored)
    seen: list[tuple[int, int]] = []
    before_clustering: list[tuple[int, int]] = []
    entailing = EntailmentModel.entailing

    def watched(judge: EntailmentModel, pairs: Any) -> set[tuple[str, str]]:
        before_clustering.append(seen[-1])
        return entailing(judge, pairs)

    monkeypatch.setattr(EntailmentModel, "entailing", watched)
    study.score("clusters", progress=lambda done, total: seen.append((done, total)))
    in_first_chunk, total = (
        sum(len(each.cases) for each in group) for group in (study.inputs.questions[:2], study.inputs.questions)
    )
    assert before_clustering[0] == (0 if stored else in_first_chunk // 2, total)
    assert (in_first_chunk, total) in seen[seen.index(before_clustering[0]) + 1 :]
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)


def test_question_too_long_is_rejected_by_its_id(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = study.inputs.questions
    endless = replace(second, question="Why? " * 5_000)
    of_three = replace(study, inputs=replace(study.inputs, questions=[first, endless, third]))
    of_three.score(*SAMPLED, "context_utilisation")
    assert f"question {second.question_id} is rejected: a prompt of " in caplog.text
    for name in (*SAMPLED, "semantic_entropy", "whose_answer", "context_utilisation"):
        assert {row["question_id"] for row in of_three.rows(name)} == {first.question_id, third.question_id}
    assert list(of_three.artifact("answers").about()["rejected"]) == [second.question_id]
    alone = replace(of_three, folder=study.folder / "alone", inputs=replace(study.inputs, questions=[endless]))
    with pytest.raises(ScoreError, match=f"every question is rejected, for example {second.question_id}: a prompt of"):
        alone.score("answers")


def test_answers_that_rounding_changes_are_read_as_stored(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    joint = study.rows("coherent_persuasion")
    study.artifact("coherent_persuasion").discard()

    def otherwise(*arguments: Any, **options: Any) -> list[SampledAnswers]:
        sampled = sample_answers(*arguments, **options)
        return [replace(one, samples=(sampled[0].greedy,) * len(one.samples)) for one in sampled]

    monkeypatch.setattr(LanguageModel, "sample_answers", otherwise)
    for row, other in zip(study.rows("coherent_persuasion"), joint, strict=True):
        assert row == {name: _to_rounding(value) for name, value in other.items()}


def _to_rounding(value: Any) -> Any:
    return pytest.approx(value, rel=1e-3, abs=1e-5) if isinstance(value, float) else value


def test_without_half_samples_errors_are_null(study: Study) -> None:
    scores = ("semantic_entropy", "coherent_persuasion")
    before = {name: study.by_question(name) for name in scores}
    for name in scores:
        study.parameters[name] = {"half_samples": 0}
        for key, row in study.by_question(name).items():
            errors = {column for column in row if column.endswith(("_standard_error", "_unchanged"))}
            assert errors
            assert {row[column] for column in errors} == {None}
            for column in row.keys() - errors:
                assert row[column] == _to_rounding(before[name][key][column])


def test_a_question_without_stored_answers_is_named(study: Study) -> None:
    study.store("answers", [])
    with pytest.raises(ScoreError, match=r"no row of answers is stored for the question '.+' with the context none"):
        study.score("accuracy")


@dataclass
class Judge:
    """A judge that says the same of every two answers, and notes what it is asked."""

    verdict: bool
    stand_in: str | None = None
    received: list[tuple[int, Any]] = field(default_factory=list)

    def equivalent_in_bulk(self, texts: list[list[str]], questions: Any = None) -> list[Any]:
        self.received.append((len(texts), questions))
        return [np.eye(len(of), dtype=bool) | self.verdict for of in texts]


def test_every_score_names_its_stand_in(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(False, stand_in="cosine similarity")
    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: judge)
    for name in ("clusters", "semantic_entropy", "coherent_persuasion"):
        assert {row["stand_in"] for row in study.rows(name)} == {"cosine similarity"}
    assert {row["stand_in"] for row in study.rows("accuracy")} == {None}
    sizes = {tuple(row["group_sizes"]) for row in study.rows("semantic_entropy")}
    assert sizes == {(1, 1, 1, 1)}


@pytest.mark.parametrize("with_question", [False, True])
def test_questions_stand_before_answers(with_question: bool, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(True)
    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: judge)
    study.parameters["clusters"] = {"entailment_with_question": with_question}
    study.score("clusters")
    questions = [question.question for question in study.inputs.questions for _ in question.cases]
    assert [count for count, _ in judge.received] == [
        6,
        3,
    ]  # chunks of two questions and of one, under three conditions
    assert [one for _, some in judge.received for one in some or ()] == (questions if with_question else [])


def test_what_was_cut_of_a_context_is_stored(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(model: LanguageModel, question: str, context: str | None, **options: Any) -> AnswerPrompt:
        assert options["reserved_tokens"] == 5
        return replace(answer_prompt(model, question, context, **options), context_cut=len(context or ""))

    monkeypatch.setattr(answer_prompts, "answer_prompt", cut)
    texts = {(one.question_id, case.context_id): case.text for one in study.inputs.questions for case in one.cases}
    for row in study.rows("answers"):
        assert row["context_cut"] == len(texts[row["question_id"], row["context_id"]] or "")


def test_questions_are_put_as_the_study_says(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(catalog.prompts(), plain_without_context="Say {question}", chat_template="never")
    asked = []

    def seen(model: LanguageModel, prompts: Any, *others: Any, **options: Any) -> list[SampledAnswers]:
        asked.append((model.tokenizer.decode(prompts[0]), options["form"]))
        return sample_answers(model, prompts, *others, **options)

    monkeypatch.setattr(LanguageModel, "sample_answers", seen)
    replace(study, inputs=replace(study.inputs, answer_prompts=own)).score("answers")
    assert asked[0] == (f"Say {study.inputs.questions[0].question}", "plain")


def test_prompts_say_the_page_of_disputable_questions() -> None:
    ours, published = catalog.prompts(), catalog.prompts("published")
    disputed, static = sample.questions("disputable")[0], sample.questions("static")[0]
    alone, behind = disputed.cases[0], disputed.cases[1]
    assert [page_of(ours, disputed, case) for case in (alone, behind)] == [disputed.subject] * 2
    assert page_of(ours, replace(disputed, page="Same-sex marriage", subject="Same"), alone) == "Same-sex marriage"
    assert [page_of(ours, static, case) for case in static.cases] == [None] * 3
    assert [page_of(published, disputed, case) for case in (alone, behind)] == [disputed.subject] * 2
    assert [page_of(published, static, case) for case in static.cases] == [static.subject] * 3
    assert page_of(published, replace(static, subject=""), static.cases[0]) is None


@pytest.fixture
def scored(study: Study, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, list[Row]]]:
    """Scores some of twelve questions, so many a chunk and at once; the rows of each measure in one order."""

    def score(folder: str, each: int, at_once: int | None, chosen: slice) -> dict[str, list[Row]]:
        monkeypatch.setattr(measure, "QUESTIONS_A_CHUNK", {"cpu": each})
        questions = sample.questions("static")[:12][chosen]
        inputs = replace(study.inputs, questions=questions, batch_size=at_once)
        other = replace(study, folder=study.folder / folder, inputs=inputs)
        other.score(*SAMPLED)
        return {name: sorted(other.rows(name), key=lambda row: str(row["question_id"])) for name in SAMPLED}

    return score


def test_scores_do_not_depend_on_batches(scored: Callable[..., dict[str, list[Row]]]) -> None:
    whole = scored("whole", 12, 64, slice(None))
    for other in (scored("backwards", 5, 7, slice(None, None, -1)), scored("a part", 1, 1, slice(8, 10))):
        asked = {row["question_id"] for row in other["answers"]}
        for name, rows in other.items():
            expected = [row for row in whole[name] if row["question_id"] in asked]
            assert len(rows) == len(expected) > 0
            for row, one in zip(rows, expected, strict=True):
                for column, value in one.items():
                    if value and isinstance(value, list | float) and not isinstance(value, bool):
                        np.testing.assert_allclose(row[column], value, atol=1e-4)
                    else:
                        assert row[column] == value


def test_overlapping_clusters_enter_the_scores_as_released(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two answers are equivalent, and the second to the others, which are not."""

    class Between(Judge):
        def equivalent_in_bulk(self, texts: list[list[str]], questions: Any = None) -> list[Any]:
            one = np.eye(4, dtype=bool)
            one[1] = one[:, 1] = True
            return [one] * len(texts)

    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: Between(False))
    study.parameters["clusters"] = {"grouping": "overlapping"}
    assert [row["cluster"] for row in study.rows("clusters")][:4] == [0, 2, 1, 2]
    assert {tuple(row["group_sizes"]) for row in study.rows("semantic_entropy")} == {(1, 1, 2)}
    assert {tuple(row["group_sizes_with"]) for row in study.rows("coherent_persuasion")} == {(2, 2, 2)}
