import json
from pathlib import Path

import numpy as np
import pytest
import torch

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_embedder
from swaymeter.tasks.models.embedder import TOKENS_PER_BATCH, batches
from tests.tasks.models.tiny import save_entailment_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_entailment_model(tmp_path_factory.mktemp("embedder") / "tiny")


def test_embedding_is_normed_mean_of_last_hidden_states(folder: Path) -> None:
    embedder = load_embedder(str(folder), device="cpu")
    ids = embedder.tokenizer("Oslo")["input_ids"]
    with torch.inference_mode():
        mean = embedder.model(torch.tensor([ids])).last_hidden_state[0].mean(dim=0).numpy()
    np.testing.assert_allclose(embedder.embed(["Oslo"])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_embeddings_do_not_depend_on_their_batch(folder: Path) -> None:
    embedder = load_embedder(str(folder), device="cpu")
    assert embedder.embed([]).shape == (0, 32)
    texts = ["Oslo", "", "a text longer than the model reads" * 15, "Lima"]
    together = embedder.embed(texts)
    np.testing.assert_allclose(together, np.concatenate([embedder.embed([text]) for text in texts]), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_another_pooling_is_refused(tmp_path: Path) -> None:
    folder = save_entailment_model(tmp_path / "other")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": False}))
    with pytest.raises(ModelError, match="mean"):
        load_embedder(str(folder), device="cpu")


def test_embedded_minilm_puts_equal_meanings_closer() -> None:
    embedder = load_embedder(device="cpu")
    assert embedder.longest == 256
    city, paraphrase, recipe = embedder.embed(["Paris", "the city of Paris", "a recipe for bread"])
    assert city @ paraphrase > 0.8 > 0.3 > city @ recipe


def test_no_batch_has_more_tokens_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOKENS_PER_BATCH, "cpu", 40)
    lengths = [7, 3, 12, 5, 9, 3, 3, 8, 4, 11] * 5
    result = batches(lengths, "cpu")
    assert sorted(index for batch in result for index in batch) == list(range(len(lengths)))
    padded = [len(batch) * max(lengths[index] for index in batch) for batch in result]
    assert max(padded) <= 40
    assert sum(padded) < 1.1 * sum(lengths)


@pytest.mark.parametrize(
    ("lengths", "tokens", "expected"),
    [
        ([5, 1, 4, 1, 5], 10, [[1, 3], [2, 0], [4]]),
        ([20] * 9 + [180], 10_000, [list(range(9)), [9]]),  # a long text does not pad short ones
        ([50, 2, 60], 20, [[1], [0], [2]]),  # two texts are longer than a batch
        ([], 20, []),
    ],
)
def test_batches_are_sorted_by_length(
    lengths: list[int], tokens: int, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOKENS_PER_BATCH, "cuda", tokens)
    assert batches(lengths, "cuda:1") == expected
