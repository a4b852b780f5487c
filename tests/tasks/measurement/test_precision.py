"""A sample of queries in two number formats: which ones hangs on what they are, and the differences are theirs."""

import numpy as np
import pytest

from tasks.measurement.measure import do
from tasks.models import LanguageModel, load_language_model
from tasks.scoring.persuasion import persuasion
from tests.tasks.measurement.conftest import Prepared


def test_the_differences_are_those_between_the_two_formats(
    prepared: Prepared, model: LanguageModel, models: dict[str, str]
) -> None:
    work = prepared.works["precision"]
    half = load_language_model(models["language"], dtype="bfloat16", device="cpu")
    before = model.forward_passes + half.forward_passes
    spent = do(work, prepared.workspace)
    contexts = [row["text"] for row in work.inputs["contexts"].read().to_pylist()]
    queries = {row["query_id"]: row["text"] for row in work.inputs["queries"].read().to_pylist()}
    rows = work.wanted["precision"].read().to_pylist()
    assert len({row["query_id"] for row in rows}) == len(rows) == 2
    assert spent.prompts == 2 * 2 * len(contexts)
    assert spent.forward_passes == model.forward_passes + half.forward_passes - before
    texts = [queries[row["query_id"]] for row in rows]
    own, reference = (persuasion(one, contexts, texts) for one in (half, model))
    differences = np.abs(own.scores - reference.scores)
    assert differences.max() > 1e-3  # far above what the comparison allows
    for place, row in enumerate(rows):
        assert (row["dtype"], row["reference"], row["contexts"]) == ("bfloat16", "float32", len(contexts))
        assert row["susceptibility"] == pytest.approx(own.susceptibility[place], abs=1e-5)
        assert row["susceptibility_reference"] == pytest.approx(reference.susceptibility[place], abs=1e-5)
        assert row["largest_difference"] == pytest.approx(differences[place].max(), abs=1e-5)
        assert row["mean_difference"] == pytest.approx(differences[place].mean(), abs=1e-5)
        assert 0 < row["mean_difference"] <= row["largest_difference"]


def test_the_sample_does_not_hang_on_the_order_of_the_queries(prepared: Prepared) -> None:
    work = prepared.works["precision"]
    sampled = []
    for order in (1, -1):
        queries = work.inputs["queries"]
        queries.write(queries.table.of(queries.read().to_pylist()[::order]))
        do(work, prepared.workspace, force=True)
        sampled.append({row["query_id"] for row in work.wanted["precision"].read().to_pylist()})
    assert sampled[0] == sampled[1]
