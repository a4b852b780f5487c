from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from data.errors import InputError, ModelError, UsageError
from tasks.models import Entailment, batches, identify_entailment, load_embedder, load_entailment
from tasks.models.entailment import EmbeddingStandIn, EntailmentModel
from tests.tasks.models.tiny import save_embedder, save_entailment_model

ANSWERS = ["Oslo", "Lima", "Oslo is it", "the city of Bergen", "Oslo", "Rome", "Lima, Peru", "42"]
BULK = [ANSWERS, ["Rome", "", "Lima", " Rome", "the capital is Rome"], [], ["Oslo"], ANSWERS[3:]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_entailment_model(tmp_path_factory.mktemp("entailment") / "bert")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda tokens: monkeypatch.setitem(batches.TOKENS_PER_BATCH, "cpu", tokens)


def model(folder: Path) -> EntailmentModel:
    """The judge of that folder, which remembers nothing."""
    judge = load_entailment(str(folder), device="cpu")
    assert isinstance(judge, EntailmentModel)
    return replace(judge)


def stand_in(threshold: float = 0.8) -> EmbeddingStandIn:
    return EmbeddingStandIn(replace(load_embedder(device="cpu")), threshold)


def margin(judge: EntailmentModel, premise: str, hypothesis: str, label: int = 2) -> float:
    """How far entailment is above the other labels, asked alone."""
    with torch.inference_mode():
        logits = judge.model(**judge.tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    return float(logits[label] - max(logit for place, logit in enumerate(logits) if place != label))


def both_entail(judge: EntailmentModel, a: str, b: str, label: int = 2) -> bool:
    return margin(judge, a, b, label) > 0 and margin(judge, b, a, label) > 0


@contextmanager
def passes(judge: EntailmentModel) -> Iterator[list[tuple[str, ...]]]:
    """The pairs of each forward pass within."""
    seen: list[tuple[str, ...]] = []

    def look(network: Any, inputs: Any, options: dict[str, Any]) -> None:
        texts = judge.tokenizer.batch_decode(options["input_ids"])
        seen.append(tuple(text.replace("<pad>", "") for text in texts))

    hook = judge.model.register_forward_pre_hook(look, with_kwargs=True)
    yield seen
    hook.remove()


def read_as(premise: str, hypothesis: str) -> str:
    return f"<cls>{premise}<sep>{hypothesis}<sep>"


@pytest.mark.parametrize("family", ["bert", "deberta"])
def test_equivalent_means_each_entails_the_other(
    family: str, tmp_path: Path, small_batches: Callable[[int], None]
) -> None:
    small_batches(64)
    judge = model(save_entailment_model(tmp_path / family, family=family))
    found = judge.equivalent(ANSWERS)
    for i, first in enumerate(ANSWERS):
        for j, second in enumerate(ANSWERS):
            assert found[i, j] == (first == second or both_entail(judge, first, second))
    assert 0 < (found & ~np.eye(len(ANSWERS), dtype=bool)).sum() < len(ANSWERS) * (len(ANSWERS) - 1)


@pytest.mark.parametrize("tokens", [1, 64, 10_000])
@pytest.mark.parametrize("questions", [None, ["Where?", "Which city is it?", "", "Who?", "Where?"]])
def test_in_bulk_every_question_is_judged_as_by_itself(
    questions: list[str] | None, tokens: int, folder: Path, small_batches: Callable[[int], None]
) -> None:
    for judge in (model(folder), stand_in(0.5)):
        expected = [
            judge.equivalent(answers, None if questions is None else questions[number])
            for number, answers in enumerate(BULK)
        ]
        small_batches(tokens)
        fresh: Entailment = model(folder) if isinstance(judge, EntailmentModel) else stand_in(0.5)
        found = fresh.equivalent_in_bulk(BULK, questions)
        assert [one.tolist() for one in found] == [one.tolist() for one in expected]
        assert any(one.sum() > len(one) for one in found)


def test_a_pair_is_judged_once_and_back_only_where_it_entails_forth(folder: Path) -> None:
    judge = model(folder)
    with passes(judge) as seen:
        judge.equivalent_in_bulk(BULK)
        judge.equivalent(ANSWERS)
    asked = [pair for batch in seen for pair in batch]
    assert len(asked) == len(set(asked))
    texts = {answer.strip() for answers in BULK for answer in answers if answer}
    expected = set()
    for pair in combinations(sorted(texts, key=lambda text: (len(text), text)), 2):
        if any(set(pair) <= {answer.strip() for answer in answers} for answers in BULK):
            expected.add(read_as(*pair))
            if margin(judge, *pair) > 0:
                expected.add(read_as(*reversed(pair)))
    assert set(asked) == expected


@pytest.mark.parametrize("truth", [True, False])
def test_a_near_tie_is_decided_alone_whatever_is_judged_beside_it(
    truth: bool, tmp_path: Path, small_batches: Callable[[int], None]
) -> None:
    judge = model(save_entailment_model(tmp_path / "tie", family="deberta"))
    pair = ("Rome", "the city of Bergen")
    nearest = min(margin(judge, *pair), margin(judge, *reversed(pair)))
    wanted, shift = (2e-4, -5e-4) if truth else (-2e-4, 5e-4)

    def differ_in_batches(network: Any, inputs: Any, output: Any) -> Any:
        if len(output.logits) > 1:
            output.logits[:, 2] += shift
        return output

    with torch.no_grad():
        judge.model.classifier.bias[2] -= nearest - wanted
    assert min(margin(judge, *pair), margin(judge, *reversed(pair))) == pytest.approx(wanted, abs=1e-4)
    judge.model.register_forward_hook(differ_in_batches)
    ways = [[list(pair)], [list(reversed(ANSWERS))], [ANSWERS[:4], ANSWERS], [ANSWERS[4:], list(pair), ANSWERS]]
    for tokens in (1, 128, 10_000):
        small_batches(tokens)
        for way in ways:
            for answers, found in zip(way, replace(judge).equivalent_in_bulk(way), strict=True):
                if set(pair) <= set(answers):
                    assert found[answers.index(pair[0]), answers.index(pair[1])] == truth


def test_a_cosine_near_the_threshold_is_decided_alone(tmp_path: Path, small_batches: Callable[[int], None]) -> None:
    embedder = load_embedder(str(save_embedder(tmp_path / "tie")), device="cpu")
    pair = ("Rome", "Lima")

    def cosine(*texts: list[str]) -> float:
        first, second = np.concatenate([embedder.embed(some) for some in texts]).astype(np.float64)
        return float(first @ second)

    def differ_in_batches(network: Any, inputs: Any, output: Any) -> Any:
        if len(output.last_hidden_state) > 1:
            output.last_hidden_state[:, :, 0] += 2e-5 * torch.arange(len(output.last_hidden_state))[:, None]
        return output

    threshold = cosine([pair[0]], [pair[1]])
    embedder.model.register_forward_hook(differ_in_batches)
    assert cosine(list(pair)) != threshold
    for tokens in (1, 40, 10_000):
        small_batches(tokens)
        for answers in ([*pair], [*reversed(pair)], ANSWERS, [*reversed(ANSWERS)]):
            for moved, truth in ((0.0, True), (1e-9, False)):
                found = EmbeddingStandIn(replace(embedder), threshold + moved).equivalent(answers)
                assert found[answers.index(pair[0]), answers.index(pair[1])] == truth


@pytest.mark.parametrize("bound", [1, 100])
def test_what_is_remembered_is_bounded_and_changes_nothing(
    bound: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.models.entailment.model.REMEMBERED", bound)
    judge = model(folder)
    for _ in range(2):
        found = judge.equivalent_in_bulk(BULK)
        assert [one.tolist() for one in found] == [model(folder).equivalent(answers).tolist() for answers in BULK]
        assert 0 < len(judge._judged) <= bound


def test_order_of_labels_is_read_from_the_configuration(folder: Path, tmp_path: Path) -> None:
    turned = {0: "Entailment ", 1: "neutral", 2: "contradiction"}
    other = model(save_entailment_model(tmp_path / "turned", labels=turned))
    found = other.equivalent(ANSWERS)
    for i, j in combinations(range(len(ANSWERS)), 2):
        same = ANSWERS[i] == ANSWERS[j]
        assert found[i, j] == (same or both_entail(other, ANSWERS[i], ANSWERS[j], label=0))
    assert (found != model(folder).equivalent(ANSWERS)).any()


def test_labels_may_be_two_and_their_places_text(tmp_path: Path) -> None:
    labels = {0: "entailment", 1: "not_entailment"}
    judge = model(save_entailment_model(tmp_path / "two", labels=labels))
    expected = judge.equivalent(ANSWERS)
    for i, j in combinations(range(len(ANSWERS)), 2):
        same = ANSWERS[i] == ANSWERS[j]
        assert expected[i, j] == (same or both_entail(judge, ANSWERS[i], ANSWERS[j], label=0))
    judge.model.config.id2label = {"0": "entailment", "1": "not_entailment"}  # type: ignore[dict-item]
    assert (replace(judge).equivalent(ANSWERS) == expected).all()


@pytest.mark.parametrize(
    "labels",
    [{0: "LABEL_0", 1: "LABEL_1"}, {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment"}],
)
def test_model_that_does_not_say_which_label_is_entailment_is_refused(labels: dict[int, str], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"labels .*{labels[0]}.*natural language inference"):
        load_entailment(str(save_entailment_model(tmp_path / "other", labels=labels)), device="cpu")


def test_equal_answers_are_equivalent_whatever_the_model_says(folder: Path) -> None:
    judge = model(folder)
    assert judge.stand_in is None
    with passes(judge) as seen:
        assert judge.equivalent(["Oslo", "Oslo", " Oslo "]).all()
    assert not seen


def test_empty_answer_is_equivalent_to_empty_ones_only_without_being_judged(folder: Path) -> None:
    judge = model(folder)
    with passes(judge) as seen:
        found = judge.equivalent(["", "Oslo", " "], question="Where?")
    assert not seen
    expected = [[True, False, True], [False, True, False], [True, False, True]]
    assert found.tolist() == stand_in().equivalent(["", "Oslo", ""], question="Where?").tolist() == expected


def test_no_answers_give_an_empty_matrix(folder: Path) -> None:
    for judge in (model(folder), stand_in()):
        assert judge.equivalent([]).shape == (0, 0)
        assert judge.equivalent_in_bulk([]) == []


def test_question_is_put_before_both_answers(folder: Path) -> None:
    judge = model(folder)
    asked = ["Where is it?", "Which city?"]
    for question, found in zip(asked, judge.equivalent_in_bulk([ANSWERS, ANSWERS], asked), strict=True):
        for i, j in combinations(range(len(ANSWERS)), 2):
            said = f"{question} {ANSWERS[i]}", f"{question} {ANSWERS[j]}"
            assert found[i, j] == (said[0] == said[1] or both_entail(judge, *said))


def test_a_question_is_needed_for_each_or_none(folder: Path) -> None:
    for judge in (model(folder), stand_in()):
        with pytest.raises(InputError, match="1 questions were given with the answers to 2"):
            judge.equivalent_in_bulk([["Oslo"], ["Lima"]], ["Where?"])


def test_a_pair_longer_than_the_model_reads_is_refused_before_any_is_judged(folder: Path) -> None:
    judge = model(folder)
    with passes(judge) as seen, pytest.raises(ModelError, match="128 tokens, too few for the 139 of the pair"):
        judge.equivalent_in_bulk([["Oslo", "Lima"], ["x" * 68, "y" * 68, "z"]])
    assert not seen
    judge.tokenizer.model_max_length = 20
    try:
        with pytest.raises(ModelError, match="reads 20 tokens"):
            judge.equivalent(["Oslo or Bergen", "Lima"])
    finally:
        judge.tokenizer.model_max_length = 1 << 80


def test_a_score_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    judge = model(save_entailment_model(tmp_path / "broken"))
    with torch.no_grad():
        judge.model.classifier.bias[0] = -torch.inf
    with pytest.raises(ModelError, match=r"'Oslo'.* not finite"):
        judge.equivalent(["Oslo", "Lima"])


def test_stand_in_says_what_it_stands_for() -> None:
    judge = load_entailment("all-minilm-l6-v2", threshold=0.75, device="cpu")
    assert judge.stand_in == (
        "cosine similarity of all-minilm-l6-v2 >= 0.75 stands in for microsoft/deberta-large-mnli"
    )
    assert judge.revision == identify_entailment("all-minilm-l6-v2")
    found = judge.equivalent(["Paris", "the city of Paris", "Buenos Aires"])
    assert found[0, 1]
    assert not found[0, 2]
    assert (found == found.T).all()


def test_stand_in_embeds_a_text_once() -> None:
    embedder = replace(load_embedder(device="cpu"))
    rows: list[int] = []
    hook = embedder.model.register_forward_pre_hook(
        lambda network, inputs, options: rows.append(len(options["input_ids"])), with_kwargs=True
    )
    try:
        EmbeddingStandIn(embedder, 0.8).equivalent_in_bulk(BULK)
    finally:
        hook.remove()
    assert sum(rows) == len({answer.strip() for answers in BULK for answer in answers if answer})


def test_impossible_threshold_is_refused() -> None:
    with pytest.raises(UsageError, match="threshold"):
        load_entailment("all-minilm-l6-v2", threshold=1.5)
