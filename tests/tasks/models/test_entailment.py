from pathlib import Path

import numpy as np
import pytest
import torch

from data.errors import ModelError, UsageError
from tasks.models import identify_entailment, load_entailment
from tasks.models.entailment import EntailmentModel
from tests.tasks.models.tiny import LABELS, save_entailment_model

ANSWERS = ["Oslo", "Lima", "Oslo is it", "the city of Bergen", "Oslo", "Rome", "Lima, Peru", "42"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_entailment_model(tmp_path_factory.mktemp("entailment") / "bert")


def _entails(model: EntailmentModel, premise: str, hypothesis: str, label: int) -> bool:
    batch = model._tokenizer(premise, hypothesis, return_tensors="pt")
    with torch.inference_mode():
        return int(model._model(**batch).logits.argmax()) == label


@pytest.mark.parametrize("family", ["bert", "deberta"])
def test_equivalent_means_each_entails_the_other(family: str, tmp_path: Path) -> None:
    model = EntailmentModel(str(save_entailment_model(tmp_path / family, family=family)), device="cpu", batch_size=3)
    found = model.equivalent(ANSWERS)
    for i, first in enumerate(ANSWERS):
        for j, second in enumerate(ANSWERS):
            both = _entails(model, first, second, 2) and _entails(model, second, first, 2)
            assert found[i, j] == (both or first == second)
    assert 0 < (found & ~np.eye(len(ANSWERS), dtype=bool)).sum() < len(ANSWERS) * (len(ANSWERS) - 1)


def test_order_of_labels_is_read_from_the_configuration(folder: Path, tmp_path: Path) -> None:
    turned = {0: "entailment", 1: "neutral", 2: "contradiction"}
    other = EntailmentModel(str(save_entailment_model(tmp_path / "turned", labels=turned)), device="cpu")
    found = other.equivalent(["Oslo", "Rome"])
    both = _entails(other, "Oslo", "Rome", 0) and _entails(other, "Rome", "Oslo", 0)
    assert found[0, 1] == both
    assert other._entails == 0
    assert EntailmentModel(str(folder), device="cpu")._entails == 2


def test_model_without_an_entailment_label_is_refused(tmp_path: Path) -> None:
    labels = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    with pytest.raises(ModelError, match="none of them entailment"):
        load_entailment(str(save_entailment_model(tmp_path / "other", labels=labels)), device="cpu")


def test_model_that_says_not_entailment_does_not_confuse(tmp_path: Path) -> None:
    labels = {**LABELS, 0: "not_entailment"}
    assert EntailmentModel(str(save_entailment_model(tmp_path / "two", labels=labels)), device="cpu")._entails == 2


def test_equal_answers_are_equivalent_whatever_the_model_says(folder: Path) -> None:
    model = load_entailment(str(folder), device="cpu")
    assert model.stand_in is None
    assert model.equivalent(["Oslo", "Oslo", " Oslo "]).all()


def test_empty_answer_is_equivalent_to_empty_ones_only(folder: Path) -> None:
    for judge in (load_entailment(str(folder), device="cpu"), load_entailment("all-minilm-l6-v2", device="cpu")):
        found = judge.equivalent(["", "Oslo", ""])
        assert found.tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_no_answers_give_an_empty_matrix(folder: Path) -> None:
    assert load_entailment(str(folder), device="cpu").equivalent([]).shape == (0, 0)


def test_question_is_put_before_both_answers(folder: Path) -> None:
    model = EntailmentModel(str(folder), device="cpu")
    found = model.equivalent(["Oslo", "Rome"], question="Which city?")
    said = ("Which city? Oslo", "Which city? Rome")
    assert found[0, 1] == (_entails(model, *said, 2) and _entails(model, *reversed(said), 2))


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


def test_impossible_threshold_is_refused() -> None:
    with pytest.raises(UsageError, match="threshold"):
        load_entailment("all-minilm-l6-v2", threshold=1.5)
