import json
from pathlib import Path

import numpy as np
import pytest
import torch

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_embedder
from tests.tasks.models.tiny import save_embedder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_embedder(tmp_path_factory.mktemp("embedder") / "tiny")


def test_embedding_is_the_normed_mean_of_the_last_hidden_states(folder: Path) -> None:
    embedder = load_embedder(str(folder), device="cpu")
    ids = embedder.tokenizer("Oslo")["input_ids"]
    with torch.inference_mode():
        mean = embedder.model(torch.tensor([ids])).last_hidden_state[0].mean(dim=0).numpy()
    np.testing.assert_allclose(embedder.embed(["Oslo"])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_embeddings_do_not_depend_on_their_batch(folder: Path) -> None:
    embedder = load_embedder(str(folder), device="cpu")
    texts = ["Oslo", "", "a much longer text than the others", "Lima"]
    together = embedder.embed(texts)
    np.testing.assert_allclose(together, np.concatenate([embedder.embed([text]) for text in texts]), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(folder: Path) -> None:
    assert load_embedder(str(folder), device="cpu").embed([]).shape == (0, 32)


def test_text_longer_than_the_model_reads_is_cut(folder: Path) -> None:
    assert np.isfinite(load_embedder(str(folder), device="cpu").embed(["x" * 500])).all()


def test_another_pooling_is_refused(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "other")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": False}))
    with pytest.raises(ModelError, match="mean"):
        load_embedder(str(folder), device="cpu")


def test_embedded_minilm_puts_the_same_meaning_closer() -> None:
    embedder = load_embedder(device="cpu")
    assert embedder.longest == 256
    city, same, other = embedder.embed(["Paris", "the city of Paris", "a recipe for bread"])
    assert city @ same > 0.8 > 0.3 > city @ other
