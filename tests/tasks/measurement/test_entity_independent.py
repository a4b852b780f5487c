"""Means of stored persuasion over the entities of a form: the right ones, with where those come from, and no model."""

from statistics import mean
from typing import Any

import pytest

from data.errors import ScoreError
from data.storage.workspace import Stored
from tasks.measurement import measure
from tasks.measurement.chunks import Spent
from tasks.measurement.measure import do
from tests.tasks.measurement.conftest import Prepared

Row = dict[str, Any]


@pytest.fixture
def persuasion(prepared: Prepared) -> Stored:
    """Persuasion scores that tell query and context apart, 100 q + c; the second query was computed the plain way."""
    work = prepared.works["persuasion"]
    do(work, prepared.workspace)
    stored = work.wanted["persuasion"]
    place = {row["query_id"]: number for number, row in enumerate(work.inputs["queries"].read().to_pylist())}
    place |= {row["context_id"]: number for number, row in enumerate(work.inputs["contexts"].read().to_pylist())}
    rows = stored.read().to_pylist()
    for row in rows:
        row["persuasion"] = 100.0 * place[row["query_id"]] + place[row["context_id"]]
        row["engine"] = "plain" if place[row["query_id"]] == 1 else "prefix tree"
    stored.write(stored.table.of(rows))
    return stored


def test_scores_are_means_over_the_entities_of_a_form(
    prepared: Prepared, persuasion: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "load_language_model", lambda *_, **__: pytest.fail("a model was loaded"))
    work = prepared.works["entity_independent"]
    spent = do(work, prepared.workspace)
    assert (spent.prompts, spent.forward_passes) == (0, 0)
    assert spent != Spent()
    queries = work.inputs["queries"].read().to_pylist()
    forms: dict[tuple[str, int], list[int]] = {}
    for number, query in enumerate(queries):
        forms.setdefault((query["query_type"], query["form"]), []).append(number)
    assert len(forms) == 4
    contexts = [row["context_id"] for row in work.inputs["contexts"].read().to_pylist()]
    rows = work.wanted["entity_independent_persuasion"].read().to_pylist()
    found = {(row["query_type"], row["form"], row["context_id"]): row for row in rows}
    assert len(found) == len(rows) == len(forms) * len(contexts)
    for (query_type, form), members in forms.items():
        for number, context in enumerate(contexts):
            row = found[query_type, form, context]
            assert row["entity_independent_persuasion"] == pytest.approx(100 * mean(members) + number)
            assert row["entities"] == len(members) == 3
    sums = work.wanted["entity_independent_susceptibility"].read().to_pylist()
    assert {(row["query_type"], row["form"]): row["entity_independent_susceptibility"] for row in sums} == {
        where: pytest.approx(100 * mean(members) + mean(range(len(contexts)))) for where, members in forms.items()
    }
    assert {row["contexts"] for row in sums} == {len(contexts)}


def test_a_score_says_every_engine_that_it_is_made_with(prepared: Prepared, persuasion: Stored) -> None:
    work = prepared.works["entity_independent"]
    do(work, prepared.workspace)
    second = work.inputs["queries"].read().to_pylist()[1]
    for name in work.wanted:
        for row in work.wanted[name].read().to_pylist():
            of_second = (row["query_type"], row["form"]) == (second["query_type"], second["form"])
            assert row["engine"] == ("plain, prefix tree" if of_second else "prefix tree")


def test_a_score_that_is_not_stored_is_named(prepared: Prepared, persuasion: Stored) -> None:
    rows = persuasion.read().to_pylist()
    persuasion.write(persuasion.table.of(rows[1:]))
    work = prepared.works["entity_independent"]
    (query,) = (row for row in work.inputs["queries"].read().to_pylist() if row["query_id"] == rows[0]["query_id"])
    with pytest.raises(ScoreError) as raised:
        do(work, prepared.workspace)
    assert repr(query["text"]) in str(raised.value)
    assert "1 scores of persuasion are not stored" in str(raised.value)
