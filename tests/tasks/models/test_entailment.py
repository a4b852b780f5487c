from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import InputError, ModelError, UsageError
from swaymeter.tasks.models import Entailment, embedder, identify_entailment, load_embedder, load_entailment
from swaymeter.tasks.models.entailment import EmbeddingStandIn, EntailmentModel
from swaymeter.tasks.models.progress import listening
from tests.tasks.models.tiny import save_entailment_model

ANSWERS = ["Oslo", "Lima", "Oslo is it", "the city of Bergen", "Oslo", "Rome", "Lima, Peru", "42"]
BULK = [ANSWERS, ["Rome", "", "Lima", " Rome", "the capital is Rome"], [], ["Oslo"], ANSWERS[3:]]
TEXTS = {answer.strip() for answers in BULK for answer in answers if answer}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_entailment_model(tmp_path_factory.mktemp("entailment") / "bert")


@pytest.fixture
def limit_batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda tokens: monkeypatch.setitem(embedder.TOKENS_PER_BATCH, "cpu", tokens)


def model(folder: Path) -> EntailmentModel:
    """Return the judge of a folder, with empty caches."""
    judge = load_entailment(str(folder), device="cpu")
    assert isinstance(judge, EntailmentModel)
    return replace(judge)


def stand_in(threshold: float = 0.8) -> EmbeddingStandIn:
    return EmbeddingStandIn(load_embedder(device="cpu"), threshold)


def equivalent(judge: Entailment, answers: list[str], question: str | None = None) -> NDArray[np.bool_]:
    """Return the matrix of equivalent answers to a single question."""
    return judge.equivalent_in_bulk([answers], None if question is None else [question])[0]


def margin(judge: EntailmentModel, premise: str, hypothesis: str, label: int = 2) -> float:
    """Return the logit of entailment minus the highest other logit, for a pair that is read alone."""
    with torch.inference_mode():
        logits = judge.model(**judge.tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    return float(logits[label] - max(logit for index, logit in enumerate(logits) if index != label))


def expected(judge: EntailmentModel, texts: list[str], label: int = 2) -> list[list[bool]]:
    """Return the matrix of equivalent texts; each pair is read alone, in each direction."""
    return [
        [
            first == second or (margin(judge, first, second, label) > 0 and margin(judge, second, first, label) > 0)
            for second in texts
        ]
        for first in texts
    ]


@contextmanager
def recorded_pairs(judge: EntailmentModel) -> Iterator[list[str]]:
    """Record the pairs that the model reads, decoded by its tokenizer."""
    pairs: list[str] = []

    def record(network: Any, inputs: Any, options: dict[str, Any]) -> None:
        texts = judge.tokenizer.batch_decode(options["input_ids"])
        pairs.extend(text.replace("<pad>", "") for text in texts)

    hook = judge.model.register_forward_pre_hook(record, with_kwargs=True)
    yield pairs
    hook.remove()


@pytest.mark.parametrize("family", ["bert", "deberta"])
def test_equivalent_means_each_entails_the_other(
    family: str, tmp_path: Path, limit_batches: Callable[[int], None]
) -> None:
    limit_batches(64)
    judge = model(save_entailment_model(tmp_path / family, family=family))
    matrix = equivalent(judge, ANSWERS)
    assert matrix.tolist() == expected(judge, ANSWERS)
    assert len(ANSWERS) + 2 < matrix.sum() < len(ANSWERS) ** 2  # ANSWERS has one text twice


@pytest.mark.parametrize("tokens", [1, 64, 10_000])
@pytest.mark.parametrize("questions", [None, ["Where?", "Which city is it?", "", "Who?", "Where?"]])
def test_matrices_in_bulk_equal_single_ones(
    questions: list[str] | None, tokens: int, folder: Path, limit_batches: Callable[[int], None]
) -> None:
    loaders: tuple[Callable[[], Entailment], ...] = (lambda: model(folder), lambda: stand_in(0.5))
    for load in loaders:
        alone = [
            equivalent(load(), answers, None if questions is None else questions[number]).tolist()
            for number, answers in enumerate(BULK)
        ]
        limit_batches(tokens)
        matrices = load().equivalent_in_bulk(BULK, questions)
        assert [matrix.tolist() for matrix in matrices] == alone
        assert any(matrix.sum() > len(matrix) for matrix in matrices)


def test_progress_is_reported_between_batches(folder: Path, limit_batches: Callable[[int], None]) -> None:
    limit_batches(64)
    for judge in (model(folder), stand_in()):
        reported: list[float] = []
        with listening(reported.append):
            judge.equivalent_in_bulk(BULK)
        assert sum(reported) == pytest.approx(len(BULK))
        assert len(reported) > 3
        assert max(reported) < 0.9 * len(BULK)


def test_reverse_entailment_is_judged_only_after_forward_entailment(folder: Path) -> None:
    judge = model(folder)
    with recorded_pairs(judge) as pairs:
        judge.equivalent_in_bulk(BULK)
        equivalent(judge, ANSWERS)
    assert len(pairs) == len(set(pairs))
    needed = set()
    for first, second in combinations(sorted(TEXTS, key=lambda text: (len(text), text)), 2):
        if any({first, second} <= {answer.strip() for answer in answers} for answers in BULK):
            needed |= {f"<cls>{first}<sep>{second}<sep>"} | (
                {f"<cls>{second}<sep>{first}<sep>"} if margin(judge, first, second) > 0 else set()
            )
    assert set(pairs) == needed


@pytest.mark.parametrize("is_equivalent", [True, False])
def test_a_near_tie_is_decided_alone(is_equivalent: bool, tmp_path: Path, limit_batches: Callable[[int], None]) -> None:
    judge = model(save_entailment_model(tmp_path / "tie", family="deberta"))
    pair = ["Rome", "the city of Bergen"]
    nearest = min(margin(judge, *pair), margin(judge, *reversed(pair)))
    # The smaller margin of the pair becomes `target`; in a batch, `shift` would move it across zero.
    target, shift = (2e-4, -5e-4) if is_equivalent else (-2e-4, 5e-4)

    def differ_in_batches(network: Any, inputs: Any, output: Any) -> Any:
        if len(output.logits) > 1:
            output.logits[:, 2] += shift
        return output

    with torch.no_grad():
        judge.model.classifier.bias[2] -= nearest - target
    judge.model.register_forward_hook(differ_in_batches)
    for tokens in (1, 128, 10_000):
        limit_batches(tokens)
        for bulk in ([pair], [ANSWERS[::-1]], [ANSWERS[:4], ANSWERS], [ANSWERS[4:], pair, ANSWERS]):
            for answers, matrix in zip(bulk, replace(judge).equivalent_in_bulk(bulk), strict=True):
                if set(pair) <= set(answers):
                    assert matrix[answers.index(pair[0]), answers.index(pair[1])] == is_equivalent


def test_a_cosine_near_the_threshold_is_decided_alone(tmp_path: Path, limit_batches: Callable[[int], None]) -> None:
    embedder = load_embedder(str(save_entailment_model(tmp_path / "tie")), device="cpu")
    pair = ["Rome", "Lima"]

    def cosine(*batches: list[str]) -> float:
        first, second = np.concatenate([embedder.embed(batch) for batch in batches]).astype(np.float64)
        return float(first @ second)

    def differ_in_batches(network: Any, inputs: Any, output: Any) -> Any:
        if len(output.last_hidden_state) > 1:
            output.last_hidden_state[:, :, 0] += 2e-5 * torch.arange(len(output.last_hidden_state))[:, None]
        return output

    threshold = cosine(pair[:1], pair[1:])
    embedder.model.register_forward_hook(differ_in_batches)
    assert cosine(pair) != threshold
    for tokens in (1, 40, 10_000):
        limit_batches(tokens)
        for answers in (pair, pair[::-1], ANSWERS, ANSWERS[::-1]):
            for increase, is_equivalent in ((0.0, True), (1e-9, False)):
                matrix = equivalent(EmbeddingStandIn(embedder, threshold + increase), answers)
                assert matrix[answers.index(pair[0]), answers.index(pair[1])] == is_equivalent


@pytest.mark.parametrize("bound", [1, 100])
def test_cache_is_bounded_and_changes_no_matrix(bound: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swaymeter.tasks.models.entailment.MAX_CACHED", bound)
    judge = model(folder)
    alone = [equivalent(model(folder), answers).tolist() for answers in BULK]
    for _ in range(2):
        assert [matrix.tolist() for matrix in judge.equivalent_in_bulk(BULK)] == alone
        assert 0 < len(judge._cache) <= bound


@pytest.mark.parametrize(
    "labels", [{0: "Entailment ", 1: "neutral", 2: "contradiction"}, {0: "entailment", 1: "not_entailment"}]
)
def test_label_of_entailment_is_read_from_configuration(labels: dict[int, str], tmp_path: Path) -> None:
    judge = model(save_entailment_model(tmp_path / "other", labels=labels))
    assert equivalent(judge, ANSWERS).tolist() == expected(judge, ANSWERS, label=0)
    judge.model.config.id2label = {str(index): label for index, label in labels.items()}  # type: ignore[misc]
    assert equivalent(replace(judge), ANSWERS).tolist() == expected(judge, ANSWERS, label=0)


@pytest.mark.parametrize(
    "labels",
    [{0: "LABEL_0", 1: "LABEL_1"}, {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment"}],
)
def test_model_without_label_of_entailment_is_refused(labels: dict[int, str], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"labels.*{labels[0]}.*natural language inference"):
        load_entailment(str(save_entailment_model(tmp_path / "other", labels=labels)), device="cpu")


@pytest.mark.parametrize(
    ("answers", "matrix"),
    [
        (["Oslo", "Oslo", " Oslo "], [[True] * 3] * 3),
        (["", "Oslo", " "], [[True, False, True], [False, True, False], [True, False, True]]),
        ([], []),
    ],
)
def test_equal_and_empty_answers_are_not_judged(answers: list[str], matrix: list[list[bool]], folder: Path) -> None:
    judge = model(folder)
    with recorded_pairs(judge) as pairs:
        assert equivalent(judge, answers, question="Where?").tolist() == matrix
    assert not pairs
    assert equivalent(stand_in(), answers, question="Where?").tolist() == matrix


def test_a_question_is_put_before_both_answers(folder: Path) -> None:
    judge, questions = model(folder), ["Where is it?", "Which city?"]
    for question, matrix in zip(questions, judge.equivalent_in_bulk([ANSWERS, ANSWERS], questions), strict=True):
        assert matrix.tolist() == expected(judge, [f"{question} {answer}" for answer in ANSWERS])


def test_number_of_questions_must_match_the_answers(folder: Path) -> None:
    with pytest.raises(InputError, match="1 questions do not match 2 lists of answers"):
        model(folder).equivalent_in_bulk([["Oslo"], ["Lima"]], ["Where?"])


def test_pair_longer_than_the_limit_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = model(folder)
    with (
        recorded_pairs(judge) as pairs,
        pytest.raises(ModelError, match="at most 128 tokens, but a pair of answers has 139"),
    ):
        judge.equivalent_in_bulk([["Oslo", "Lima"], ["x" * 68, "y" * 68, "z"]])
    assert not pairs
    monkeypatch.setattr(judge.tokenizer, "model_max_length", 20)
    with pytest.raises(ModelError, match="reads at most 20 tokens"):
        equivalent(judge, ["Oslo or Bergen", "Lima"])


def test_score_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    judge = model(save_entailment_model(tmp_path / "broken"))
    with torch.no_grad():
        judge.model.classifier.bias[0] = -torch.inf
    with pytest.raises(ModelError, match=r"'Oslo'.* not finite"):
        equivalent(judge, ["Oslo", "Lima"])


def test_stand_in_names_the_model_it_replaces() -> None:
    judge = load_entailment("all-minilm-l6-v2", threshold=0.75, device="cpu")
    assert judge.stand_in == (
        "cosine similarity of all-minilm-l6-v2 >= 0.75 stands in for microsoft/deberta-large-mnli"
    )
    assert judge.revision == identify_entailment("all-minilm-l6-v2")
    matrix = equivalent(judge, ["Paris", "the city of Paris", "Buenos Aires"])
    assert matrix.tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    with pytest.raises(UsageError, match="threshold"):
        load_entailment("all-minilm-l6-v2", threshold=1.5)


def test_stand_in_embeds_each_text_once() -> None:
    embedder = replace(load_embedder(device="cpu"))
    rows: list[int] = []
    hook = embedder.model.register_forward_pre_hook(
        lambda network, inputs, options: rows.append(len(options["input_ids"])), with_kwargs=True
    )
    EmbeddingStandIn(embedder, 0.8).equivalent_in_bulk(BULK)
    hook.remove()
    assert sum(rows) == len(TEXTS)
