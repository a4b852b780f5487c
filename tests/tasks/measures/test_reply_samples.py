"""Replies, clusters, semantic entropy and coherent persuasion: in one pass, or derived later from stored rows."""

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
SAMPLES, HALF_SAMPLES, SEED = 4, 12, 7
"""As in the fixture `study`."""
Key = tuple[str, str]
Answers = dict[Key, SampledAnswers]
Equivalent = dict[Key, Any]


@pytest.fixture
def expected(study: Study, language_model: LanguageModel) -> Answers:
    """Return the replies to each question and context, sampled prompt by prompt."""
    sampled = {}
    for question in study.inputs.questions:
        for case in question.cases:
            identity = (question.question_id, case.context_id)
            prompt = answer_prompt(language_model, question.question, case.text)
            (sampled[identity],) = sample_answers(
                language_model, [prompt.tokens], [identity], seed=SEED, **study.parameters["answers"]
            )
    return sampled


@pytest.fixture
def equivalent(expected: Answers, models: dict[str, str]) -> Equivalent:
    judge = load_entailment(models["entailment"])
    texts = [[answer.text for answer in sampled.samples] for sampled in expected.values()]
    return dict(zip(expected, judge.equivalent_in_bulk(texts), strict=True))


def halves_of(key: Key, equivalent: Equivalent) -> list[list[list[int]]]:
    return [group_answers(equivalent[key], half) for half in draw_halves(SAMPLES, HALF_SAMPLES, SEED, *key)]


def test_answers_belong_to_their_question_and_condition(
    study: Study, expected: Answers, equivalent: Equivalent
) -> None:
    study.score(*SAMPLED)
    rows = study.rows("answers")
    assert len(rows) == len(expected) * (SAMPLES + 1)  # also a greedy reply
    for row in rows:
        sampled = expected[row["question_id"], row["condition"]]
        answer = sampled.greedy if row["sample"] is None else sampled.samples[row["sample"]]
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


def test_entropies_and_errors_follow_from_the_answers(study: Study, expected: Answers, equivalent: Equivalent) -> None:
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


def test_clusters_have_entropy_without_log_probabilities(study: Study) -> None:
    whole = study.by_question("semantic_entropy")
    texts = [{**row, "token_log_probs": []} for row in study.rows("answers")]
    later = replace(study, folder=study.folder.with_name("later"))
    for name, rows in (("answers", texts), ("clusters", study.rows("clusters"))):
        later.artifact(name).write(later.artifact(name).table.of(rows), study.artifact(name).about())
    rows = later.by_question("semantic_entropy")
    columns = ("groups", "group_sizes", "cluster_assignment_entropy", "cluster_assignment_entropy_standard_error")
    for key, row in rows.items():
        assert {name: row[name] for name in columns} == {name: whole[key][name] for name in columns}
        assert {row[name] for name in row if name.startswith("semantic_entropy")} == {None}
    assert rows.keys() == whole.keys()


def test_coherent_persuasion_compares_both_sides(study: Study, expected: Answers, equivalent: Equivalent) -> None:
    def grouped(key: Key) -> GroupedAnswers:
        distributions = [answer.mean_distribution for answer in expected[key].samples]
        return GroupedAnswers("", distributions, group_answers(equivalent[key]), halves_of(key, equivalent))

    def unchanged(question: str) -> float:
        """Return the mean coherent persuasion between random halves of the closed-book replies."""
        answers = expected[question, "none"].samples
        scores = []
        for half in draw_halves(SAMPLES, HALF_SAMPLES, SEED, question, "none"):
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
        without_context, with_context = grouped((key[0], "none")), grouped(key)
        ((score, error),) = coherent_persuasions(without_context, [with_context])
        assert row["coherent_persuasion"] == pytest.approx(score, rel=1e-3, abs=1e-5)
        assert row["coherent_persuasion_standard_error"] == pytest.approx(error, rel=1e-3, abs=1e-5)
        assert row["coherent_persuasion_unchanged"] == pytest.approx(unchanged(row["question_id"]), rel=1e-3, abs=1e-5)
        for side, name in ((without_context, "without"), (with_context, "with")):
            assert row[f"group_sizes_{name}"] == [len(group) for group in side.groups]
            assert row[f"groups_{name}"] == len(side.groups)


def test_later_scores_equal_scores_of_one_pass(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
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
    reports: list[tuple[int, int]] = []
    reports_before_clustering: list[tuple[int, int]] = []
    entailing = EntailmentModel.entailing

    def watched(judge: EntailmentModel, pairs: Any) -> set[tuple[str, str]]:
        reports_before_clustering.append(reports[-1])
        return entailing(judge, pairs)

    monkeypatch.setattr(EntailmentModel, "entailing", watched)
    study.score("clusters", progress=lambda done, total: reports.append((done, total)))
    in_first_chunk, total = (
        sum(len(question.cases) for question in group) for group in (study.inputs.questions[:2], study.inputs.questions)
    )
    # If a pass also samples the replies, half of its progress is sampling.
    assert reports_before_clustering[0] == (0 if stored else in_first_chunk // 2, total)
    assert (in_first_chunk, total) in reports[reports.index(reports_before_clustering[0]) + 1 :]
    assert reports == sorted(reports)
    assert reports[-1] == (total, total)


def test_too_long_question_is_rejected(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = study.inputs.questions
    endless = replace(second, question="Why? " * 5_000)
    study_of_three = replace(study, inputs=replace(study.inputs, questions=[first, endless, third]))
    study_of_three.score(*SAMPLED, "context_utilisation")
    assert f"question {second.question_id} is rejected: a prompt of " in caplog.text
    for name in (*SAMPLED, "semantic_entropy", "whose_answer", "context_utilisation"):
        assert {row["question_id"] for row in study_of_three.rows(name)} == {first.question_id, third.question_id}
    assert list(study_of_three.artifact("answers").about()["rejected"]) == [second.question_id]
    study_of_one = replace(
        study_of_three, folder=study.folder / "alone", inputs=replace(study.inputs, questions=[endless])
    )
    with pytest.raises(ScoreError, match=f"every question is rejected, for example {second.question_id}: a prompt of"):
        study_of_one.score("answers")


def test_stored_answers_replace_recomputed_answers(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    before = study.rows("coherent_persuasion")
    study.artifact("coherent_persuasion").discard()

    def sample_differently(*arguments: Any, **options: Any) -> list[SampledAnswers]:
        sampled = sample_answers(*arguments, **options)
        return [replace(answers, samples=(sampled[0].greedy,) * len(answers.samples)) for answers in sampled]

    monkeypatch.setattr(LanguageModel, "sample_answers", sample_differently)
    for row, row_before in zip(study.rows("coherent_persuasion"), before, strict=True):
        assert row == {name: _up_to_rounding(value) for name, value in row_before.items()}


def _up_to_rounding(value: Any) -> Any:
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
                assert row[column] == _up_to_rounding(before[name][key][column])


def test_a_question_without_stored_answers_is_named(study: Study) -> None:
    study.store("answers", [])
    with pytest.raises(ScoreError, match=r"no row of answers is stored for the question '.+' with the context none"):
        study.score("accuracy")


@dataclass
class Judge:
    """A judge that gives all pairs of replies one verdict, and records its calls."""

    verdict: bool
    stand_in: str | None = None
    received: list[tuple[int, Any]] = field(default_factory=list)

    def equivalent_in_bulk(self, texts: list[list[str]], questions: Any = None) -> list[Any]:
        self.received.append((len(texts), questions))
        return [np.eye(len(replies), dtype=bool) | self.verdict for replies in texts]


def test_every_score_names_its_stand_in(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(False, stand_in="cosine similarity")
    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: judge)
    for name in ("clusters", "semantic_entropy", "coherent_persuasion"):
        assert {row["stand_in"] for row in study.rows(name)} == {"cosine similarity"}
    assert {row["stand_in"] for row in study.rows("accuracy")} == {None}
    sizes = {tuple(row["group_sizes"]) for row in study.rows("semantic_entropy")}
    assert sizes == {(1, 1, 1, 1)}


@pytest.mark.parametrize("with_question", [False, True])
def test_judge_gets_questions_on_request(with_question: bool, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(True)
    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: judge)
    study.parameters["clusters"] = {"entailment_with_question": with_question}
    study.score("clusters")
    questions = [question.question for question in study.inputs.questions for _ in question.cases]
    # The chunks have two questions and one question, under three conditions.
    assert [count for count, _ in judge.received] == [6, 3]
    assert [question for _, received in judge.received for question in received or ()] == (
        questions if with_question else []
    )


def test_cut_length_of_a_context_is_stored(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(model: LanguageModel, question: str, context: str | None, **options: Any) -> AnswerPrompt:
        assert options["reserved_tokens"] == 5
        return replace(answer_prompt(model, question, context, **options), context_cut=len(context or ""))

    monkeypatch.setattr(answer_prompts, "answer_prompt", cut)
    texts = {
        (question.question_id, case.context_id): case.text
        for question in study.inputs.questions
        for case in question.cases
    }
    for row in study.rows("answers"):
        assert row["context_cut"] == len(texts[row["question_id"], row["context_id"]] or "")


def test_prompts_of_the_study_are_used(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    own_prompts = replace(catalog.prompts(), plain_without_context="Say {question}", chat_template="never")
    requests = []

    def record(model: LanguageModel, prompts: Any, *others: Any, **options: Any) -> list[SampledAnswers]:
        requests.append((model.tokenizer.decode(prompts[0]), options["form"]))
        return sample_answers(model, prompts, *others, **options)

    monkeypatch.setattr(LanguageModel, "sample_answers", record)
    replace(study, inputs=replace(study.inputs, answer_prompts=own_prompts)).score("answers")
    assert requests[0] == (f"Say {study.inputs.questions[0].question}", "plain")


def test_prompts_name_the_page_of_disputable_questions() -> None:
    default, published = catalog.prompts(), catalog.prompts("published")
    disputed, static = sample.questions("disputable")[0], sample.questions("static")[0]
    closed_book, with_context = disputed.cases[0], disputed.cases[1]
    assert [page_of(default, disputed, case) for case in (closed_book, with_context)] == [disputed.subject] * 2
    assert (
        page_of(default, replace(disputed, page="Same-sex marriage", subject="Same"), closed_book)
        == "Same-sex marriage"
    )
    assert [page_of(default, static, case) for case in static.cases] == [None] * 3
    assert [page_of(published, disputed, case) for case in (closed_book, with_context)] == [disputed.subject] * 2
    assert [page_of(published, static, case) for case in static.cases] == [static.subject] * 3
    assert page_of(published, replace(static, subject=""), static.cases[0]) is None


@pytest.fixture
def scored(study: Study, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, list[Row]]]:
    """Return a function that scores a slice of twelve questions with a chunk size and a batch size.

    The function returns the rows of each measure, sorted by question.
    """

    def score(folder: str, questions_a_chunk: int, batch_size: int | None, chosen: slice) -> dict[str, list[Row]]:
        monkeypatch.setattr(measure, "QUESTIONS_A_CHUNK", {"cpu": questions_a_chunk})
        questions = sample.questions("static")[:12][chosen]
        inputs = replace(study.inputs, questions=questions, batch_size=batch_size)
        other = replace(study, folder=study.folder / folder, inputs=inputs)
        other.score(*SAMPLED)
        return {name: sorted(other.rows(name), key=lambda row: str(row["question_id"])) for name in SAMPLED}

    return score


def test_scores_do_not_depend_on_batches(scored: Callable[..., dict[str, list[Row]]]) -> None:
    whole = scored("whole", 12, 64, slice(None))
    for other in (scored("backwards", 5, 7, slice(None, None, -1)), scored("a part", 1, 1, slice(8, 10))):
        question_ids = {row["question_id"] for row in other["answers"]}
        for name, rows in other.items():
            expected = [row for row in whole[name] if row["question_id"] in question_ids]
            assert len(rows) == len(expected) > 0
            for row, expected_row in zip(rows, expected, strict=True):
                for column, value in expected_row.items():
                    if value and isinstance(value, list | float) and not isinstance(value, bool):
                        np.testing.assert_allclose(row[column], value, atol=1e-4)
                    else:
                        assert row[column] == value


def test_reply_may_be_in_overlapping_clusters(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second reply is equivalent to every other reply. The others are not equivalent to each other."""

    class Overlapping(Judge):
        def equivalent_in_bulk(self, texts: list[list[str]], questions: Any = None) -> list[Any]:
            matrix = np.eye(4, dtype=bool)
            matrix[1] = matrix[:, 1] = True
            return [matrix] * len(texts)

    monkeypatch.setattr("swaymeter.tasks.measures.clusters.load_entailment", lambda *_, **__: Overlapping(False))
    study.parameters["clusters"] = {"grouping": "overlapping"}
    # The clusters are {0, 1}, {1, 2} and {1, 3}. An entropy counts a reply in its last cluster.
    assert [row["cluster"] for row in study.rows("clusters")][:4] == [0, 2, 1, 2]
    assert {tuple(row["group_sizes"]) for row in study.rows("semantic_entropy")} == {(1, 1, 2)}
    assert {tuple(row["group_sizes_with"]) for row in study.rows("coherent_persuasion")} == {(2, 2, 2)}
